import { describe, expect, test } from "vitest";
import { chanceOf, member, memberList, Scene, zipf } from "./fixtures/scene.ts";
import { zoneAverages } from "./zones.ts";

type Kind = "loss" | "drain" | "join" | "drift" | "hot";

/** What one change of the fleet led to, once its plans had been carried out and nothing moved any more. */
interface Outcome {
  readonly kind: Kind;
  /** The highest utilisation, as a multiple of what even spreading would give that node's zone. */
  readonly imbalance: number;
  readonly moves: number;
  /** Replicas that had to move: what the node held that went. */
  readonly must: number;
}

const shards = 300;
const replicas = 2;
const perSeed = 40;

/** A fleet of 300 shards × 2 replicas with Zipf loads on about 12 nodes of two capacities in 4 zones, which changes 40 times. */
function* chaos(seed: number): Iterable<Outcome> {
  const chance = chanceOf(seed);
  const roll = (sides: number): number => Math.floor(chance() * sides);
  const members = memberList(12, 4).map((one, i) => ({ ...one, capacity: [1 + (i % 2)] }));
  const scene = new Scene({ members, loads: zipf(shards, 0.8, chance), replicas });
  scene.settle();
  for (let change = 0; change < perSeed; change++) {
    const kind = drawKind(chance(), scene.members.length);
    const must = apply(kind, scene, change, roll, chance);
    const moves = scene.settle().length;
    scene.members = scene.members.filter(({ draining }) => !draining);
    yield { kind, imbalance: imbalance(scene), moves, must };
  }
}

function drawKind(value: number, size: number): Kind {
  if (value < 0.2 && size > 9) return value < 0.1 ? "loss" : "drain";
  if (value < 0.4) return size < 15 ? "join" : "drain";
  return value < 0.7 ? "drift" : "hot";
}

/** Makes the change; how many replicas have to move for it. */
function apply(
  kind: Kind,
  scene: Scene,
  change: number,
  roll: (sides: number) => number,
  chance: () => number,
): number {
  const set = (shard: number, load: number): void => {
    for (let r = 0; r < replicas; r++) scene.loads[shard * replicas + r] = load;
  };
  if (kind === "loss" || kind === "drain") {
    const { node } = scene.members[roll(scene.members.length)]!;
    if (kind === "loss") scene.members = scene.members.filter((one) => one.node !== node);
    else scene.members = scene.members.map((one) => (one.node === node ? { ...one, draining: true } : one));
    return scene.heldBy(node);
  }
  if (kind === "join") {
    // Operators add where there is least.
    const zone = ["z0", "z1", "z2", "z3"].toSorted((a, b) => capacityOf(scene, a) - capacityOf(scene, b))[0]!;
    scene.members.push(member(`m${change}`, { zone, capacity: [1 + roll(2)] }));
  } else if (kind === "drift") {
    // Every load changes by up to a fifth, up or down.
    for (let shard = 0; shard < shards; shard++)
      set(shard, scene.loads[shard * replicas]! * (0.8 + 0.4 * chance()));
  } else {
    // A shard becomes five times as hot, up to what half of a small node can hold.
    const total = scene.loads.reduce((sum, load) => sum + load, 0);
    const shard = roll(shards);
    set(shard, Math.min(scene.loads[shard * replicas]! * 5, total * 0.03));
  }
  return 0;
}

function capacityOf(scene: Scene, zone?: string): number {
  return scene.members.reduce(
    (sum, one) => sum + (zone === undefined || one.zone === zone ? one.capacity[0]! : 0),
    0,
  );
}

/** Where zones are of unequal size, some must stand higher than the average; that is nobody's fault and not counted. */
function imbalance(scene: Scene): number {
  const zones = [...new Set(scene.members.map(({ zone }) => zone))];
  const reach = zoneAverages(
    zones.map((zone) => scene.members.filter((one) => one.zone === zone).length),
    zones.map((zone) => capacityOf(scene, zone) / capacityOf(scene)),
    replicas,
  );
  const heights = scene.heights();
  return Math.max(
    ...scene.members.map(({ node, zone }) => heights.get(node)! / Math.max(1, reach[zones.indexOf(zone)]!)),
  );
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))]!;
}

describe("balanced/1 through random changes", () => {
  const outcomes = [1, 2, 3, 4].flatMap((seed) => [...chaos(seed)]);
  const of = (kind: Kind): Outcome[] => outcomes.filter((outcome) => outcome.kind === kind);

  test("stays in the band", () => {
    const found = outcomes.map((outcome) => outcome.imbalance);
    expect(found).toHaveLength(4 * perSeed);
    // The ceiling is 1.04; a fleet that is in the band is left alone, so half of all outcomes are near it, and all should be below.
    // Measured 1.03.
    expect(quantile(found, 0.5)).toBeLessThanOrEqual(1.035);
    // Measured 1.04001, since a fleet that has come to rest is not disturbed again: the ceiling, and half a percent for what a local search misses.
    expect(quantile(found, 0.99)).toBeLessThanOrEqual(1.045);
    // The rarest misses are left 5 %.
    expect(Math.max(...found)).toBeLessThanOrEqual(1.09);
  });

  test("moves what a lost or drained node held, and little more", () => {
    const lost = [...of("loss"), ...of("drain")];
    expect(lost.length).toBeGreaterThan(20);
    const ratios = lost.map(({ moves, must }) => moves / must);
    expect(Math.min(...ratios)).toBeGreaterThanOrEqual(1);
    // Measured 1.03; the bench promises 1.1 for a fleet eight times as large, where a replica is a smaller part of a node.
    expect(quantile(ratios, 0.5)).toBeLessThanOrEqual(1.1);
    // A node with one very heavy replica holds few others, and room for that one is made by moving light ones: about as many as a node holds, 50 on average.
    const more = lost.map(({ moves, must }) => moves - must);
    expect(Math.max(...more)).toBeLessThanOrEqual(50);
  });

  test("moves at most its share to a node that joins", () => {
    // A new node is filled to 0.95 of its share (halfway between floor and average), with the heaviest replicas that fit. Its share is at most
    // 2 of 11 capacities of 600 replicas, 109; heavy ones first, a third of that is ample.
    const found = of("join").map(({ moves }) => moves);
    expect(found.length).toBeGreaterThan(20);
    expect(quantile(found, 0.5)).toBeLessThanOrEqual(20);
    expect(Math.max(...found)).toBeLessThanOrEqual(36);
  });

  test("answers changes of load with a handful of moves", () => {
    // A drift by a fifth of 50 replicas per node changes a node by 0.2 / √3 / √50 = 2 % or so: most stay in the band, and one move mends the others.
    const drift = of("drift").map(({ moves }) => moves);
    expect(quantile(drift, 0.5)).toBeLessThanOrEqual(2);
    // One hot shard puts two nodes above the ceiling, each by at most 0.03 × 18 capacities = half a small node: a few of the heaviest replicas.
    const hot = of("hot").map(({ moves }) => moves);
    expect(quantile(hot, 0.5)).toBeLessThanOrEqual(2);
    // The most is a heavy replica that has outgrown a small node and is exchanged for a bundle of light ones: about what a node holds, 50.
    expect(Math.max(...drift, ...hot)).toBeLessThanOrEqual(50);
  });
});
