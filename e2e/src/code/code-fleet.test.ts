/**
 * The code service as real processes on real stores, under query load, with `kill -9`: the short form of what `npm run bench -- code-fleet` runs with eight nodes and two hundred
 * repositories. KEELSON_CODE_FULL=1 runs the large one here.
 */
import { afterEach, describe, expect, test } from "vitest";
import { CodeRun, type RunTerms } from "./code-run.ts";
import { oneReplicaTrial } from "./one-replica-trial.ts";
import { twoReplicasTrial } from "./two-replicas-trial.ts";

const FULL = process.env["KEELSON_CODE_FULL"] === "1";
const TEST_MS = FULL ? 600_000 : 120_000;
/** Generous, because the machine is not ours alone. */
const BUILD_MS = FULL ? 60_000 : 30_000;
const TERMS: Omit<RunTerms, "store"> = {
  nodes: FULL ? 8 : 3,
  repositories: FULL ? 200 : 12,
  // Eight processes on few cores need the time that a real fleet is given.
  ttlMs: FULL ? 10_000 : 3_000,
  memoryMb: 320,
  stepMs: TEST_MS / 2,
};

let run: CodeRun | undefined;
afterEach(async () => {
  await run?.stop();
  run = undefined;
});

// In short form each store has one of the two.
describe.each(["redis", "etcd"] as const)("on %s", (store) => {
  test.runIf(FULL || store === "redis")(
    "with two replicas a kill -9 under load fails no answer and makes none wrong",
    async () => {
      run = await CodeRun.start({ ...TERMS, store }, { replicas: 2 });
      await run.fill();
      expect(await twoReplicasTrial(run, FULL)).toMatchObject({ broken: [] });
    },
    TEST_MS,
  );

  test.runIf(FULL || store === "etcd")(
    "with one replica every gap is said to be one, and closes",
    async () => {
      run = await CodeRun.start({ ...TERMS, store });
      await run.fill();
      expect(await oneReplicaTrial(run, BUILD_MS, FULL)).toMatchObject({ broken: [] });
    },
    TEST_MS,
  );
});
