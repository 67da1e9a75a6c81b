/** A document that was found, with what the answer needs to show it, and the order of such documents. */

/** What is kept of each match: start, end, line, line start, line end (bytes from the document's start, lines from 1), score, symbol number plus one. */
export const RECORD_WORDS = 7;

export interface Hit {
  /** The number of the segment in its index, and of the document in the segment. */
  readonly segment: number;
  readonly document: number;
  readonly path: string;
  readonly score: number;
  readonly matchCount: number;
  /** Matches of the content; empty when only the path matched. */
  readonly records: Uint32Array;
  readonly pathRanges: readonly number[];
}

/** Best first. Equal scores go by path, so the order does not depend on how the index came to be. */
export function compareHits(a: Hit, b: Hit): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.path.length !== b.path.length) return a.path.length - b.path.length;
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.segment - b.segment || a.document - b.document;
}

/** Keeps the best `max`, dropping the rest now and then. */
export class BestHits {
  readonly #max: number;
  #hits: Hit[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  add(hit: Hit): void {
    this.#hits.push(hit);
    if (this.#hits.length > this.#max * 2 + 64) this.#hits = this.sorted();
  }

  sorted(): Hit[] {
    return this.#hits.sort(compareHits).slice(0, this.#max);
  }
}
