/**
 * The latest batches of changes, so that a watch may resume after a revision it has seen. Bounded: what falls out of it makes
 * an older watch list again.
 */
import type { ChangeBatch, Revision } from "@keelson/kernel";

export class History {
  readonly #batchesMax: number;
  #batches: ChangeBatch[] = [];
  /** Batches before this place are dropped; the array is cut when they are half of it, so that adding stays cheap. */
  #start = 0;
  #floor: Revision;

  /** Everything up to `floor` is unknown here. */
  constructor(batchesMax: number, floor: Revision) {
    this.#batchesMax = batchesMax;
    this.#floor = floor;
  }

  /** The lowest revision after which nothing is missing. */
  get floor(): Revision {
    return this.#floor;
  }

  add(batch: ChangeBatch): void {
    this.#batches.push(batch);
    if (this.#batches.length - this.#start <= this.#batchesMax) return;
    this.#floor = (this.#batches[this.#start] as ChangeBatch).revision;
    this.#start += 1;
    if (this.#start * 2 > this.#batches.length) {
      this.#batches = this.#batches.slice(this.#start);
      this.#start = 0;
    }
  }

  /** The batches with a revision above `after`, in order. Requires `after >= floor`. */
  since(after: Revision): readonly ChangeBatch[] {
    let low = this.#start;
    let high = this.#batches.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#batches[middle] as ChangeBatch).revision <= after) low = middle + 1;
      else high = middle;
    }
    return this.#batches.slice(low);
  }
}
