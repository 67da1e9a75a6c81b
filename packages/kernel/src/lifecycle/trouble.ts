import type { Terms } from "../tenure/terms.ts";

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
