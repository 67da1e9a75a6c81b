import { NOWHERE, type Draft } from "./draft.ts";
import { isPeak, lowerGain, type Aim } from "./gain.ts";

/** How many of the lowest nodes that may hold a replica are looked at for it. */
const lowestMax = 12;

/**
 * Lowers the peaks: the node that is farthest above its ceiling hands over to one of the lowest that may have it, until no node is above, or nothing
 * helps. Each step takes the replica that removes most of what is above ceilings for what it costs. Says whether anything moved.
 *
 * A heavy replica that came to a node makes it hand over a middling one, whose new node hands over a small one: a few moves instead
 * of hundreds of the smallest.
 */
export function lower(draft: Draft): boolean {
  const { fleet, height } = draft;
  const stuck = new Uint8Array(fleet.nodes);
  let moved = false;
  // Every step lowers the sum of what is above ceilings; the bound only guards the CPU time.
  for (let step = 0; step < fleet.count; step++) {
    let highest = NOWHERE;
    let above = 0;
    for (let node = 0; node < fleet.nodes; node++) {
      if (fleet.open[node] === 0 || stuck[node] === 1 || !isPeak(draft, node)) continue;
      if (height[node]! - draft.ceiling[node]! <= above) continue;
      above = height[node]! - draft.ceiling[node]!;
      highest = node;
    }
    if (highest === NOWHERE) break;
    if (shed(draft, highest, "settled") || shed(draft, highest, "within")) moved = true;
    else stuck[highest] = 1;
  }
  return moved;
}

function shed(draft: Draft, from: number, aim: Aim): boolean {
  const { fleet, height } = draft;
  const lowest = draft.byHeight();
  let best = NOWHERE;
  let bestTo = NOWHERE;
  let bestValue = 0;
  for (const index of draft.on[from]!) {
    if (draft.fixed[index] === 1) continue;
    // A replica that cannot be the best is not asked about: asking is what costs.
    const drop = height[from]! - draft.heightWith(from, NOWHERE, index);
    if (!(drop / fleet.costs[index]! > bestValue)) continue;
    draft.ask(index);
    let seen = 0;
    for (const to of lowest) {
      if (to === from || height[to]! >= height[from]! || seen === lowestMax) break;
      if (!draft.welcomes(to) || !draft.allowed(to) || !draft.inZone(to)) continue;
      seen += 1;
      const value = lowerGain(draft, index, from, to, aim) / fleet.costs[index]!;
      if (value > bestValue) [best, bestTo, bestValue] = [index, to, value];
    }
  }
  if (best === NOWHERE) return false;
  draft.move(best, bestTo, "peak");
  return true;
}
