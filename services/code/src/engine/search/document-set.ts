/** Documents of one segment that may be found: one byte each, so that finding the next is one search for a byte. Used again for the next segment. */

export class DocumentSet {
  #flags = new Uint8Array(1024);
  #size = 0;

  reset(documents: number, value: 0 | 1 = 0): this {
    if (documents > this.#flags.length) this.#flags = new Uint8Array(documents);
    this.#flags.fill(value, 0, documents);
    this.#size = documents;
    return this;
  }

  /** Nothing at all, of however many documents: without writing anything. */
  empty(): this {
    this.#size = 0;
    return this;
  }

  /** Adds all from `first` to `last`, both included. */
  addRange(first: number, last: number): void {
    this.#flags.fill(1, first, last + 1);
  }

  /** The next member at or after `from`, or -1. */
  next(from: number): number {
    if (from >= this.#size) return -1;
    const found = this.#flags.indexOf(1, from);
    return found < this.#size ? found : -1;
  }

  intersect(other: DocumentSet): void {
    for (let at = this.next(0); at !== -1; at = this.next(at + 1))
      if (at >= other.#size || other.#flags[at] === 0) this.#flags[at] = 0;
  }

  unite(other: DocumentSet): void {
    for (let at = other.next(0); at !== -1; at = other.next(at + 1)) this.#flags[at] = 1;
  }
}
