import { choose } from "./choose.ts";
import { NOWHERE, type Draft } from "./draft.ts";

/**
 * Moves replicas out of zones that have more of their shard than need be. Zones come before balance, so a replica may be put on a node
 * above its ceiling; the next phase then moves something else from there.
 */
export function spread(draft: Draft): void {
  const { fleet } = draft;
  for (let first = 0; first < fleet.count; first += fleet.replicas)
    for (let replica = 0; replica < fleet.replicas && spreadOne(draft, first); replica++);
}

/** Makes one move for the shard whose first replica is given, the one that leaves the lowest node. */
function spreadOne(draft: Draft, first: number): boolean {
  let best = NOWHERE;
  let bestNode = NOWHERE;
  let bestHeight = Infinity;
  for (let index = first; index < first + draft.fleet.replicas; index++) {
    if (draft.fixed[index] === 1 || !crowded(draft, index)) continue;
    const node = choose(draft, index, false);
    if (node === NOWHERE) continue;
    const height = draft.heightWith(node, index, NOWHERE);
    if (height < bestHeight) [best, bestNode, bestHeight] = [index, node, height];
  }
  if (best === NOWHERE) return false;
  draft.move(best, bestNode, "zones");
  return true;
}

/** Whether the zone that the replica is in has more replicas of its shard than the level. */
export function crowded(draft: Draft, index: number): boolean {
  const { fleet, at } = draft;
  if (at[index] === NOWHERE) return false;
  const zone = fleet.zoneOf[at[index]!]!;
  const first = index - (index % fleet.replicas);
  let there = 0;
  for (let sibling = first; sibling < first + fleet.replicas; sibling++)
    if (at[sibling] !== NOWHERE && fleet.zoneOf[at[sibling]!] === zone) there += 1;
  return there > fleet.level;
}
