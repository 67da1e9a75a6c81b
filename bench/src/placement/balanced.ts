/** `balanced/1` as the bench uses it: with its default limits, and carried out round by round until nothing moves. */
import { balanced, BALANCED_DEFAULTS, type BalancedInput, type BalancedProposal } from "@keelson/kernel";
import type { Places, Workload } from "./workload.ts";

const roundsMax = 100;

export interface Settled {
  readonly places: Places;
  readonly moves: number;
  /** CPU time of the first plan, which is the one that answers the change. */
  readonly planCpuMs: number;
}

/** Plans from where replicas are, until all limits on moves at a time have been waited out. */
export function settle(work: Workload, before: readonly (string | undefined)[], viewN: number): Settled {
  let places = before;
  let moves = 0;
  let planCpuMs = 0;
  for (let round = 0; round < roundsMax; round++) {
    const started = process.cpuUsage();
    const proposal = plan(work, places, viewN);
    const { user, system } = process.cpuUsage(started);
    if (round === 0) planCpuMs = (user + system) / 1_000;
    if (round > 0 && proposal.moves.length === 0)
      return { places: places.map((node) => node ?? "nobody"), moves, planCpuMs };
    places = proposal.targets;
    moves += proposal.moves.length;
  }
  throw new Error(`balanced/1 still moves replicas after ${roundsMax} rounds`);
}

function plan(work: Workload, places: readonly (string | undefined)[], viewN: number): BalancedProposal {
  const input: BalancedInput = {
    viewN,
    dimensions: [{ name: "load", hard: false }],
    members: work.nodes.map(({ node, zone, capacity }) => ({
      node,
      zone,
      capacity: [capacity],
      draining: false,
      restarted: false,
    })),
    shards: work.shards,
    replicas: work.replicas,
    loads: work.loads,
    holders: places,
    targets: places,
    pins: [],
    limits: BALANCED_DEFAULTS,
  };
  return balanced(input);
}
