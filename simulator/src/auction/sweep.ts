import { ALL_RULES, auctionTerms, terms as defaultTerms } from "@keelson/kernel";
import { rulesWithout } from "../breaks.ts";
import { realNode, realRouter } from "../drivers.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { Simulation } from "../simulation.ts";
import { Measures, quantile } from "./measures.ts";

/** One thing that the report turns, and the values it takes. All else stays as the scenario has it. */
export interface Dial {
  readonly name: string;
  readonly unit: string;
  readonly values: readonly number[];
  set(scenario: Scenario, value: number): Scenario;
}

/** What one turn of one dial led to. */
export interface Row extends Measurement {
  readonly dial: string;
  readonly value: number;
}

interface Measurement {
  readonly readyP50Ms: number;
  readonly readyP99Ms: number;
  readonly unclaimedSeconds: number;
  readonly rebuiltGib: number;
  readonly meanNodes: number;
  readonly violations: number;
}

const withTerms = (scenario: Scenario, terms: Scenario["terms"]): Scenario => ({
  ...scenario,
  terms: { ...scenario.terms, ...terms },
});

const withAuction = (scenario: Scenario, placement: Readonly<Record<string, number>>): Scenario => {
  const { repositories } = scenario;
  if (!repositories) return scenario;
  return {
    ...scenario,
    repositories: { ...repositories, placement: { ...repositories.placement, ...placement } },
  };
};

export const DIALS: readonly Dial[] = [
  {
    name: "ttl",
    unit: "s",
    values: [5, 10, 30, 60],
    set: (scenario, value) => withTerms(scenario, { ttlMs: 1_000 * value }),
  },
  {
    name: "window",
    unit: "s",
    values: [1, 5, 15, 60],
    set: (scenario, value) => withAuction(scenario, { windowMs: 1_000 * value }),
  },
  {
    name: "parallelism",
    unit: "builds",
    values: [1, 2, 4, 8, 16],
    set: (scenario, value) => withTerms(scenario, { opensMax: value }),
  },
  {
    name: "empties",
    unit: "rounds",
    values: [1, 3, 5, 8],
    set: (scenario, value) => withAuction(scenario, { emptiesMax: value }),
  },
  {
    name: "drain-below",
    unit: "share",
    values: [0.7, 0.8, 0.9],
    set: withDrainBelow,
  },
];

function withDrainBelow(scenario: Scenario, drainBelow: number): Scenario {
  const { repositories } = scenario;
  if (!repositories) return scenario;
  return {
    ...scenario,
    repositories: { ...repositories, autoscaler: { ...repositories.autoscaler, drainBelow } },
  };
}

/** What the dials stand at where they are not turned: values that the scenario leaves to the defaults are written out, so that equal runs are seen to be equal. */
function asItStands(scenario: Scenario): Scenario {
  const { ttlMs, opensMax } = defaultTerms(scenario.terms);
  const { windowMs, emptiesMax } = auctionTerms(scenario.repositories?.placement ?? {});
  return withAuction(withTerms(scenario, { ttlMs, opensMax }), { windowMs, emptiesMax });
}

/** Runs the scenario once for each value of each dial, on the same seeds, and measures it. `onRow` is told of each as it is done. */
export async function sweep(
  scenario: Scenario,
  seeds: readonly number[],
  hours: number,
  onRow: (row: Row) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  // Every dial has one value at which it is not turned: that run is made once.
  const done = new Map<string, Measurement>();
  const base = asItStands(scenario);
  for (const dial of DIALS)
    for (const value of dial.values) {
      const turned = dial.set(base, value);
      const name = JSON.stringify([turned.terms, turned.repositories]);
      const measured = done.get(name) ?? (await measure(turned, seeds, hours));
      done.set(name, measured);
      const row = { dial: dial.name, value, ...measured };
      rows.push(row);
      onRow(row);
    }
  return rows;
}

async function measure(scenario: Scenario, seeds: readonly number[], hours: number): Promise<Measurement> {
  const readyMs: number[] = [];
  let unclaimed = 0;
  let rebuilt = 0;
  let nodes = 0;
  let violations = 0;
  for (const seed of seeds) {
    let measures: Measures | undefined;
    const simulation = new Simulation({
      scenario,
      seed,
      own: rulesWithout(undefined)!.own,
      makeNode: (surroundings) => realNode(surroundings, ALL_RULES),
      makeRouter: realRouter,
      watch: (scene) => [(measures = new Measures(scene))],
    });
    // Trouble begins after three TTLs, and lasts equally long whatever the TTL is.
    await simulation.run(hours * 3_600_000 + 3 * (scenario.terms.ttlMs ?? defaultTerms().ttlMs));
    if (!measures) throw new Error("the run was not measured");
    const { measured } = measures;
    readyMs.push(...measured.readyMs);
    unclaimed += measured.unclaimedSeconds;
    rebuilt += measured.rebuiltBytes;
    nodes += measured.meanNodes;
    violations += simulation.violations.length;
  }
  const sorted = readyMs.toSorted((a, b) => a - b);
  return {
    readyP50Ms: quantile(sorted, 0.5),
    readyP99Ms: quantile(sorted, 0.99),
    unclaimedSeconds: unclaimed / seeds.length / hours,
    rebuiltGib: rebuilt / 2 ** 30 / seeds.length / hours,
    meanNodes: nodes / seeds.length,
    violations,
  };
}
