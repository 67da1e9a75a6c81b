/** Matches of one text as pairs of addresses, in rising order, in room that grows and is used again. */

const ROOM = 1024;
const NOTHING_DONE = { count: 0, at: 0 };

export class MatchList {
  pairs: Uint32Array = new Uint32Array(ROOM * 2);
  count = 0;
  /** How far whole lines were scanned, so that the next region does not scan them again. */
  scannedTo = 0;
  /** After a merge: which of the lists each match comes from. */
  sources: number[] = [];
  /** After the line of the last of so many matches: kept, because a line can be long and have many regions. */
  #lineDone = NOTHING_DONE;

  clear(): void {
    this.count = 0;
    this.scannedTo = 0;
    this.#lineDone = NOTHING_DONE;
  }

  /** Where the last match ends, or 0. */
  get lastEnd(): number {
    return this.count === 0 ? 0 : this.pairs[this.count * 2 - 1]!;
  }

  /** Where the line of the last match is over, as `find` says the first time. */
  afterLastLine(find: (lastEnd: number) => number): number {
    if (this.count === 0) return 0;
    if (this.#lineDone.count !== this.count) this.#lineDone = { count: this.count, at: find(this.lastEnd) };
    return this.#lineDone.at;
  }

  /** Takes the pairs of u32 that lie in [from, to). */
  append(words: Uint32Array, from: number, to: number): void {
    if (to === from) return;
    const length = (to - from) >>> 2;
    this.#reserve(this.count * 2 + length);
    this.pairs.set(words.subarray(from >>> 2, to >>> 2), this.count * 2);
    this.count += length >>> 1;
  }

  push(start: number, end: number): void {
    this.#reserve(this.count * 2 + 2);
    this.pairs[this.count * 2] = start;
    this.pairs[this.count * 2 + 1] = end;
    this.count += 1;
  }

  /** All matches of several lists in one, in order; of two that overlap, the one that starts first, then the longer. */
  static merge(lists: readonly MatchList[], into: MatchList): void {
    into.clear();
    into.sources = [];
    const all: [number, number, number][] = [];
    for (const [source, list] of lists.entries()) {
      for (let i = 0; i < list.count; i += 1) all.push([list.pairs[i * 2]!, list.pairs[i * 2 + 1]!, source]);
    }
    all.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    for (const [start, end, source] of all) {
      const again = into.count > 0 && start < into.lastEnd;
      const same = into.count > 0 && start === into.pairs[into.count * 2 - 2] && end === into.lastEnd;
      if (again || same) continue;
      into.push(start, end);
      into.sources.push(source);
    }
  }

  #reserve(length: number): void {
    if (length <= this.pairs.length) return;
    const grown = new Uint32Array(Math.max(length, this.pairs.length * 2));
    grown.set(this.pairs);
    this.pairs = grown;
  }
}
