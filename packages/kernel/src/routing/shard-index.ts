/** Ids below this may live in the array: enough for the largest service, small enough that a stray id cannot make it huge. */
const numberedMax = 1_000_000;
/** The array may have this many places, beyond four per entry, that are empty. */
const emptyMax = 1_024;

/**
 * One value per shard, made to be read on every request. Most services number their shards from 0; those lie in an array, where a read costs
 * one step in memory instead of a hash table's four. All other ids lie in a map.
 */
export class ShardIndex<T> {
  readonly #numbered: (T | undefined)[] = [];
  readonly #named = new Map<string, T>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(shard: string): T | undefined {
    const n = numberOf(shard);
    const found = n >= 0 && n < this.#numbered.length ? this.#numbered[n] : undefined;
    if (found !== undefined) return found;
    return this.#named.size > 0 ? this.#named.get(shard) : undefined;
  }

  set(shard: string, value: T): void {
    const before = this.get(shard);
    if (before === undefined) this.#size += 1;
    const n = numberOf(shard);
    if (n < 0 || n > 4 * this.#size + emptyMax) {
      this.#named.set(shard, value);
      return;
    }
    // An array filled from the front stays a plain one; one with holes would be slower to read.
    while (this.#numbered.length < n) this.#numbered.push(undefined);
    this.#numbered[n] = value;
    this.#named.delete(shard);
  }

  delete(shard: string): boolean {
    if (this.get(shard) === undefined) return false;
    this.#size -= 1;
    const n = numberOf(shard);
    if (n >= 0 && n < this.#numbered.length) this.#numbered[n] = undefined;
    this.#named.delete(shard);
    return true;
  }
}

/** The number that an id spells in plain decimal, without leading zeros; −1 for any other id. */
function numberOf(id: string): number {
  const { length } = id;
  if (length === 0 || length > 6) return -1;
  let n = 0;
  for (let i = 0; i < length; i++) {
    const digit = id.charCodeAt(i) - 48;
    if (digit < 0 || digit > 9) return -1;
    n = n * 10 + digit;
  }
  if (length > 1 && id.charCodeAt(0) === 48) return -1;
  return n < numberedMax ? n : -1;
}
