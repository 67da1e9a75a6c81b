/**
 * A set of keys in order, as a list of short sorted runs. Adding, removing and seeking cost a binary search over the runs and one
 * inside a run, so a page of 100,000 keys is found without sorting anything. It is not a map: the values live beside it.
 *
 * The order is that of UTF-16 code units, which for keys of the protocol (ASCII) is also that of bytes.
 */

/** A run splits in two at this length: short enough that moving its tail on an insertion is one small copy. */
const RUN_KEYS_MAX = 512;

export class OrderedKeys {
  /** No run is empty; every key of a run is lower than every key of the next. */
  readonly #runs: string[][] = [];

  /** Requires that the key is not there yet. */
  add(key: string): void {
    if (this.#runs.length === 0) {
      this.#runs.push([key]);
      return;
    }
    const at = Math.min(this.#runOf(key), this.#runs.length - 1);
    const run = this.#runs[at] as string[];
    run.splice(lowerBound(run, key), 0, key);
    if (run.length > RUN_KEYS_MAX) this.#runs.splice(at + 1, 0, run.splice(RUN_KEYS_MAX / 2));
  }

  /** Removing a key that is not there does nothing. */
  remove(key: string): void {
    const at = this.#runOf(key);
    const run = this.#runs[at];
    if (run === undefined) return;
    const place = lowerBound(run, key);
    if (run[place] !== key) return;
    if (run.length === 1) this.#runs.splice(at, 1);
    else run.splice(place, 1);
  }

  /** The keys that begin with `prefix` and are greater than `after`, in order, at most `limit`. */
  page(prefix: string, after: string | undefined, limit: number): { keys: string[]; more: boolean } {
    const keys: string[] = [];
    const past = after !== undefined && after >= prefix;
    const from = past ? after : prefix;
    let at = this.#runOf(from);
    let run = this.#runs[at];
    if (run === undefined) return { keys, more: false };
    let place = lowerBound(run, from);
    if (past && run[place] === from) place += 1;
    while (run !== undefined) {
      for (; place < run.length; place += 1) {
        const key = run[place] as string;
        if (!key.startsWith(prefix)) return { keys, more: false };
        if (keys.length === limit) return { keys, more: true };
        keys.push(key);
      }
      at += 1;
      run = this.#runs[at];
      place = 0;
    }
    return { keys, more: false };
  }

  /** The first run whose last key is not lower than `key`; the number of runs when there is none. */
  #runOf(key: string): number {
    let low = 0;
    let high = this.#runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const run = this.#runs[middle] as string[];
      if ((run[run.length - 1] as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The place of the first key that is not lower than `key`. */
function lowerBound(run: readonly string[], key: string): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((run[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
