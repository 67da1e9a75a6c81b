/**
 * The job queue beside its peers: durable lifecycles a second (enqueue, lease, complete, each acknowledged), how soon a lone job starts, and the CPU of everybody.
 * Server, producers and workers are separate processes over TCP; payload, counts, batches and concurrency are the same for all.
 */
import { parseArgs } from "node:util";
import { ensureServers } from "@keelson/testkit/servers";
import type { Bench, BenchContext } from "./bench.ts";
import { keelson, peers, type Contender } from "./jobs/contenders.ts";
import { measureGrants } from "./jobs/grants.ts";
import { measureLifecycle, type JobsLoad, type Lifecycle } from "./jobs/measure.ts";
import { measureNoisy } from "./jobs/noisy.ts";
import { countSyncs } from "./jobs/syncs.ts";
import { wholeNumber } from "./options.ts";

/** Smaller, because every system call is seen. */
const SYNC_JOBS = 2_000;

const jobs: Bench = {
  name: "jobs",
  title: "durable job lifecycles, beside BullMQ, pg-boss and graphile-worker",
  async run(context) {
    const { values } = parseArgs({
      args: [...context.args],
      options: {
        jobs: { type: "string", default: "20000" },
        producers: { type: "string", default: "2" },
        workers: { type: "string", default: "2" },
        concurrency: { type: "string", default: "100" },
        bytes: { type: "string", default: "200" },
        "no-peers": { type: "boolean", default: false },
      },
    });
    const load: JobsLoad = {
      jobs: wholeNumber("jobs", values.jobs, 100, 10_000_000),
      producers: wholeNumber("producers", values.producers, 1, 64),
      workers: wholeNumber("workers", values.workers, 1, 64),
      concurrency: wholeNumber("concurrency", values.concurrency, 1, 10_000),
      payloadBytes: wholeNumber("bytes", values.bytes),
      warmJobs: 2_000,
      batch: 100,
      inflight: 4,
      pacedJobs: 300,
      pacedPerSec: 100,
    };
    if (!values["no-peers"]) await ensureServers(["redis", "postgres"], context.progress);
    const ours = await measure(context, keelson, load);
    const fsyncs = await countSyncs({ ...load, jobs: SYNC_JOBS, warmJobs: 100 });
    context.progress(`fdatasyncs for ${SYNC_JOBS} jobs, counted by strace: ${fsyncs}`);
    const grants = await measureGrants({ waiters: 100_000, keys: 10_000, limitsPerJob: 3, tenants: 10 });
    context.progress(`places of limits: ${JSON.stringify(grants)}`);
    const noisy = await measureNoisy({ backlog: 1_000_000, places: 40, jobMs: 40, seconds: 6 });
    context.progress(`a noisy neighbour: ${JSON.stringify(noisy)}`);
    const measured: Record<string, Lifecycle> = {};
    for (const peer of values["no-peers"] ? [] : peers)
      measured[peer.peer ?? ""] = await measure(context, peer, load);
    return {
      figures: { jobs: load.jobs, ...ours, fsyncs, fsyncJobs: SYNC_JOBS, ...grants, ...noisy },
      peers: Object.fromEntries(Object.entries(measured).map(([name, figures]) => [name, { ...figures }])),
    };
  },
};

export default jobs;

async function measure({ progress }: BenchContext, contender: Contender, load: JobsLoad): Promise<Lifecycle> {
  const running = await contender.start();
  try {
    const measured = await measureLifecycle(running, load);
    progress(`${contender.peer ?? "keelson"}: ${JSON.stringify(measured)}`);
    return measured;
  } finally {
    await running.stop();
  }
}
