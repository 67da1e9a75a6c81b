/** Collects what was found as scored hits, for an answer that shows the best files. */
import { fileScore, pathScore, symbolScore, wordScore } from "../rank/score.ts";
import type { Found, Sink } from "./executor.ts";
import { RANGE_BYTES } from "../shown-bytes.ts";
import { BestHits, RECORD_WORDS, type Hit } from "./hit.ts";
import type { RecordRoom } from "./record-room.ts";

const LOCATED_WORDS = 5;
const NOTHING = new Uint32Array(0);

export class HitSink implements Sink {
  readonly #best: BestHits;
  #records: Uint32Array[] = [];
  readonly #bytesMax: number;
  #bestMatch = 0;
  /** What those of this document take in an answer, and the line of the last. */
  #shownBytes = 0;
  #line = 0;

  /** Of more than `bytesMax` an answer shows nothing. */
  constructor(filesMax: number, bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#best = new BestHits(filesMax, bytesMax);
  }

  located(found: Found, located: number, count: number): void {
    const { arena, segment, symbols } = found.open;
    const { bytes, words } = arena;
    const from = segment.start(found.document);
    const to = from + segment.contentBytes(found.document);
    const { room } = this.#best;
    const out = this.#shownBytes > this.#bytesMax ? NOTHING : room.take(count * RECORD_WORDS);
    let at = located >>> 2;
    let kept = 0;
    for (let i = 0; i < count * RECORD_WORDS; i += RECORD_WORDS) {
      const start = words[at]!;
      const end = words[at + 1]!;
      let score = wordScore(bytes, from, to, from + start, from + end);
      const symbol = symbols === undefined ? -1 : symbols.touched(found.document, start, end);
      if (symbols !== undefined && symbol !== -1)
        score += symbolScore(start, end, symbols.start(symbol), symbols.end(symbol), symbols.kind(symbol));
      if (score > this.#bestMatch) this.#bestMatch = score;
      if (this.#shownBytes <= this.#bytesMax) {
        for (let word = 0; word < LOCATED_WORDS; word += 1) out[i + word] = words[at + word]!;
        out[i + 5] = score;
        out[i + 6] = symbol + 1;
        kept = i + RECORD_WORDS;
        const line = words[at + 2]!;
        // A line is shown with its line break.
        this.#shownBytes += RANGE_BYTES + (line === this.#line ? 0 : words[at + 4]! - words[at + 3]! + 1);
        this.#line = line;
      }
      at += LOCATED_WORDS;
    }
    // The match that goes beyond is the last: by it whoever shows them sees that there are more.
    if (kept > 0) this.#records.push(room.shorten(out, kept));
  }

  end(found: Found): void {
    const { open, document, path, content, segmentNumber } = found;
    const { segment } = open;
    const name = segment.path(document);
    const pathFrom = segment.nameStart(document);
    const pathTo = pathFrom + segment.nameBytes(document);
    const base = pathTo - Buffer.byteLength(name.slice(name.lastIndexOf("/") + 1));
    const pathRanges: number[] = [];
    for (let i = 0; i < path.count; i += 1) {
      const start = path.pairs[i * 2]!;
      const end = path.pairs[i * 2 + 1]!;
      pathRanges.push(start - pathFrom, end - pathFrom);
      this.#bestMatch = Math.max(this.#bestMatch, pathScore(start, end, base, pathTo));
    }
    const hit: Hit = {
      segment: segmentNumber,
      document,
      path: name,
      score: fileScore(this.#bestMatch, found.atoms, segment.categoryNumber(document), found.boost),
      matchCount: content.count > 0 ? content.count : Math.max(1, path.count),
      records: this.#records.length === 1 ? this.#records[0]! : joined(this.#records, this.#best.room),
      pathRanges,
      shownBytes: this.#shownBytes,
    };
    this.#best.add(hit);
    this.#records = [];
    this.#bestMatch = 0;
    this.#shownBytes = 0;
    this.#line = 0;
  }

  /** Valid until it is released. */
  sorted(): Hit[] {
    return this.#best.sorted();
  }

  release(): void {
    this.#best.release();
  }
}

function joined(parts: readonly Uint32Array[], room: RecordRoom): Uint32Array {
  const out = room.take(parts.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const each of parts) {
    out.set(each, at);
    at += each.length;
  }
  return out;
}
