/**
 * How evenly a placement spreads load, what the loss of a node costs in moves, and what a plan costs in CPU time; beside it the same for placements
 * that hash. 10,000 shards × 3 replicas with Zipf loads on 96 nodes of two capacities in 4 zones.
 */
import { parseArgs } from "node:util";
import type { Bench, BenchContext, BenchResult } from "./bench.ts";
import { median } from "./median.ts";
import { wholeNumber } from "./options.ts";
import { settle } from "./placement/balanced.ts";
import { peers, type Peer } from "./placement/peers.ts";
import {
  utilisationMax,
  withoutNode,
  workload,
  zoneViolations,
  type Places,
  type Workload,
} from "./placement/workload.ts";

/** What is promised, with the figure's key. */
const promises = { utilisationMax: 1.05, zoneViolations: 0, movesRatio: 1.1, planCpuMs: 250 } as const;

/** Peers are slower to compute and vary less from node to node: every so manieth node is lost. */
const peerLossEvery = 8;

const placement: Bench = {
  name: "placement",
  title: "evenness, moves and CPU time of balanced/1 and of placements that hash",
  run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: {
        seed: { type: "string", default: "1" },
        shards: { type: "string", default: "10000" },
        nodes: { type: "string", default: "96" },
      },
    });
    const work = workload({
      shards: wholeNumber("shards", values.shards, 1, 100_000),
      nodes: wholeNumber("nodes", values.nodes, 8, 1_000),
      replicas: 3,
      exponent: 0.8,
      seed: wholeNumber("seed", values.seed, 0, 2 ** 31),
    });
    const figures = ours(context, work);
    const others: Record<string, BenchResult["figures"]> = {};
    for (const [name, peer] of Object.entries(peers)) others[name] = theirs(context, work, name, peer);
    const broken = Object.entries(promises).flatMap(([key, most]) =>
      figures[key]! > most ? [`${key} is ${figures[key]}, promised is at most ${most}`] : [],
    );
    return Promise.resolve({ figures, peers: others, broken });
  },
};

export default placement;

/** Plans from nothing, then loses every node in turn. Figures hold over all of it: the most uneven fleet, the most violations, moves of all losses together. */
function ours(context: BenchContext, work: Workload): Record<string, number> {
  const nothing = work.loads.length;
  const cold = Array.from({ length: 3 }, () =>
    settle(
      work,
      Array.from({ length: nothing }, (): undefined => undefined),
      1,
    ),
  );
  const { places } = cold[0]!;
  context.progress(
    `planned from nothing in ${format(median(cold.map(({ planCpuMs }) => planCpuMs)))} ms of CPU time`,
  );
  let utilisation = utilisationMax(work, places);
  let violations = zoneViolations(work, places);
  const ratios: number[] = [];
  const cpu: number[] = [];
  let moves = 0;
  let unavoidable = 0;
  for (const [i, { node }] of work.nodes.entries()) {
    const left = withoutNode(work, node);
    const held = heldBy(places, node);
    const after = settle(left, places, i + 2);
    utilisation = Math.max(utilisation, utilisationMax(left, after.places));
    violations = Math.max(violations, zoneViolations(left, after.places));
    moves += after.moves;
    unavoidable += held;
    ratios.push(after.moves / Math.max(1, held));
    cpu.push(after.planCpuMs);
    if ((i + 1) % 16 === 0) context.progress(`lost ${i + 1} of ${work.nodes.length} nodes, one at a time`);
  }
  return {
    utilisationMax: utilisation,
    zoneViolations: violations,
    movesRatio: moves / unavoidable,
    movesRatioP50: median(ratios),
    movesRatioMax: Math.max(...ratios),
    // The loop has been through a hundred plans: what is slow to start has started.
    planCpuMs: median(cpu),
    planCpuMsMax: Math.max(...cpu),
    coldPlanCpuMs: median(cold.map(({ planCpuMs }) => planCpuMs)),
  };
}

function theirs(context: BenchContext, work: Workload, name: string, peer: Peer): Record<string, number> {
  const cpu: number[] = [];
  const timed = (of: Workload): Places => {
    const started = process.cpuUsage();
    const placed = peer(of);
    const { user, system } = process.cpuUsage(started);
    cpu.push((user + system) / 1_000);
    return placed;
  };
  const places = timed(work);
  let utilisation = utilisationMax(work, places);
  let violations = zoneViolations(work, places);
  const ratios: number[] = [];
  let moves = 0;
  let unavoidable = 0;
  for (const [i, { node }] of work.nodes.entries()) {
    if (i % peerLossEvery !== 0) continue;
    const left = withoutNode(work, node);
    const after = timed(left);
    const moved = newcomers(places, after, work.replicas);
    utilisation = Math.max(utilisation, utilisationMax(left, after));
    violations = Math.max(violations, zoneViolations(left, after));
    moves += moved;
    unavoidable += heldBy(places, node);
    ratios.push(moved / Math.max(1, heldBy(places, node)));
  }
  context.progress(`${name}: highest utilisation ${utilisation.toFixed(3)} × average`);
  return {
    utilisationMax: utilisation,
    zoneViolations: violations,
    movesRatio: moves / unavoidable,
    movesRatioP50: median(ratios),
    movesRatioMax: Math.max(...ratios),
    planCpuMs: median(cpu.slice(1)),
  };
}

/** How many nodes get a shard that they did not have: replicas that only change their numbers have not moved. */
function newcomers(before: Places, after: Places, replicas: number): number {
  let count = 0;
  for (let first = 0; first < after.length; first += replicas) {
    const had = before.slice(first, first + replicas);
    for (const node of after.slice(first, first + replicas)) if (!had.includes(node)) count += 1;
  }
  return count;
}

function heldBy(places: Places, node: string): number {
  return places.reduce((count, place) => count + (place === node ? 1 : 0), 0);
}

function format(ms: number): string {
  return ms.toFixed(0);
}
