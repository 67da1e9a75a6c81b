/**
 * The job queue beside its peers: durable lifecycles a second (enqueue, lease, complete, each acknowledged), how soon a lone job starts, and the CPU of everybody.
 * Server, producers and workers are separate processes over TCP; payload, counts, batches and concurrency are the same for all.
 */
import { parseArgs } from "node:util";
import { ensureServers } from "@keelson/testkit/servers";
import type { Bench, BenchContext, BenchResult } from "./bench.ts";
import { keelson, keelsonKept, peers } from "./jobs/contenders.ts";
import { measureGrants } from "./jobs/grants.ts";
import type { JobsLoad } from "./jobs/measure.ts";
import { measureNoisy } from "./jobs/noisy.ts";
import { measureInTurns, type Measured } from "./jobs/rounds.ts";
import { countSyncs } from "./jobs/syncs.ts";
import { badOption, wholeNumber } from "./options.ts";

/** Smaller, because every system call is seen. */
const SYNC_JOBS = 2_000;

const jobs: Bench = {
  name: "jobs",
  title: "durable job lifecycles, beside BullMQ, pg-boss and graphile-worker",
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: {
        jobs: { type: "string", default: "50000" },
        producers: { type: "string", default: "2" },
        workers: { type: "string", default: "2" },
        concurrency: { type: "string", default: "100" },
        bytes: { type: "string", default: "200" },
        rounds: { type: "string", default: "3" },
        "no-peers": { type: "boolean", default: false },
        only: { type: "string" },
      },
    });
    const load: JobsLoad = {
      jobs: wholeNumber("jobs", values.jobs, 100, 10_000_000),
      producers: wholeNumber("producers", values.producers, 1, 64),
      workers: wholeNumber("workers", values.workers, 1, 64),
      concurrency: wholeNumber("concurrency", values.concurrency, 1, 10_000),
      payloadBytes: wholeNumber("bytes", values.bytes),
      warmJobs: 10_000,
      batch: 100,
      inflight: 4,
      pacedJobs: 300,
      pacedPerSec: 100,
    };
    const rounds = wholeNumber("rounds", values.rounds, 1, 100);
    if (values.only !== undefined) return lifecyclesOf(context, values.only.split(","), load, rounds);
    const { progress } = context;
    const contenders = [keelson, keelsonKept, ...(values["no-peers"] ? [] : peers)];
    if (!values["no-peers"]) await ensureServers(["redis", "postgres"], progress);
    const { figures, ...rest } = resultOf(load, await measureInTurns({ contenders, load, rounds, progress }));
    const fsyncs = await countSyncs({ ...load, jobs: SYNC_JOBS, warmJobs: 100 });
    progress(`fdatasyncs for ${SYNC_JOBS} jobs, counted by strace: ${fsyncs}`);
    const grants = await measureGrants({ waiters: 100_000, keys: 10_000, limitsPerJob: 3, tenants: 10 });
    progress(`places of limits: ${JSON.stringify(grants)}`);
    const noisy = await measureNoisy({ backlog: 1_000_000, places: 40, jobMs: 40, seconds: 6 });
    progress(`a noisy neighbour: ${JSON.stringify(noisy)}`);
    return { figures: { ...figures, fsyncs, fsyncJobs: SYNC_JOBS, ...grants, ...noisy }, ...rest };
  },
};

export default jobs;

/** Lifecycles of the systems that are named, and nothing else. */
async function lifecyclesOf(
  { progress }: BenchContext,
  names: readonly string[],
  load: JobsLoad,
  rounds: number,
): Promise<BenchResult> {
  const all = [keelson, keelsonKept, ...peers];
  const odd = names.find((name) => all.every((each) => each.name !== name));
  if (odd !== undefined)
    throw badOption(`--only ${odd}: there are ${all.map(({ name }) => name).join(", ")}`);
  if (peers.some(({ name }) => names.includes(name))) await ensureServers(["redis", "postgres"], progress);
  const contenders = all.filter(({ name }) => names.includes(name));
  return resultOf(load, await measureInTurns({ contenders, load, rounds, progress }));
}

function resultOf(load: JobsLoad, measured: ReadonlyMap<string, Measured | Error>): BenchResult {
  const figures: Record<string, number> = { jobs: load.jobs };
  const others: Record<string, Readonly<Record<string, number>>> = {};
  const broken: string[] = [];
  for (const [name, each] of measured) {
    if (each instanceof Error) broken.push(`${name} could not be measured: ${each.message}`);
    if (peers.some((peer) => peer.name === name))
      others[name] = each instanceof Error ? { failed: 1 } : { ...each };
    else
      for (const [figure, value] of each instanceof Error ? [] : Object.entries(each))
        figures[name === keelson.name ? figure : `kept.${figure}`] = value as number;
  }
  return { figures, peers: others, broken };
}
