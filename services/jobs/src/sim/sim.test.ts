import { describe, expect, it } from "vitest";
import { runSeeds } from "./run-seeds.ts";

/** The short form; `npm run sim -- --scenario jobs --seeds 10000` is the long one. */
const SEEDS = 20;

describe("the job queue under faults", () => {
  it("keeps every promise over some seeds", () => {
    const { failed, crashes, grants } = runSeeds(1, SEEDS);
    expect(failed.map(({ seed, violations }) => ({ seed, violations }))).toEqual([]);
    expect(crashes).toBeGreaterThan(0);
    expect(grants).toBeGreaterThan(1000);
  }, 120_000);

  it("gives the same run for the same seed", () => {
    expect(runSeeds(77, 1)).toEqual(runSeeds(77, 1));
  });
});
