import { NOWHERE, type Draft } from "./draft.ts";

/**
 * When a move for balance is worth making. The phases that look for moves and the one that lets them begin ask the same questions, so that a plan carried
 * out in part is never undone by the next one.
 */

/** A move that brings no node into its band must still lower the higher of its two nodes by this much of the average. */
export const gainMin = 0.02;
/** A node may be pushed above its own ceiling, to hand over something smaller in turn, but only by this much of what the first one was above. */
const chainShare = 0.75;
/** And only if both together have this much less above their ceilings. */
const chainGainMin = 0.005;
/** Less than this is rounding. */
export const easeMin = 1e-9;

/** Where nodes should stand afterwards: well within the band, so that noise does not bring them above the ceiling at once, or just within. */
export type Aim = "settled" | "within";

/** How much less is above the aim once `from`, which is above its ceiling, gave the replica to `to`; 0 when that is not worth a move. */
export function lowerGain(draft: Draft, index: number, from: number, to: number, aim: Aim): number {
  const [allowed, band] =
    aim === "settled" ? [draft.settled, draft.fleet.settleTop] : [draft.ceiling, draft.fleet.top];
  const excess = draft.height[from]! - allowed[from]!;
  const drop = draft.height[from]! - draft.heightWith(from, NOWHERE, index);
  const after = draft.heightWith(to, index, NOWHERE);
  const pushed = Math.max(0, after - band[to]!);
  const gain = Math.min(drop, excess) - pushed;
  if (gain <= 0) return 0;
  if (pushed === 0) return gain;
  return pushed <= excess * chainShare && after < draft.height[from]! && gain >= chainGainMin ? gain : 0;
}

/** How much nearer to its floor `to`, which is below it, gets with the replica of `from`; 0 when that is not worth a move. */
export function fillGain(draft: Draft, index: number, from: number, to: number): number {
  const { fleet, height } = draft;
  const after = draft.heightWith(to, index, NOWHERE);
  const left = draft.heightWith(from, NOWHERE, index);
  // Either both stay in the band, or the two become more even.
  const inBand = after <= fleet.settleTop[to]! && left >= fleet.bottom[from]!;
  const evener = Math.max(after, left) <= height[from]! - gainMin && left >= height[to]!;
  if (!inBand && !evener) return 0;
  return Math.min(after, fleet.settleBottom[to]!) - height[to]!;
}

/** Whether a single move for balance is worth making as the draft stands. */
export function helps(draft: Draft, index: number, from: number, to: number): boolean {
  const { height } = draft;
  const worth =
    (isPeak(draft, from) &&
      draft.welcomes(to) &&
      (lowerGain(draft, index, from, to, "settled") > 0 ||
        lowerGain(draft, index, from, to, "within") > 0)) ||
    (isLow(draft, to) && fillGain(draft, index, from, to) > 0);
  if (!worth) return false;
  const before = strain(draft, from, height[from]!) + strain(draft, to, height[to]!);
  const after =
    strain(draft, from, draft.heightWith(from, NOWHERE, index)) +
    strain(draft, to, draft.heightWith(to, index, NOWHERE));
  return after <= before - easeMin;
}

/** Whether a node is above its ceiling. */
export function isPeak(draft: Draft, node: number): boolean {
  return draft.height[node]! > draft.ceiling[node]!;
}

/** Whether a node is below its floor, and to be filled. */
export function isLow(draft: Draft, node: number): boolean {
  return !draft.fleet.rolling && draft.height[node]! < draft.fleet.bottom[node]!;
}

/** How far a node that stands so high is outside its band; squared, because one node far outside is worse than two that are half as far. */
function strain(draft: Draft, node: number, height: number): number {
  if (height > draft.ceiling[node]!) return (height - draft.ceiling[node]!) ** 2;
  const missing = draft.fleet.rolling ? 0 : draft.fleet.bottom[node]! - height;
  return missing > 0 ? missing ** 2 : 0;
}

/**
 * How far all nodes together are outside their bands. Moves for balance begin only if they make this less, in each round. So, however little of a plan
 * is let through at a time, the fleet comes to rest.
 */
export function strainOfAll(draft: Draft): number {
  const { fleet, height } = draft;
  let sum = 0;
  for (let node = 0; node < fleet.nodes; node++)
    if (fleet.open[node] === 1) sum += strain(draft, node, height[node]!);
  return sum;
}
