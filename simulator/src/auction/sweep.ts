import { ALL_RULES, terms as defaultTerms } from "@keelson/kernel";
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

export interface Row {
  readonly dial: string;
  readonly value: number;
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
    values: [1, 5, 15, 60, 120],
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
];

/** Runs the scenario once for each value of each dial, on the same seeds, and measures it. `onRow` is told of each as it is done. */
export async function sweep(
  scenario: Scenario,
  seeds: readonly number[],
  hours: number,
  onRow: (row: Row) => void,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const dial of DIALS)
    for (const value of dial.values) {
      const row = await measure(dial, value, dial.set(scenario, value), seeds, hours);
      rows.push(row);
      onRow(row);
    }
  return rows;
}

async function measure(
  dial: Dial,
  value: number,
  scenario: Scenario,
  seeds: readonly number[],
  hours: number,
): Promise<Row> {
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
    dial: dial.name,
    value,
    readyP50Ms: quantile(sorted, 0.5),
    readyP99Ms: quantile(sorted, 0.99),
    unclaimedSeconds: unclaimed / seeds.length / hours,
    rebuiltGib: rebuilt / 2 ** 30 / seeds.length / hours,
    meanNodes: nodes / seeds.length,
    violations,
  };
}
