/**
 * The fleet of code search in full: node processes on a real store, generated repositories, queries without a pause, and what can go wrong with them: kill -9 with one and with
 * two replicas, a store that stands still, a drain, pushes, a flipped byte, too little memory. Every answer is judged.
 */
import { parseArgs } from "node:util";
import {
  CodeRun,
  crowdTrial,
  drainTrial,
  flipTrial,
  oneReplicaTrial,
  outageTrial,
  pushTrial,
  twoReplicasTrial,
  type RunTerms,
  type Trial,
} from "@keelson/e2e";
import { ensureServers } from "@keelson/testkit/servers";
import type { Bench } from "./bench.ts";
import { badOption, wholeNumber } from "./options.ts";

const STEP_MS = 300_000;
/** For auctions one after another, and builds from git, of what one node of eight held. */
const BUILD_MS = 20_000;
/** More than two nodes of 48 MB can hold, at 6 MB each. */
const CROWD = 18;

const codeFleet: Bench = {
  name: "code-fleet",
  title:
    "code search in many processes: kill -9 and a store outage under load, drain, push, flipped byte, too little memory",
  async run({ args, progress }) {
    const terms: RunTerms = { ...readOptions(args), progress };
    await ensureServers([terms.store], progress);
    const figures: Record<string, number> = {};
    const broken: string[] = [];
    const note = async (name: string, running: Promise<Trial>): Promise<void> => {
      const trial = await running.catch((error: unknown): Trial => ({
        figures: {},
        broken: [String(error)],
      }));
      for (const [key, value] of Object.entries(trial.figures)) figures[`${name}.${key}`] = value;
      broken.push(...trial.broken.map((each) => `${name}: ${each}`));
      progress(`${name}: ${JSON.stringify(trial.figures)}`);
      for (const each of trial.broken) progress(`BROKEN: ${each}`);
    };
    await during(CodeRun.start(terms, { replicas: 2 }), async (run) => {
      await run.fill();
      await note("twoReplicas", twoReplicasTrial(run, true));
      await note("outage", outageTrial(run, true));
    });
    await during(CodeRun.start(terms, { settings: ["verifyMs = 3000", "pollMs = 3000"] }), async (run) => {
      await run.fill();
      await note("oneReplica", oneReplicaTrial(run, BUILD_MS, true));
      await note("drain", drainTrial(run));
      await note("flip", flipTrial(run));
      await note("push", pushTrial(run));
    });
    await note("crowd", crowdTrial(terms, CROWD));
    return { figures, peers: {}, broken };
  },
};

export default codeFleet;

async function during(starting: Promise<CodeRun>, trials: (run: CodeRun) => Promise<void>): Promise<void> {
  const run = await starting;
  try {
    await trials(run);
  } finally {
    await run.stop();
  }
}

function readOptions(args: readonly string[]): RunTerms {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string", default: "redis" },
      nodes: { type: "string", default: "8" },
      repositories: { type: "string", default: "200" },
      ttl: { type: "string", default: "10000" },
      memory: { type: "string", default: "320" },
    },
  });
  const { store } = values;
  if (store !== "redis" && store !== "etcd") throw badOption(`--store ${store}: there are redis, etcd`);
  return {
    store,
    nodes: wholeNumber("nodes", values.nodes, 3, 64),
    repositories: wholeNumber("repositories", values.repositories, 10, 5_000),
    ttlMs: wholeNumber("ttl", values.ttl, 1_000, 120_000),
    memoryMb: wholeNumber("memory", values.memory, 224, 65_536),
    stepMs: STEP_MS,
  };
}
