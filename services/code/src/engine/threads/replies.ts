/**
 * What several searches found, as one message: two arrays of numbers, however many they are. A message for each, with arrays of its own, would cost more than searching a small repository does.
 */
import type { Outcome } from "../search/executor.ts";
import type { PackedHits } from "../search/packed-hits.ts";
import type { SearchReply } from "./protocol.ts";

export interface PackedReplies {
  /** For each: its head, then the bytes and the scores of its hits. */
  readonly numbers: Float64Array;
  /** The words of all hits. */
  readonly words: Uint32Array;
}

/** Job, why it stopped, six counts, how many hits (-1: they were not asked for), how many words. */
const HEAD_NUMBERS = 10;
const STOPPED = [undefined, "matches-max", "interrupted"] as const;

interface Waiting {
  readonly job: number;
  readonly outcome: Outcome;
  readonly hits: PackedHits | undefined;
}

/** Replies that wait to be sent together. */
export class ReplyPacker {
  #waiting: Waiting[] = [];
  #words = 0;

  get count(): number {
    return this.#waiting.length;
  }

  /** Of all hits in it. */
  get words(): number {
    return this.#words;
  }

  add(job: number, outcome: Outcome, hits: PackedHits | undefined): void {
    this.#waiting.push({ job, outcome, hits });
    this.#words += hits?.words.length ?? 0;
  }

  /** All of them, and begins anew. */
  take(): PackedReplies {
    const waiting = this.#waiting;
    const length = waiting.reduce((sum, { hits }) => sum + HEAD_NUMBERS + 2 * (hits?.count ?? 0), 0);
    const numbers = new Float64Array(length);
    // One alone need not be copied.
    const words =
      waiting.length === 1 && waiting[0]!.hits ? waiting[0]!.hits.words : new Uint32Array(this.#words);
    let at = 0;
    let wordsAt = 0;
    for (const { job, outcome, hits } of waiting) {
      at = writeHead(numbers, at, job, outcome, hits);
      if (hits === undefined) continue;
      numbers.set(hits.shownBytes, at);
      numbers.set(hits.scores, at + hits.count);
      at += 2 * hits.count;
      if (words !== hits.words) words.set(hits.words, wordsAt);
      wordsAt += hits.words.length;
    }
    this.#waiting = [];
    this.#words = 0;
    return { numbers, words };
  }
}

function writeHead(
  numbers: Float64Array,
  at: number,
  job: number,
  { counts, stopped }: Outcome,
  hits: PackedHits | undefined,
): number {
  numbers[at] = job;
  numbers[at + 1] = STOPPED.indexOf(stopped);
  numbers[at + 2] = counts.files;
  numbers[at + 3] = counts.lines;
  numbers[at + 4] = counts.matches;
  numbers[at + 5] = counts.documents;
  numbers[at + 6] = counts.documentsScanned;
  numbers[at + 7] = counts.bytesScanned;
  numbers[at + 8] = hits?.count ?? -1;
  numbers[at + 9] = hits?.words.length ?? 0;
  return at + HEAD_NUMBERS;
}

export function* unpackReplies({
  numbers,
  words,
}: PackedReplies): Generator<{ readonly job: number; readonly reply: SearchReply }> {
  let wordsAt = 0;
  for (let at = 0; at < numbers.length;) {
    const counts = {
      files: numbers[at + 2]!,
      lines: numbers[at + 3]!,
      matches: numbers[at + 4]!,
      documents: numbers[at + 5]!,
      documentsScanned: numbers[at + 6]!,
      bytesScanned: numbers[at + 7]!,
    };
    const stopped = STOPPED[numbers[at + 1]!];
    const job = numbers[at]!;
    const count = numbers[at + 8]!;
    const wordsEnd = wordsAt + numbers[at + 9]!;
    at += HEAD_NUMBERS;
    if (count < 0) yield { job, reply: { counts, stopped } };
    else {
      const hits: PackedHits = {
        count,
        shownBytes: numbers.subarray(at, at + count),
        scores: numbers.subarray(at + count, at + 2 * count),
        words: words.subarray(wordsAt, wordsEnd),
      };
      at += 2 * count;
      yield { job, reply: { counts, stopped, hits } };
    }
    wordsAt = wordsEnd;
  }
}
