import { describe, expect, it } from "vitest";
import { JOBS_BREAKS, type JobsBreak } from "./breaks.ts";
import { runSeeds } from "./run-seeds.ts";

/** The short form; `npm run sim -- --scenario jobs --seeds 10000` is the long one. */
const SEEDS = 20;
/** A broken rule shows in one of these; most of them in the first few. */
const BROKEN_SEEDS = 60;

describe("the job queue under faults", () => {
  it("keeps every promise over some seeds", () => {
    const { failed, crashes, grants } = runSeeds(1, SEEDS);
    expect(failed.map(({ seed, violations }) => ({ seed, violations }))).toEqual([]);
    expect(crashes).toBeGreaterThan(0);
    expect(grants).toBeGreaterThan(1000);
  }, 120_000);

  /** What a violation of each says, so that no other mistake is taken for it. */
  const CAUGHT: Readonly<Record<JobsBreak, RegExp>> = {
    "durable-answers": /was acknowledged and is lost|runs again after its success|at once/,
    "every-record": /does not give the state that wrote them|was acknowledged and is lost/,
    "full-leases": /at once/,
    "lease-deadline": /after its lease had run out/,
    "one-lease": /has two leases|the engine failed/,
    limits: /has \d+ holders/,
    "last-trigger": /nothing ran after it/,
  };

  it.each(Object.keys(JOBS_BREAKS) as JobsBreak[])(
    "notices when a rule is broken: %s",
    (rule) => {
      let seen: readonly string[] = [];
      for (let seed = 1; seed <= BROKEN_SEEDS && !seen.some((each) => CAUGHT[rule].test(each)); seed++)
        seen = runSeeds(seed, 1, 1, rule).failed.flatMap(({ violations }) => violations);
      expect(seen.filter((each) => CAUGHT[rule].test(each))).not.toEqual([]);
    },
    120_000,
  );

  it("gives the same run for the same seed", () => {
    expect(runSeeds(77, 1)).toEqual(runSeeds(77, 1));
  });
});
