/**
 * Which shard a tenant belongs to. A tenant's place is the XXH64 of its name; a shard is a range of places, and says so in its id: `3` is the fourth of the
 * shards that the service began with, `<first>-<last>` in 16 hexadecimal digits each is what a split made. A tenant never spans two shards.
 */
import { xxh64 } from "@node-rs/xxhash";

export interface ShardRange {
  readonly id: string;
  /** The first place. */
  readonly first: bigint;
  /** The last place, included. */
  readonly last: bigint;
}

const PLACES = 1n << 64n;
const KNOWN_MAX = 10_000;
const SPLIT_ID = /^([0-9a-f]{16})-([0-9a-f]{16})$/;
/** Callers that name no tenant share this one. */
export const DEFAULT_TENANT = "-";

export function tenantPlace(tenant: string): bigint {
  return xxh64(tenant, 0n);
}

/** `initial` is the number of shards that the service began with. Undefined for an id that is none. */
export function shardRange(id: string, initial: number): ShardRange | undefined {
  const split = SPLIT_ID.exec(id);
  if (split !== null) {
    const [first, last] = [BigInt(`0x${split[1]}`), BigInt(`0x${split[2]}`)];
    return first <= last ? { id, first, last } : undefined;
  }
  const number = /^(?:0|[1-9]\d{0,6})$/.test(id) ? BigInt(id) : -1n;
  if (number < 0n || number >= BigInt(initial)) return undefined;
  const count = BigInt(initial);
  return { id, first: (number * PLACES) / count, last: ((number + 1n) * PLACES) / count - 1n };
}

export function isWithin({ first, last }: ShardRange, tenant: string): boolean {
  const place = tenantPlace(tenant);
  return place >= first && place <= last;
}

export function rangeId(first: bigint, last: bigint): string {
  return `${hex(first)}-${hex(last)}`;
}

export function hex(place: bigint): string {
  return place.toString(16).padStart(16, "0");
}

/** How many shards a service began with, from those that it has: what splits made covers the rest of the places. */
function initialShards(ids: readonly string[]): number {
  let [left, numbered] = [PLACES, 0n];
  for (const id of ids) {
    const range = shardRange(id, 0);
    if (range === undefined) numbered += 1n;
    else left -= range.last - range.first + 1n;
  }
  // Shares of places are whole numbers, so the quotient is off by less than a half.
  return left <= 0n ? 0 : Number((numbered * PLACES + left / 2n) / left);
}

/** The shards of a service in the order of their ranges. */
export class ShardMap {
  readonly ranges: readonly ShardRange[];
  /** Hashing costs more than looking. */
  readonly #known = new Map<string, string>();

  constructor(ids: readonly string[]) {
    const initial = initialShards(ids);
    const ranges = ids.map((id) => shardRange(id, initial)).filter((range) => range !== undefined);
    this.ranges = ranges.sort((a, b) => (a.first < b.first ? -1 : 1));
  }

  /** Undefined while the map has a hole there: a view that is not known yet. */
  of(tenant: string): string | undefined {
    const known = this.#known.get(tenant);
    if (known !== undefined) return known;
    const found = this.#find(tenantPlace(tenant));
    if (found === undefined) return undefined;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(tenant, found);
    return found;
  }

  #find(place: bigint): string | undefined {
    let [low, high] = [0, this.ranges.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.ranges[middle]!.first <= place) low = middle;
      else high = middle - 1;
    }
    const range = this.ranges[low];
    return range !== undefined && range.first <= place && place <= range.last ? range.id : undefined;
  }
}
