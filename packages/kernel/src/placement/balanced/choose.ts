import { NOWHERE, type Draft } from "./draft.ts";

/** How gladly a node is taken; lower is better. */
const PREFERRED = 0;
const FRESH = 1;
const ANY = 2;

/**
 * The best node for a replica that has none: where it makes the lowest height, preferred nodes before others and, in a rolling restart,
 * restarted ones before those that are about to go, as long as they stay below their ceiling. Zones come before all of that; only when
 * no zone has a place for it may it share one. NOWHERE when no node may hold it. `sharing` says whether it may share a zone at all.
 */
export function choose(draft: Draft, index: number, sharing: boolean): number {
  draft.ask(index);
  const apart = lowest(draft, index, false);
  return apart !== NOWHERE || !sharing ? apart : lowest(draft, index, true);
}

function lowest(draft: Draft, index: number, sharing: boolean): number {
  const { fleet } = draft;
  const { nodes, turn, fresh, rolling } = fleet;
  const preferred = fleet.input.preferred?.get(index);
  let best = NOWHERE;
  let bestRank = ANY;
  let bestHeight = Infinity;
  for (let node = 0; node < nodes; node++) {
    if (!draft.allowed(node) || (!sharing && !draft.inZone(node))) continue;
    const height = draft.heightWith(node, index, NOWHERE);
    let rank = ANY;
    if ((preferred !== undefined || rolling) && height <= fleet.top[node]!) {
      if (preferred?.includes(fleet.members[node]!.node) === true) rank = PREFERRED;
      else if (fresh[node] === 1) rank = FRESH;
    }
    const better =
      rank < bestRank ||
      (rank === bestRank &&
        (height < bestHeight || (height === bestHeight && best !== NOWHERE && turn[node]! < turn[best]!)));
    if (better || best === NOWHERE) {
      best = node;
      bestRank = rank;
      bestHeight = height;
    }
  }
  return best;
}
