import { NOWHERE, type Draft } from "./draft.ts";
import { gainMin, isLow, isPeak } from "./gain.ts";

/** How many nodes at the other end are tried as partners, and how many pairs of replicas are compared in one search; bounds the CPU time. */
const partnersMax = 16;
const pairsMax = 100_000;
const swapsMax = 64;
/** How many of a node's heaviest replicas are tried as the head of a bundle. */
const headsMax = 4;
/** A bundle that leaves this much of the average above ceilings is as bad as one with a move more. */
const excessPerMove = 0.02;

/**
 * Exchanges replicas where single moves do not help: a node above its ceiling swaps a heavy replica for a lighter one, or for a bundle of light ones, with another
 * node; a node below its floor a light one for a heavier one with one of the highest. Says whether anything moved.
 */
export function swap(draft: Draft): boolean {
  // An exchange brings something to both nodes; while some are about to be restarted it could only be between two others.
  if (draft.fleet.rolling) return false;
  let swaps = 0;
  for (const node of draft.byHeight().reverse())
    while (swaps < swapsMax && isPeak(draft, node) && (exchange(draft, node, true) || bundle(draft, node)))
      swaps++;
  for (const node of draft.byHeight())
    while (swaps < swapsMax && isLow(draft, node) && exchange(draft, node, false)) swaps++;
  return swaps > 0;
}

interface Pair {
  readonly upper: number;
  readonly under: number;
  readonly heavy: number;
  readonly light: number;
}

/** Makes the best exchange of two replicas between the node and one of those at the other end. */
function exchange(draft: Draft, node: number, high: boolean): boolean {
  const { height, on, fixed } = draft;
  const partners = high ? draft.byHeight() : draft.byHeight().reverse();
  let best: Pair | undefined;
  let bestPeak = Infinity;
  let pairs = 0;
  for (const partner of partners.subarray(0, partnersMax)) {
    const [upper, under] = high ? [node, partner] : [partner, node];
    if (partner === node || height[upper]! - height[under]! < gainMin) break;
    for (const heavy of on[upper]!) {
      if (fixed[heavy] === 1) continue;
      if (pairs >= pairsMax) break;
      for (const light of on[under]!) {
        pairs += 1;
        const peak = Math.max(draft.heightWith(upper, light, heavy), draft.heightWith(under, heavy, light));
        if (peak >= bestPeak || peak > height[upper]! - gainMin) continue;
        const pair = { upper, under, heavy, light };
        if (exchangeable(draft, pair)) [best, bestPeak] = [pair, peak];
      }
    }
  }
  if (!best) return false;
  draft.move(best.heavy, best.under, "swap");
  draft.move(best.light, best.upper, "swap");
  draft.exchanges.push({ head: best.heavy, rest: [best.light] });
  return true;
}

function exchangeable(draft: Draft, { upper, under, heavy, light }: Pair): boolean {
  if (draft.fixed[light] === 1 || draft.shardOf(heavy) === draft.shardOf(light)) return false;
  return suits(draft, heavy, under, light) && suits(draft, light, upper, heavy);
}

/** Whether the node may have the replica once it has given the other one away. */
function suits(draft: Draft, index: number, node: number, gives: number): boolean {
  if (!draft.fits(index, node, gives)) return false;
  draft.ask(index);
  return draft.apart(node) && draft.inZone(node);
}

/** Gives one of the node's heaviest replicas to another node, and takes light ones in return, where that takes the fewest moves. */
function bundle(draft: Draft, from: number): boolean {
  const peak = draft.height[from]!;
  let best: { head: number; to: number; rest: number[] } | undefined;
  let bestScore = Infinity;
  for (const head of heaviest(draft, from).slice(0, headsMax)) {
    for (const to of draft.byHeight()) {
      const alone = draft.heightWith(to, head, NOWHERE) - draft.height[to]!;
      if (to === from || alone > draft.ceiling[to]! || !suits(draft, head, to, NOWHERE)) continue;
      draft.put(head, to);
      const rest = handBack(draft, head, from, to);
      const excess =
        Math.max(0, draft.height[from]! - draft.ceiling[from]!) +
        Math.max(0, draft.height[to]! - draft.ceiling[to]!);
      const score = rest.length + excess / excessPerMove;
      if (Math.max(draft.height[from]!, draft.height[to]!) <= peak - gainMin && score < bestScore)
        [best, bestScore] = [{ head, to, rest }, score];
      for (const index of rest) draft.put(index, to);
      draft.put(head, from);
    }
  }
  if (!best) return false;
  draft.move(best.head, best.to, "swap");
  for (const index of best.rest) draft.move(index, from, "swap");
  draft.exchanges.push(best);
  return true;
}

/** Moves replicas back from where the head went to where it came from, the heaviest that fit first, until the one is low enough or the other full. */
function handBack(draft: Draft, head: number, from: number, to: number): number[] {
  const rest: number[] = [];
  for (const index of heaviest(draft, to)) {
    if (draft.height[to]! <= draft.settled[to]!) break;
    if (index === head || draft.heightWith(from, index, NOWHERE) > draft.settled[from]!) continue;
    if (!suits(draft, index, from, NOWHERE)) continue;
    draft.put(index, from);
    rest.push(index);
  }
  return rest;
}

/** The replicas on the node that may move, by what the node's height falls without them. */
function heaviest(draft: Draft, node: number): number[] {
  const movable = draft.on[node]!.filter((index) => draft.fixed[index] === 0);
  const left = new Map(movable.map((index) => [index, draft.heightWith(node, NOWHERE, index)]));
  return movable.sort((a, b) => left.get(a)! - left.get(b)! || a - b);
}
