import type { LoadReport, Measured } from "./load-report.ts";
import { SMOOTHING_DEFAULTS, smooth, type SmoothedLoad, type SmoothingOptions } from "./smooth.ts";

/** A mean that is as near as this share to what is measured has arrived there. */
const arrivedShare = 0.01;

interface Load {
  smoothed: SmoothedLoad;
  /** What was last reported, and holds until the next report: nodes report only what has changed. */
  measured: readonly number[];
  /** When it was last smoothed. */
  at: number;
}

/**
 * The loads of a service's replicas as one manager knows them: the reports of all nodes, smoothed. A load belongs to the replica and not to the node that
 * measured it, so that it stays known while the replica moves. A new manager begins with an empty book and takes the first reports as they are.
 */
export class LoadBook {
  readonly #options: SmoothingOptions;
  readonly #loads = new Map<string, Load>();
  /** Those whose mean is still on its way to what was measured. */
  readonly #moving = new Set<string>();
  readonly #read = new Map<string, number>();
  readonly #budgets = new Map<string, number>();
  #version = 0;

  constructor(options: SmoothingOptions = SMOOTHING_DEFAULTS) {
    this.#options = options;
  }

  /** Rises when what plans are made with has changed. */
  get version(): number {
    return this.#version;
  }

  /** Whether this report, by its revision, has been taken in. */
  knows(node: string, revision: number): boolean {
    return this.#read.get(node) === revision;
  }

  /** Takes in what a node reports. `held` are the replicas it has, as `<shard>/<replica>`: those that the report does not list are like its rest. */
  take(node: string, revision: number, report: LoadReport, held: Iterable<string>, now: number): void {
    this.#read.set(node, revision);
    const { budgetBytes, heaviest, rest } = report;
    if (budgetBytes !== undefined && this.#budgets.get(node) !== budgetBytes) {
      this.#budgets.set(node, budgetBytes);
      this.#version++;
    }
    for (const [name, measured] of Object.entries(heaviest)) this.#measured(name, measured, now);
    if (rest.count === 0) return;
    for (const name of held) if (!Object.hasOwn(heaviest, name)) this.#measured(name, rest.each, now);
  }

  /** Lets the time that has passed count: what was measured last has gone on. */
  advance(now: number): void {
    for (const name of this.#moving) this.#smooth(name, this.#loads.get(name)!, now);
  }

  /** Forgets replicas and nodes that are no more, once there are enough of them to matter. */
  keepOnly(names: readonly string[], nodes: readonly string[]): void {
    if (this.#loads.size > names.length) {
      const listed = new Set(names);
      for (const name of this.#loads.keys()) {
        if (listed.has(name)) continue;
        this.#loads.delete(name);
        this.#moving.delete(name);
      }
    }
    if (this.#budgets.size <= 2 * nodes.length && this.#read.size <= 2 * nodes.length) return;
    for (const node of [...this.#budgets.keys(), ...this.#read.keys()]) {
      if (nodes.includes(node)) continue;
      this.#budgets.delete(node);
      this.#read.delete(node);
    }
  }

  budgetBytes(node: string): number | undefined {
    return this.#budgets.get(node);
  }

  /** Loads and bytes of the replicas, in the order of their names; NaN where not measured. */
  of(names: readonly string[]): { readonly loads: Float64Array; readonly bytes: Float64Array } {
    const loads = new Float64Array(names.length).fill(NaN);
    const bytes = new Float64Array(names.length).fill(NaN);
    for (const [i, name] of names.entries()) {
      const used = this.#loads.get(name)?.smoothed.used;
      if (!used) continue;
      loads[i] = used[0]!;
      bytes[i] = used[1]!;
    }
    return { loads, bytes };
  }

  #measured(name: string, reported: Measured, now: number): void {
    const measured = reported.map((value) => value ?? NaN);
    const known = this.#loads.get(name);
    if (known) {
      this.#smooth(name, known, now);
      known.measured = measured;
      this.#moving.add(name);
      return;
    }
    this.#loads.set(name, { smoothed: smooth(undefined, measured, 0, this.#options), measured, at: now });
    this.#version++;
  }

  #smooth(name: string, load: Load, now: number): void {
    const { used } = load.smoothed;
    load.smoothed = smooth(load.smoothed, load.measured, now - load.at, this.#options);
    load.at = now;
    if (load.smoothed.used.some((value, d) => !Object.is(value, used[d]))) this.#version++;
    if (load.smoothed.mean.every((mean, d) => arrived(mean, load.measured[d]!))) this.#moving.delete(name);
  }
}

function arrived(mean: number, measured: number): boolean {
  return Number.isNaN(measured) || Math.abs(mean - measured) <= arrivedShare * Math.max(mean, measured);
}
