import { hash } from "../hash.ts";
import type { BalancedInput, BalancedMember } from "./input.ts";
import { average, weigh, type Average } from "./weights.ts";
import { zoneAverages, zoneLevel } from "./zones.ts";

/**
 * What does not change while a plan is made: the members, what replicas weigh and cost, and the band that each node should be in. Members are sorted,
 * so that their order in the input does not matter, and named by index; per-member and per-dimension numbers are flat, `member × dimensions + dimension`.
 *
 * A node's *height* is its utilisation as a multiple of the fleet's average, in the dimension where that is highest.
 */
export class Fleet {
  readonly input: BalancedInput;
  readonly members: readonly BalancedMember[];
  readonly nodes: number;
  readonly replicas: number;
  readonly dimensions: number;
  /** All replicas of all shards. */
  readonly count: number;

  /** 1 for members that may get replicas. */
  readonly open: Uint8Array;
  readonly openCount: number;
  /** Some members have been restarted and some not; `fresh` is 1 for those that have. */
  readonly rolling: boolean;
  readonly fresh: Uint8Array;
  readonly zones: readonly string[];
  readonly zoneOf: Int32Array;
  /** The most replicas of one shard in one zone. */
  readonly level: number;
  /** Breaks ties between nodes. */
  readonly turn: Float64Array;

  readonly averages: readonly Average[];
  readonly needs: Float64Array;
  readonly weights: Float64Array;
  readonly costs: Float64Array;
  /** Height per weight; 0 for members that are not open. */
  readonly scale: Float64Array;
  readonly hard: boolean;
  /** Capacity in hard dimensions, Infinity in others. */
  readonly limit: Float64Array;

  /** The band of each member, in heights: above `top` it hands over until `settleTop`, below `bottom` it gets until `settleBottom`. */
  readonly top: Float64Array;
  readonly settleTop: Float64Array;
  readonly bottom: Float64Array;
  readonly settleBottom: Float64Array;

  readonly #indices: ReadonlyMap<string, number>;

  constructor(input: BalancedInput) {
    this.input = input;
    this.members = [...input.members].sort((a, b) => (a.node < b.node ? -1 : 1));
    this.#indices = new Map(this.members.map(({ node }, index) => [node, index]));
    this.nodes = this.members.length;
    this.replicas = input.replicas;
    this.dimensions = input.dimensions.length;
    this.count = input.shards.length * input.replicas;

    const opened = this.members.filter(isOpen);
    this.open = Uint8Array.from(this.members, (member) => (isOpen(member) ? 1 : 0));
    this.openCount = opened.length;
    this.rolling =
      opened.some(({ restarted }) => restarted) && this.members.some(({ restarted }) => !restarted);
    this.fresh = Uint8Array.from(this.members, ({ restarted }) => (this.rolling && restarted ? 1 : 0));
    this.zones = [...new Set(this.members.map(({ zone }) => zone))];
    this.zoneOf = Int32Array.from(this.members, ({ zone }) => this.zones.indexOf(zone));
    this.turn = Float64Array.from(this.members, ({ node }) => hash(node, input.viewN));

    const { needs, weights } = weigh(input.loads, this.dimensions);
    this.needs = needs;
    this.weights = weights;
    this.costs = costsOf(input, this.count);
    this.averages = input.dimensions.map((_, d) => average(input, opened, weights, d));
    this.hard = input.dimensions.some(({ hard }) => hard);
    this.scale = new Float64Array(this.nodes * this.dimensions);
    this.limit = new Float64Array(this.nodes * this.dimensions).fill(Infinity);
    for (const [node, { capacity }] of this.members.entries()) {
      for (const [d, { hard }] of input.dimensions.entries()) {
        const flat = node * this.dimensions + d;
        if (hard) this.limit[flat] = capacity[d]!;
        if (this.open[node]) this.scale[flat] = 1 / (capacity[d]! * this.averages[d]!.value);
      }
    }

    const perZone = this.zones.map((zone) => opened.filter((member) => member.zone === zone).length);
    this.level = zoneLevel(perZone, this.replicas);
    const { ceilingShare, floorShare } = input.limits;
    const reach = this.#reach(opened, perZone);
    const bound = (share: number, of: (reach: number) => number): Float64Array =>
      Float64Array.from(this.zoneOf, (zone) => (1 + share) * of(reach[zone]!));
    const most = (height: number): number => Math.max(1, height);
    const least = (height: number): number => Math.min(1, height);
    this.top = bound(ceilingShare, most);
    this.settleTop = bound(ceilingShare / 2, most);
    this.bottom = bound(-floorShare, least);
    this.settleBottom = bound(-floorShare / 2, least);
  }

  /** The member's index, or −1. */
  indexOf(node: string | undefined): number {
    return node === undefined ? -1 : (this.#indices.get(node) ?? -1);
  }

  /** For each zone the average height that it can reach, in its highest dimension. */
  #reach(opened: readonly BalancedMember[], perZone: readonly number[]): number[] {
    const reach = this.zones.map(() => 0);
    if (opened.length === 0) return reach;
    for (let d = 0; d < this.dimensions; d++) {
      const capacity = (members: readonly BalancedMember[]): number =>
        members.reduce((sum, member) => sum + member.capacity[d]!, 0);
      const all = capacity(opened);
      const shares = this.zones.map(
        (zone) => capacity(opened.filter((member) => member.zone === zone)) / all,
      );
      for (const [zone, height] of zoneAverages(perZone, shares, this.replicas).entries())
        reach[zone] = Math.max(reach[zone]!, height);
    }
    return reach;
  }
}

function isOpen(member: BalancedMember): boolean {
  return !member.draining && member.capacity.every((value) => value > 0);
}

/** A move that is said to cost nothing still costs something, so that gains per cost can be compared. */
function costsOf({ costs }: BalancedInput, count: number): Float64Array {
  if (costs === undefined) return new Float64Array(count).fill(1);
  const given = Float64Array.from(costs);
  let sum = 0;
  for (const cost of given) sum += cost;
  const least = sum > 0 ? (sum / count) * 1e-3 : 1;
  return given.map((cost) => Math.max(cost, least));
}
