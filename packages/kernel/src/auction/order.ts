import type { Lot } from "./lots.ts";

/**
 * The order in which all nodes go through the lots: unheld ones before those whose holder is leaving, and these before requested moves; among them pinned
 * ones first, then the longest unheld, then by replica key. It follows from the store alone, so that bidders meet at the same lot.
 */
export function compareLots(a: Lot, b: Lot): number {
  return (
    URGENCY[a.why] - URGENCY[b.why] ||
    Number(b.pinned) - Number(a.pinned) ||
    a.since - b.since ||
    (a.replica < b.replica ? -1 : a.replica > b.replica ? 1 : 0)
  );
}

const URGENCY: Readonly<Record<Lot["why"], number>> = { unheld: 0, leaving: 1, move: 2 };
