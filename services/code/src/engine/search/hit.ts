/** A document that was found, with what the answer needs to show it, and the order of such documents. */

import { RecordRoom } from "./record-room.ts";

/** What is kept of each match: start, end, line, line start, line end (bytes from the document's start, lines from 1), score (with BM25 its term), symbol number plus one. */
export const RECORD_WORDS = 7;

export interface Hit {
  /** The number of the segment in its index, and of the document in the segment. */
  readonly segment: number;
  readonly document: number;
  readonly path: string;
  readonly score: number;
  readonly matchCount: number;
  /** In how many ways it was found: in content or in the path, by one atom or another. */
  readonly atoms: number;
  /** Matches of the content; empty when only the path matched. */
  readonly records: Uint32Array;
  readonly pathRanges: readonly number[];
  /** What its matches take in an answer, counted as `shown-bytes.ts` does, without what is around them. */
  readonly shownBytes: number;
}

/** Best first. Equal scores go by path, so the order does not depend on how the index came to be. */
export function compareHits(a: Hit, b: Hit): number {
  if (a.score !== b.score) return b.score - a.score;
  if (a.path.length !== b.path.length) return a.path.length - b.path.length;
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.segment - b.segment || a.document - b.document;
}

const NO_RECORDS = new Uint32Array(0);

/** Keeps the best `max`, and of these the matches of as many as an answer of `bytesMax` can show; drops the rest now and then. */
export class BestHits {
  readonly #max: number;
  readonly #bytesMax: number;
  #hits: Hit[] = [];
  #bytes = 0;
  #room = new RecordRoom();

  constructor(max: number, bytesMax: number) {
    this.#max = max;
    this.#bytesMax = bytesMax;
  }

  /** Where the records of hits lie that are going to be added. */
  get room(): RecordRoom {
    return this.#room;
  }

  add(hit: Hit): void {
    this.#hits.push(hit);
    this.#bytes += hit.shownBytes;
    if (this.#hits.length <= this.#max * 2 + 64 && this.#bytes <= this.#bytesMax * 2) return;
    const room = new RecordRoom();
    this.#hits = this.sorted().map((each) => ({ ...each, records: room.copy(each.records) }));
    this.#bytes = this.#hits.reduce((sum, { shownBytes }) => sum + shownBytes, 0);
    this.#room.clear();
    this.#room = room;
  }

  /** A file after those that fill an answer is never shown, because others can only come before it: it is counted and listed. */
  sorted(): Hit[] {
    let bytes = 0;
    return this.#hits
      .sort(compareHits)
      .slice(0, this.#max)
      .map((hit) => {
        if (bytes > this.#bytesMax) return { ...hit, records: NO_RECORDS, shownBytes: 0 };
        bytes += hit.shownBytes;
        return hit;
      });
  }

  /** Nobody looks at records any more. */
  release(): void {
    this.#hits = [];
    this.#room.clear();
  }
}
