import { NOWHERE, type Draft } from "./draft.ts";
import { fillGain, isLow } from "./gain.ts";

/** How many of the highest nodes are asked for something at a time. */
const donorsMax = 8;

/**
 * Fills the floor: nodes below it get replicas, the lowest first, from the highest nodes. Without this a node that has just joined would stay empty,
 * because nobody is above the ceiling. Says whether anything moved.
 *
 * In a rolling restart it waits: what empty nodes need is on nodes that are about to be restarted and will hand it over anyway.
 */
export function fill(draft: Draft): boolean {
  const { fleet, height } = draft;
  let moved = false;
  for (const node of draft.byHeight()) {
    if (!isLow(draft, node)) continue;
    // Every step gives the node one more replica, and there are only so many.
    while (height[node]! < fleet.settleBottom[node]! && take(draft, node)) moved = true;
  }
  return moved;
}

function take(draft: Draft, to: number): boolean {
  const { fleet, height } = draft;
  let best = NOWHERE;
  let bestValue = 0;
  let donors = 0;
  for (const from of draft.byHeight().reverse()) {
    if (donors === donorsMax || height[from]! <= height[to]!) break;
    let gives = false;
    for (const index of draft.on[from]!) {
      if (draft.fixed[index] === 1) continue;
      const value = fillGain(draft, index, from, to) / fleet.costs[index]!;
      if (!(value > bestValue)) continue;
      draft.ask(index);
      if (!draft.allowed(to) || !draft.inZone(to)) continue;
      gives = true;
      [best, bestValue] = [index, value];
    }
    if (gives) donors += 1;
  }
  if (best === NOWHERE) return false;
  draft.move(best, to, "floor");
  return true;
}
