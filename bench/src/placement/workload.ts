/** What every placement in the bench has to place: shards whose loads follow Zipf's law on nodes of two capacities in four zones. */

export interface BenchNode {
  readonly node: string;
  readonly zone: string;
  readonly capacity: number;
}

export interface Workload {
  readonly shards: readonly string[];
  readonly replicas: number;
  /** Per replica, shard by shard: a shard's load is split evenly over its replicas. */
  readonly loads: Float64Array;
  readonly nodes: readonly BenchNode[];
}

/** Where each replica is, shard by shard. */
export type Places = readonly string[];

const zones = 4;

export function workload(options: {
  readonly shards: number;
  readonly nodes: number;
  readonly replicas: number;
  readonly exponent: number;
  readonly seed: number;
}): Workload {
  const { replicas } = options;
  const ranks = shuffled(options.shards, chanceOf(options.seed));
  const loads = new Float64Array(options.shards * replicas);
  for (const [shard, rank] of ranks.entries())
    loads.fill((rank + 1) ** -options.exponent / replicas, shard * replicas, (shard + 1) * replicas);
  const nodes = Array.from({ length: options.nodes }, (_, i) => ({
    node: `node-${String(i).padStart(3, "0")}`,
    zone: `zone-${i % zones}`,
    // Every zone has as many of either kind.
    capacity: 1 + (Math.floor(i / zones) % 2),
  }));
  return { shards: Array.from(ranks.keys(), String), replicas, loads, nodes };
}

/** The highest utilisation of a node, as a multiple of the average. */
export function utilisationMax({ loads, nodes }: Workload, places: Places): number {
  const held = new Map(nodes.map(({ node }) => [node, 0]));
  let total = 0;
  for (const [index, node] of places.entries()) {
    total += loads[index]!;
    held.set(node, held.get(node)! + loads[index]!);
  }
  const average = total / nodes.reduce((sum, { capacity }) => sum + capacity, 0);
  return Math.max(...nodes.map(({ node, capacity }) => held.get(node)! / capacity / average));
}

/** Shards with two replicas in one zone. */
export function zoneViolations({ nodes, replicas }: Workload, places: Places): number {
  const zoneOf = new Map(nodes.map(({ node, zone }) => [node, zone]));
  let violations = 0;
  for (let first = 0; first < places.length; first += replicas) {
    const used = new Set(places.slice(first, first + replicas).map((node) => zoneOf.get(node)));
    if (used.size < replicas) violations += 1;
  }
  return violations;
}

export function withoutNode(work: Workload, gone: string): Workload {
  return { ...work, nodes: work.nodes.filter(({ node }) => node !== gone) };
}

/** Mulberry32: a seed repeats the run. */
function chanceOf(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function shuffled(count: number, chance: () => number): number[] {
  const list = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(chance() * (i + 1));
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}
