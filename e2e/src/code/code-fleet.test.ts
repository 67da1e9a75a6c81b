/**
 * The code service as real processes on real stores, under query load, with `kill -9`: the short form of what `npm run bench -- code-fleet` runs with eight nodes and two hundred
 * repositories. KEELSON_CODE_FULL=1 runs the large one here.
 */
import { afterEach, expect, test } from "vitest";
import { CodeRun, type RunTerms, type Trial } from "./code-run.ts";
import { oneReplicaTrial } from "./one-replica-trial.ts";
import { outageTrial } from "./outage-trial.ts";
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

interface Case {
  readonly store: RunTerms["store"];
  readonly replicas: number;
  readonly what: string;
  /** One after the other. */
  readonly trials: readonly ((run: CodeRun) => Promise<Trial>)[];
}

const ALL = (["redis", "etcd"] as const).flatMap((store): Case[] => [
  {
    store,
    replicas: 2,
    what: "with two replicas neither a kill -9 nor an outage of the store under load fails an answer or makes one wrong",
    trials: [(of) => twoReplicasTrial(of, FULL), (of) => outageTrial(of, FULL)],
  },
  {
    store,
    replicas: 1,
    what: "with one replica every gap is said to be one, and closes",
    trials: [(of) => oneReplicaTrial(of, BUILD_MS, FULL)],
  },
]);
/** In short form each store has one of the two. */
const CASES = FULL ? ALL : ALL.filter(({ store, replicas }) => (store === "redis") === (replicas === 2));

for (const { store, replicas, what, trials } of CASES)
  test(
    `on ${store}, ${what}`,
    async () => {
      run = await CodeRun.start({ ...TERMS, store }, { replicas });
      await run.fill();
      for (const trial of trials) expect(await trial(run)).toMatchObject({ broken: [] });
    },
    TEST_MS,
  );
