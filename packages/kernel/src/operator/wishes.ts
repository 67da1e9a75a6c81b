/**
 * What operators ask of a fleet, kept in the store so that it outlives whoever asked: `operator/drain/<node>` and
 * `operator/pin/<service>/<shard>/<replica>`. A wish changes nothing by itself. The node that is named drains itself, by saying in its member key
 * that it has no capacity; the placement `balanced` takes the pins as its input.
 */
import { decodeSegment, type Keys } from "../identity/keys.ts";
import type { Pin } from "../placement/balanced/input.ts";
import type { Entry } from "../store/contract.ts";

/** Who wished it, why, and when by that person's clock. */
export interface Wish {
  readonly v: 1;
  readonly by: string;
  readonly reason: string;
  readonly since: number;
}

/** The node shall hold nothing. It stays until it is taken back, also through restarts of the node. */
export type DrainWish = Wish;

/** The replica shall be on the node. `once`: the wish ends when it has arrived there, and placements may move it on later. */
export interface PinWish extends Wish {
  readonly node: string;
  readonly once?: boolean;
}

export interface StoredDrain {
  readonly key: string;
  readonly revision: number;
  readonly node: string;
  readonly wish: DrainWish;
}

/** A pin as placements take it, with the wish behind it. */
export interface StoredPin extends Pin {
  readonly key: string;
  readonly revision: number;
  readonly service: string;
  readonly wish: PinWish;
}

export interface Wishes {
  /** In the order of the entries. */
  readonly drains: readonly StoredDrain[];
  readonly pins: readonly StoredPin[];
}

/** More pins than this are a placement of one's own. */
export const pinsMax = 10_000;

/** Names the last part of a pin's key when any replica of the shard will do. */
export const ANY_REPLICA = "any";

/** Reads every wish among the entries of a fleet. Values that cannot be read are skipped: they are of a later version. */
export function readWishes(keys: Keys, entries: Iterable<Entry>): Wishes {
  const drains: StoredDrain[] = [];
  const pins: StoredPin[] = [];
  const prefix = `${keys.prefix}operator/`;
  for (const { key, value, revision } of entries) {
    if (!key.startsWith(prefix)) continue;
    const [what, ...rest] = key.slice(prefix.length).split("/");
    const wish = JSON.parse(value) as Partial<PinWish>;
    if (wish.v !== 1) continue;
    const [first = "", shard = "", replica = ""] = rest;
    if (what === "drain" && rest.length === 1)
      drains.push({ key, revision, node: first, wish: wish as DrainWish });
    if (what !== "pin" || rest.length !== 3 || wish.node === undefined) continue;
    pins.push({
      key,
      revision,
      service: first,
      shard: decodeSegment(shard),
      ...(replica === ANY_REPLICA ? {} : { replica: Number(replica) }),
      node: wish.node,
      wish: wish as PinWish,
    });
  }
  return { drains, pins };
}

/** The pins of one service, as `balanced` takes them. */
export function pinsOf({ pins }: Wishes, service: string): Pin[] {
  return pins
    .filter((pin) => pin.service === service)
    .map(({ shard, replica, node }) => ({ shard, node, ...(replica === undefined ? {} : { replica }) }));
}
