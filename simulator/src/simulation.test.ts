import { describe, expect, it } from "vitest";
import { rulesWithout } from "./breaks.ts";
import { realNode, realRouter } from "./drivers.ts";
import { loadScenario } from "./scenario/files.ts";
import type { Scenario } from "./scenario/scenario.ts";
import { Simulation } from "./simulation.ts";

const all = rulesWithout(undefined)!;
const minuteMs = 60_000;

async function run(
  scenario: Scenario,
  seed: number,
  minutes: number,
  onTraceLine?: (line: string) => void,
): Promise<Simulation> {
  const simulation = new Simulation({
    scenario,
    seed,
    own: all.own,
    makeNode: (world) => realNode(world, all.rules),
    makeRouter: realRouter,
    ...(onTraceLine ? { onTraceLine } : {}),
  });
  await simulation.run(minutes * minuteMs);
  return simulation;
}

describe("a simulation", () => {
  it("does the same things at the same instants for the same seed, and others for another", async () => {
    const scenario = loadScenario("small-hunt");
    const [first, again, other] = [
      await run(scenario, 5, 4),
      await run(scenario, 5, 4),
      await run(scenario, 6, 4),
    ];
    expect(again.trace.hash).toBe(first.trace.hash);
    expect(again.scheduler.ran).toBe(first.scheduler.ran);
    expect(other.trace.hash).not.toBe(first.trace.hash);
  });

  it("goes the same way whether or not anybody checks it or reads its trace", async () => {
    const scenario = loadScenario("small-hunt");
    const lines: string[] = [];
    const watched = await run(scenario, 5, 3, (line) => lines.push(line));
    const alone = await run({ ...scenario, checkers: [] }, 5, 3);
    expect(alone.trace.hash).toBe(watched.trace.hash);
    expect(lines.length).toBeGreaterThan(1_000);
  });

  it("prints one line an event, in columns, in the order of time", async () => {
    const lines: string[] = [];
    await run(loadScenario("small-hunt"), 1, 0.5, (line) => lines.push(line));
    const times = lines.map((line) => {
      expect(line).toMatch(/^ *\d+\.\d{6} {2}\S+ +\S+ +\S+/);
      return Number(line.slice(0, 13));
    });
    expect(times).toEqual([...times].sort((a, b) => a - b));
  });
});

/** In simulated minutes: long enough for trouble, a quiet time and the checks that come after it. Runs of hours are for the command. */
const scenarios = [
  ["default", 7],
  ["eras", 7],
  ["planned", 7],
  ["replicas", 7],
  ["replicas-hunt", 6],
  ["small-hunt", 6],
  ["suspended", 7],
] as const;

describe.each(scenarios)("the scenario %s", (name, minutes) => {
  it.each([101, 102])("breaks no promise with seed %i", { timeout: 60_000 }, async (seed) => {
    const simulation = await run(loadScenario(name), seed, minutes);
    expect(simulation.violations).toEqual([]);
    expect(simulation.workload.counts.ok).toBeGreaterThan(1_000);
    expect(simulation.tally.settled).toBeGreaterThan(0);
  });
});
