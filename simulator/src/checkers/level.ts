import type { SimEvent } from "../events.ts";
import { quantile } from "../auction/measures.ts";
import type { Checker, Scene } from "./checker.ts";

/**
 * Where placement goes by load: whenever the fleet has settled, no node carries much more than its capacity's share of it. The highest node is bounded each time, the median and
 * the 99th percentile of the highest nodes over the whole run.
 */
export class LevelChecker implements Checker {
  readonly name = "level";
  readonly hears: readonly SimEvent["kind"][];
  readonly #scene: Scene;
  /** The highest utilisation at each rest, as a multiple of the average, or of what the heaviest shard alone makes of a node. */
  readonly highest: number[] = [];
  #reported = false;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.hears = scene.loads ? ["settled"] : [];
  }

  on(event: SimEvent): void {
    const { ledger, loads, service } = this.#scene;
    const view = ledger.views.get(service.name)?.value;
    if (event.kind !== "settled" || !loads || !view) return;
    const carried = new Map(view.members.map(({ node }) => [node, 0]));
    let total = 0;
    let heaviest = 0;
    for (const replica of service.replicas) {
      const load = loads.of(replica.split("/")[1]!);
      total += load;
      heaviest = Math.max(heaviest, load);
      const node = ledger.tenures.get(replica)?.value.node;
      if (node !== undefined) carried.set(node, (carried.get(node) ?? 0) + load);
    }
    const average = total / view.members.reduce((sum, { weight }) => sum + weight, 0);
    // A shard that is heavier than a whole node's share cannot be helped; the rest must be level all the same.
    const weightMax = Math.max(...view.members.map(({ weight }) => weight));
    const unavoidable = Math.max(1, heaviest / weightMax / average);
    const top = view.members
      .filter(({ weight }) => weight > 0)
      .map(({ node, weight }) => ({ node, height: carried.get(node)! / weight / average / unavoidable }))
      .reduce((a, b) => (a.height >= b.height ? a : b));
    this.highest.push(top.height);
    if (top.height > heightMax)
      this.#scene.report(
        this.name,
        top.node,
        `it carries ${top.height.toFixed(3)} times the average, more than ${heightMax}`,
      );
    this.#checkAll();
  }

  #checkAll(): void {
    if (this.#reported || this.highest.length < samplesMin) return;
    const sorted = this.highest.toSorted((a, b) => a - b);
    for (const [share, most] of bounds) {
      const found = quantile(sorted, share);
      if (found <= most) continue;
      this.#reported = true;
      this.#scene.report(
        this.name,
        this.#scene.service.name,
        `the ${100 * share}th percentile of the highest node is ${found.toFixed(3)}, more than ${most}`,
      );
    }
  }
}

/**
 * The ceiling is 1.04, for loads as plans see them; these differ from the truth by up to the hysteresis. A fleet in the band is left alone, so half are near the ceiling and
 * below. Measured over 21 hours on 7 seeds: medians of 1.02 to 1.03, and 1.046 at most. The rarest misses are left 5 %, as in the placement's own tests.
 */
const bounds = [
  [0.5, 1.04],
  [0.99, 1.07],
] as const;
const heightMax = 1.09;
/** Fewer say nothing about a percentile. */
const samplesMin = 20;
