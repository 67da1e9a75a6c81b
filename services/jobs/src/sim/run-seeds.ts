/** Runs many seeds, and sums them up. */
import type { JobsBreak } from "./breaks.ts";
import { World, type RunReport } from "./world.ts";

export interface SeedsReport {
  readonly seeds: number;
  readonly failed: readonly RunReport[];
  readonly jobs: number;
  readonly grants: number;
  readonly crashes: number;
  readonly checkpoints: number;
  readonly applies: number;
}

/** `broken` is a rule to do without. */
export function runSeeds(first: number, count: number, failuresMax = 10, broken?: JobsBreak): SeedsReport {
  const failed: RunReport[] = [];
  const sum = { seeds: 0, jobs: 0, grants: 0, crashes: 0, checkpoints: 0, applies: 0 };
  for (let seed = first; seed < first + count && failed.length < failuresMax; seed++) {
    const report = runSeed(seed, broken);
    sum.seeds += 1;
    sum.jobs += report.jobs;
    sum.grants += report.grants;
    sum.crashes += report.crashes;
    sum.checkpoints += report.checkpoints;
    sum.applies += report.applies;
    if (report.violations.length > 0) failed.push(report);
  }
  return { ...sum, failed };
}

export function runSeed(seed: number, broken?: JobsBreak): RunReport {
  const world = new World(seed, broken);
  try {
    return world.run();
  } catch (error) {
    const { knobs } = world;
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const none = { jobs: 0, grants: 0, crashes: 0, checkpoints: 0, applies: 0 };
    return { seed, knobs, violations: [...world.checker.violations, `the engine failed: ${said}`], ...none };
  }
}
