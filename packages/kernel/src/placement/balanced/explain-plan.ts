import { replicaKey, type ReplicaKey } from "../../identity/keys.ts";
import type { ServiceParameters } from "../../membership/view.ts";
import { moves, type Move } from "../moves.ts";
import type { Plan, PlanLine } from "../plan.ts";
import { balanced } from "./balanced.ts";
import { Draft, NOWHERE } from "./draft.ts";
import { Fleet } from "./fleet.ts";
import type { BalancedInput } from "./input.ts";
import type { BalancedProposal, Why } from "./proposal.ts";
import { times } from "./words.ts";

/**
 * Plans looked at before, or instead of, being carried out, as plain data: what would move, why, what it costs and what was refused; how two
 * plans differ; and why a replica is where it is and not elsewhere. Words for people are in explain-text.ts.
 */
export interface DryRun extends BalancedProposal {
  readonly dimensions: readonly string[];
  /** What begins now and what waits, by reason. */
  readonly totals: readonly MoveTotal[];
  /** In the order of their names. */
  readonly nodes: readonly NodeForecast[];
}

export interface MoveTotal {
  readonly why: Why;
  readonly moves: number;
  readonly cost: number;
  readonly waiting: number;
}

export interface NodeForecast {
  readonly node: string;
  readonly zone: string;
  readonly draining: boolean;
  readonly before: NodeLoad;
  readonly after: NodeLoad;
}

export interface NodeLoad {
  readonly replicas: number;
  /** Utilisation per dimension, as a multiple of the average of the members that are not draining. */
  readonly utilisation: readonly number[];
}

/** Computes the plan, and says what it would do. Nothing else happens. */
export function dryRun(input: BalancedInput): DryRun {
  const proposal = balanced(input);
  const held = input.holders.map((node, index) => node ?? input.targets[index]);
  const before = nodeLoads(input, held);
  const after = nodeLoads(input, proposal.targets);
  const nodes = [...input.members]
    .sort((a, b) => (a.node < b.node ? -1 : 1))
    .map(({ node, zone, draining }) => ({
      node,
      zone,
      draining,
      before: before.get(node)!,
      after: after.get(node)!,
    }));
  const dimensions = input.dimensions.map(({ name }) => name);
  return { ...proposal, dimensions, totals: totalsOf(proposal), nodes };
}

function totalsOf({ moves: begun, waiting }: BalancedProposal): MoveTotal[] {
  const whys = [...new Set([...begun, ...waiting].map(({ why }) => why))];
  return whys.map((why) => {
    const now = begun.filter((move) => move.why === why);
    const cost = now.reduce((sum, move) => sum + move.cost, 0);
    return { why, moves: now.length, cost, waiting: waiting.filter((move) => move.why === why).length };
  });
}

function nodeLoads(
  { members, loads, dimensions }: BalancedInput,
  places: readonly (string | undefined)[],
): Map<string, NodeLoad> {
  const sums = new Map(members.map(({ node }) => [node, { replicas: 0, load: dimensions.map(() => 0) }]));
  const total = dimensions.map(() => 0);
  for (const [index, node] of places.entries()) {
    const sum = node === undefined ? undefined : sums.get(node);
    if (sum) sum.replicas += 1;
    for (const d of dimensions.keys()) {
      const load = loads[index * dimensions.length + d]!;
      if (Number.isNaN(load)) continue;
      total[d]! += load;
      if (sum) sum.load[d]! += load;
    }
  }
  const open = members.filter(({ draining }) => !draining);
  const average = dimensions.map(
    (_, d) => total[d]! / open.reduce((sum, { capacity }) => sum + capacity[d]!, 0),
  );
  return new Map(
    members.map(({ node, capacity }) => {
      const { replicas, load } = sums.get(node)!;
      const utilisation = load.map((value, d) => (value > 0 ? value / capacity[d]! / average[d]! : 0));
      return [node, { replicas, utilisation }];
    }),
  );
}

