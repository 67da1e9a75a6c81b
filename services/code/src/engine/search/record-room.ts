/**
 * Where a searching thread keeps the matches of documents until it is known which are shown, in slabs that are used again: as memory of their own for each document they would be garbage by
 * the ten megabytes before a thread that makes little other garbage collects it.
 */

const SLAB_WORDS = 262_144;
/** Slabs that a thread keeps for its next search. */
const FREE_MAX = 6;
const free: Uint32Array[] = [];

export class RecordRoom {
  #slabs: Uint32Array[] = [];
  #used = SLAB_WORDS;

  /** What is larger than a slab is memory of its own, and so is nothing. */
  take(words: number): Uint32Array {
    if (words === 0 || words > SLAB_WORDS) return new Uint32Array(words);
    if (this.#used + words > SLAB_WORDS) {
      this.#slabs.push(free.pop() ?? new Uint32Array(SLAB_WORDS));
      this.#used = 0;
    }
    this.#used += words;
    return this.#slabs.at(-1)!.subarray(this.#used - words, this.#used);
  }

  /** Gives back the end of what was taken last, and returns the rest of it. */
  shorten(taken: Uint32Array, words: number): Uint32Array {
    if (taken.buffer === this.#slabs.at(-1)?.buffer) this.#used -= taken.length - words;
    return taken.subarray(0, words);
  }

  copy(words: Uint32Array): Uint32Array {
    const taken = this.take(words.length);
    taken.set(words);
    return taken;
  }

  /** Nothing that was taken is looked at any more. */
  clear(): void {
    while (free.length < FREE_MAX && this.#slabs.length > 0) free.push(this.#slabs.pop()!);
    this.#slabs = [];
    this.#used = SLAB_WORDS;
  }
}
