/**
 * What several searches found, as one message: two arrays of numbers, however many they are, and the last lines where lines were asked for. A message for each, with arrays of its own, would cost more
 * than searching a small repository does.
 */
import type { Outcome } from "../search/executor.ts";
import type { PackedHits } from "../search/packed-hits.ts";
import type { SearchReply } from "./protocol.ts";

export interface PackedReplies {
  /** For each: its head, then the bytes and the scores of its hits. */
  readonly numbers: Float64Array;
  /** The words of all hits. */
  readonly words: Uint32Array;
  /** The last lines of all; left out where there are none. */
  readonly tails?: Uint8Array;
}

/** Job, why it stopped, six counts, how many hits (-1: they were not asked for), how many words, how many bytes of last lines. */
const HEAD_NUMBERS = 11;
const STOPPED = [undefined, "matches-max", "interrupted"] as const;

interface Waiting {
  readonly job: number;
  readonly outcome: Outcome;
  readonly hits: PackedHits | undefined;
  readonly tail: Uint8Array | undefined;
}

/** Replies that wait to be sent together. */
export class ReplyPacker {
  #waiting: Waiting[] = [];
  #words = 0;
  #tailBytes = 0;

  get count(): number {
    return this.#waiting.length;
  }

  /** Of all hits and last lines in it. */
  get bytes(): number {
    return this.#words * Uint32Array.BYTES_PER_ELEMENT + this.#tailBytes;
  }

  add(job: number, outcome: Outcome, hits: PackedHits | undefined, tail?: Uint8Array): void {
    this.#waiting.push({ job, outcome, hits, tail });
    this.#words += hits?.words.length ?? 0;
    this.#tailBytes += tail?.length ?? 0;
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
    for (const each of waiting) {
      at = writeHead(numbers, at, each);
      const { hits } = each;
      if (hits === undefined) continue;
      numbers.set(hits.shownBytes, at);
      numbers.set(hits.scores, at + hits.count);
      at += 2 * hits.count;
      if (words !== hits.words) words.set(hits.words, wordsAt);
      wordsAt += hits.words.length;
    }
    this.#waiting = [];
    this.#words = this.#tailBytes = 0;
    const tails = together(waiting.flatMap(({ tail }) => (tail === undefined ? [] : [tail])));
    return tails === undefined ? { numbers, words } : { numbers, words, tails };
  }
}

/** One alone need not be copied. */
function together(tails: readonly Uint8Array[]): Uint8Array | undefined {
  if (tails.length < 2) return tails[0];
  // Not a buffer: its memory may be shared with others, and this is given away.
  const all = new Uint8Array(tails.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const tail of tails) {
    all.set(tail, at);
    at += tail.length;
  }
  return all;
}

function writeHead(numbers: Float64Array, at: number, { job, outcome, hits, tail }: Waiting): number {
  const { counts, stopped } = outcome;
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
  numbers[at + 10] = tail?.length ?? 0;
  return at + HEAD_NUMBERS;
}

export function* unpackReplies({
  numbers,
  words,
  tails,
}: PackedReplies): Generator<{ readonly job: number; readonly reply: SearchReply }> {
  let wordsAt = 0;
  let tailsAt = 0;
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
    const tail = tails?.subarray(tailsAt, (tailsAt += numbers[at + 10]!));
    at += HEAD_NUMBERS;
    if (count < 0)
      yield { job, reply: { counts, stopped, ...(tail === undefined || tail.length === 0 ? {} : { tail }) } };
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