/** How a plan that was computed beside the active one differs from it. */
export interface Shadow {
  readonly replicas: number;
  /** From the active plan's target to the other's. */
  readonly moves: readonly Move[];
  /** Nodes that would get or give something, in the order of their names. */
  readonly nodes: readonly { readonly node: string; readonly gets: number; readonly gives: number }[];
}

/** A proposal in the form of a plan, to be compared with one: its targets alone, with nobody in line after them. */
export function proposedPlan(
  service: string,
  parameters: ServiceParameters,
  input: BalancedInput,
  proposal: BalancedProposal,
): Plan {
  const lines = new Map<ReplicaKey, PlanLine>();
  const later = new Map(proposal.waiting.map(({ index, to }) => [index, to]));
  for (const [index, target] of proposal.targets.entries()) {
    const shard = input.shards[Math.floor(index / input.replicas)]!;
    const to = later.get(index) ?? target;
    const candidates = to === undefined ? [] : [to];
    lines.set(replicaKey(service, shard, index % input.replicas), {
      candidates,
      reason: proposal.whys[index]!,
    });
  }
  return { viewN: proposal.viewN, parameters, lines };
}

export function shadow(active: Plan, other: Plan): Shadow {
  const differing = moves(active, other);
  const nodes = new Map<string, { gets: number; gives: number }>();
  const of = (node: string): { gets: number; gives: number } => {
    const found = nodes.get(node) ?? { gets: 0, gives: 0 };
    nodes.set(node, found);
    return found;
  };
  for (const { from, to } of differing) {
    if (from !== undefined) of(from).gives += 1;
    if (to !== undefined) of(to).gets += 1;
  }
  const sorted = [...nodes].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    replicas: other.lines.size,
    moves: differing,
    nodes: sorted.map(([node, counts]) => ({ node, ...counts })),
  };
}

/** Why a replica is where a proposal puts it, and what speaks against every other member. */
export interface PlacementExplanation {
  readonly shard: string;
  readonly replica: number;
  readonly target: string | undefined;
  readonly why: Why;
  readonly because: string;
  readonly others: readonly { readonly node: string; readonly because: string }[];
}

/** Explains one replica of a proposal that was made from the input. Undefined when there is no such replica. */
export function explainReplica(
  input: BalancedInput,
  proposal: BalancedProposal,
  shard: string,
  replica: number,
): PlacementExplanation | undefined {
  const position = input.shards.indexOf(shard);
  if (position < 0 || !(replica >= 0 && replica < input.replicas)) return undefined;
  const index = position * input.replicas + replica;
  const { targets } = proposal;
  const draft = new Draft(new Fleet({ ...input, holders: targets, targets }));
  const target = targets[index];
  const move = proposal.moves.find((one) => one.index === index);
  const waits = proposal.waiting.find((one) => one.index === index);
  const refused = proposal.refusals.find((one) => one.shard === shard && one.replica === replica);
  const because =
    move?.because ??
    (waits && `it shall go to ${waits.to} (${waits.because}), and waits for ${waits.waitsFor}`) ??
    refused?.because ??
    "it stays where it is: nothing asks for a move";
  const others = draft.fleet.members
    .filter(({ node }) => node !== target)
    .map(({ node }) => ({ node, because: against(draft, index, draft.fleet.indexOf(node)) }));
  return { shard, replica, target, why: proposal.whys[index]!, because, others };
}

/** What speaks against a member: a rule, or what it and the target would stand at. */
function against(draft: Draft, index: number, node: number): string {
  const { fleet, at } = draft;
  draft.ask(index);
  if (fleet.open[node] === 0) return "is draining or has no capacity";
  if (!draft.apart(node)) return "has another replica of the shard";
  if (!draft.fits(index, node, NOWHERE)) return "has no room for it";
  if (!draft.inZone(node)) return `its zone ${fleet.members[node]!.zone} has another replica of the shard`;
  const would = times(draft.heightWith(node, index, NOWHERE));
  const here = at[index]!;
  return here === NOWHERE
    ? `would stand at ${would}`
    : `would stand at ${would}; ${fleet.members[here]!.node} stands at ${times(draft.height[here]!)} with it`;
}
