import { Draft, NOWHERE } from "./draft.ts";
import { evacuate } from "./evacuate.ts";
import { fill } from "./fill.ts";
import { Fleet } from "./fleet.ts";
import { inputProblem, type BalancedInput } from "./input.ts";
import { lower } from "./lower.ts";
import { pin } from "./pin.ts";
import { place } from "./place.ts";
import type { PlannedMove, BalancedProposal, WaitingMove } from "./proposal.ts";
import { refine } from "./refine.ts";
import { refuse, shorten } from "./refuse.ts";
import { assertSound } from "./sound.ts";
import { spread } from "./spread.ts";
import { swap } from "./swap.ts";
import { trim, type Trimmed } from "./trim.ts";
import { because } from "./words.ts";

/** The algorithm's name in views. */
export const BALANCED = "balanced/1";

/** Lowering, filling and swapping make work for each other; a fleet that is not even after so many rounds goes on in the next plan. */
const roundsMax = 4;

/**
 * The placement `balanced/1`: a stored, sticky, weighted local search. A replica stays where it is unless there is a reason to move it; reasons are
 * looked for by phases, each over the same draft, in this order:
 *   1. evacuate: what is on lost or draining nodes needs another;
 *   2. pin: operators' wishes;
 *   3. place: a node for each replica without one, and refine, while that costs nothing;
 *   4. spread: no zone has more of a shard than need be;
 *   5. lower the peaks, fill the floor, and swap where single moves do not help, until all nodes are in the band or nothing helps;
 *   6. trim: what begins now and what waits.
 * The proposal is checked before it leaves. It throws a RangeError for input that makes no sense, and an Error when it broke its own rules.
 */
export function balanced(input: BalancedInput): BalancedProposal {
  const problem = inputProblem(input);
  if (problem !== undefined) throw new RangeError(problem);
  const draft = new Draft(new Fleet(input));
  const before = draft.height.slice();
  const homeless = evacuate(draft);
  const refusals = pin(draft);
  place(draft, homeless);
  refine(draft);
  spread(draft);
  for (let round = 0; round < roundsMax; round++) {
    // All three, whatever the first one did.
    const moved = [lower(draft), fill(draft), swap(draft)];
    if (!moved.includes(true)) break;
  }
  refusals.push(...refuse(draft));
  const trimmed = trim(draft);
  const proposal = propose(draft, before, trimmed, shorten(refusals));
  assertSound(input, proposal);
  return proposal;
}

function propose(
  draft: Draft,
  before: Float64Array,
  trimmed: readonly Trimmed[],
  refusals: BalancedProposal["refusals"],
): BalancedProposal {
  const { fleet } = draft;
  const { input } = fleet;
  const moves: PlannedMove[] = [];
  const waiting: WaitingMove[] = [];
  for (const move of trimmed) {
    const { index, to, why, waitsFor } = move;
    const planned: PlannedMove = {
      index,
      shard: input.shards[draft.shardOf(index)]!,
      replica: index % fleet.replicas,
      from: draft.holder[index] === NOWHERE ? undefined : input.holders[index],
      to: fleet.members[to]!.node,
      cost: fleet.costs[index]!,
      why,
      because: because(draft, before, move),
    };
    if (waitsFor === undefined) moves.push(planned);
    else waiting.push({ ...planned, waitsFor });
  }
  return {
    viewN: input.viewN,
    targets: Array.from(draft.at, (node) => (node === NOWHERE ? undefined : fleet.members[node]!.node)),
    whys: draft.why,
    moves,
    waiting,
    refusals,
  };
}
