/**
 * Writes what was found as lines of JSON, straight from the text, in pieces: for answers that hold everything. A line is
 * `{"path":…,"line":…,"text":…,"ranges":[[from,to],…]}` with byte offsets in the line; of a line above 1 KiB the text is a part, and `"from"` says where in the line it starts; a file of which only the path matched has `"pathRanges"` instead.
 */
import { scratchLayout } from "../memory/scratch.ts";
import type { Found, Sink } from "./executor.ts";

const LOCATED_WORDS = 5;
/** Pieces of about this size cost little to hand over and do not hold up whoever receives them. */
const PIECE_BYTES = 262_144;
const PREFIX_BYTES_MAX = 65_536;

export class LineSink implements Sink {
  readonly #emit: (piece: Uint8Array) => void;
  readonly #firstOfLine: boolean;
  #used = 0;
  /** What was written lies in the scratch of this document's arena. */
  #last: Found | undefined;

  /** `emit` may block, and copies what it is given. */
  constructor(emit: (piece: Uint8Array) => void, firstOfLine: boolean) {
    this.#emit = emit;
    this.#firstOfLine = firstOfLine;
  }

  located(found: Found, located: number, count: number): void {
    const { arena, segment } = found.open;
    const { kernels, scratch, bytes, words } = arena;
    const prefix = Buffer.from(`{"path":${JSON.stringify(segment.path(found.document))},"line":`);
    const docStart = segment.start(found.document);
    const text = scratch + scratchLayout.text;
    const resumeAt = scratch + scratchLayout.resumeAt;
    const from = text + PREFIX_BYTES_MAX;
    if (this.#last?.open.arena !== arena) this.finish();
    this.#last = found;
    let done = 0;
    if (prefix.length <= PREFIX_BYTES_MAX) {
      bytes.set(prefix, text);
      for (;;) {
        words[resumeAt >>> 2] = from + this.#used;
        const written = kernels.jsonLines(
          located + done * LOCATED_WORDS * 4,
          count - done,
          docStart,
          text,
          prefix.length,
          resumeAt,
          scratch + scratchLayout.textEnd,
          this.#firstOfLine ? 1 : 0,
        );
        this.#used = words[resumeAt >>> 2]! - from;
        done += written;
        if (done === count) break;
        if (written === 0 && this.#used === 0) done += this.#longLine(found, located, done, count, prefix);
        else this.finish();
        if (done === count) break;
      }
    }
    if (this.#used >= PIECE_BYTES) this.finish();
  }

  end(found: Found): void {
    if (found.content.count > 0) return;
    const { segment } = found.open;
    const from = segment.nameStart(found.document);
    const ranges = Array.from({ length: found.path.count }, (_, i) => [
      found.path.pairs[i * 2]! - from,
      found.path.pairs[i * 2 + 1]! - from,
    ]);
    this.finish();
    this.#emit(
      Buffer.from(`${JSON.stringify({ path: segment.path(found.document), pathRanges: ranges })}\n`),
    );
  }

  /** Hands over what is left. */
  finish(): void {
    if (this.#used === 0 || this.#last === undefined) return;
    const { arena } = this.#last.open;
    const from = arena.scratch + scratchLayout.text + PREFIX_BYTES_MAX;
    this.#emit(arena.bytes.subarray(from, from + this.#used));
    this.#used = 0;
  }

  /** A line with so many matches that their ranges alone may not fit: it goes without text. Returns how many matches it has. */
  #longLine(found: Found, located: number, done: number, count: number, prefix: Buffer): number {
    const { words } = found.open.arena;
    const first = (located >>> 2) + done * LOCATED_WORDS;
    const line = words[first + 2]!;
    const start = words[first + 3]!;
    const ranges: [number, number][] = [];
    while (done + ranges.length < count) {
      const at = first + ranges.length * LOCATED_WORDS;
      if (words[at + 2] !== line) break;
      ranges.push([words[at]! - start, words[at + 1]! - start]);
    }
    this.#emit(
      Buffer.from(`${prefix.toString()}${line},"from":0,"text":"","ranges":${JSON.stringify(ranges)}}\n`),
    );
    return ranges.length;
  }
}
