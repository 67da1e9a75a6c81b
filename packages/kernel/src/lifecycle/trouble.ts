import type { Keys } from "../identity/keys.ts";
import type { Terms } from "../tenure/terms.ts";
import type { Known, ReplicaFacts } from "./facts.ts";

/**
 * `trouble/<service>/<shard>`: what is held against a shard that keeps failing to open or keeps losing its holders. It travels with the
 * shard, so that a poison shard is not passed round the fleet until nobody is left.
 */
export interface Trouble {
  readonly v: 1;
  readonly strikes: number;
  readonly last: {
    readonly node: string;
    readonly what: "open failed" | "holder lost";
    readonly message: string;
  };
}

export function struck(trouble: Trouble | undefined, last: Trouble["last"]): Trouble {
  return { v: 1, strikes: (trouble?.strikes ?? 0) + 1, last };
}

/** A strike as a commit carries it: the record's key, the revision it replaces, and its new value. */
export interface Strike {
  readonly key: string;
  readonly revision: number;
  readonly value: Trouble;
}

/** The strike that a grant adds when the last holder was lost soon after its own grant; undefined when it was not. */
export function strikeOfLoss(
  keys: Keys,
  facts: Pick<ReplicaFacts, "lostAfterMs" | "lostBy">,
  trouble: Known<Trouble> | undefined,
  shard: string,
  terms: Pick<Terms, "youngMs" | "ttlMs">,
): Strike | undefined {
  const lost = facts.lostAfterMs;
  if (lost === undefined || lost >= terms.youngMs + terms.ttlMs) return undefined;
  return {
    key: keys.trouble(shard),
    revision: trouble?.revision ?? 0,
    value: struck(trouble?.value, {
      node: facts.lostBy,
      what: "holder lost",
      message: `${Math.round(lost / 100) / 10} s after its grant was seen`,
    }),
  };
}

export type TroubleVerdict =
  | { readonly kind: "free" }
  | { readonly kind: "wait"; readonly until: number }
  | { readonly kind: "quarantined"; readonly until: number };

/** May a shard with this record be granted? `seenAt` is when this node first saw the record, on its own clock. */
export function judgeTrouble(
  trouble: Trouble | undefined,
  seenAt: number,
  now: number,
  terms: Terms,
): TroubleVerdict {
  if (!trouble || trouble.strikes < 2) return { kind: "free" };
  if (trouble.strikes >= terms.quarantineStrikes) {
    const until = seenAt + terms.quarantineMs;
    return now < until ? { kind: "quarantined", until } : { kind: "free" };
  }
  const until = seenAt + terms.strikeBackoffMs * 2 ** trouble.strikes;
  return now < until ? { kind: "wait", until } : { kind: "free" };
}

export function describeTrouble(trouble: Trouble): string {
  return `${trouble.strikes} strikes, the last: ${trouble.last.what} on ${trouble.last.node}: ${trouble.last.message}`;
}
