import type { ProtocolRange } from "./member.ts";

/**
 * Which version of the protocol a fleet speaks. `fleet/protocol` holds the active one; a node joins only if it speaks it, and the manager
 * raises it when all members speak a higher one. It is never lowered: what was written since may need it.
 */
export type JoinVerdict =
  | { readonly kind: "welcome" }
  | { readonly kind: "refused"; readonly problem: string };

/** Whether a node with this range may join; `active` is undefined in a fleet that has no record yet. */
export function mayJoin(active: number | undefined, range: ProtocolRange): JoinVerdict {
  if (range.min > range.max)
    return { kind: "refused", problem: `protocol range ${range.min} to ${range.max} is empty` };
  if (active === undefined || (range.min <= active && active <= range.max)) return { kind: "welcome" };
  const advice =
    active > range.max
      ? "upgrade this node"
      : "upgrade the fleet's other nodes first, through a release that speaks both";
  return {
    kind: "refused",
    problem: `the fleet speaks protocol ${active}, this node speaks ${range.min} to ${range.max}: ${advice}`,
  };
}

/** What the first node of a fleet makes active: the best it speaks. */
export function firstActive(range: ProtocolRange): number {
  return range.max;
}

/** What `active` should be, given all members: the lowest `max`, if it is higher than now and everyone speaks it; otherwise what it is. */
export function raisedActive(active: number, members: Iterable<ProtocolRange>): number {
  let lowestMax = Infinity;
  let highestMin = -Infinity;
  for (const { min, max } of members) {
    lowestMax = Math.min(lowestMax, max);
    highestMin = Math.max(highestMin, min);
  }
  const spoken = lowestMax !== Infinity && highestMin <= lowestMax;
  return spoken && lowestMax > active ? lowestMax : active;
}
