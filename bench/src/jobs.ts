/**
 * The job queue beside its peers: durable lifecycles a second (enqueue, lease, complete, each acknowledged), how soon a lone job starts, and the CPU of everybody.
 * Server, producers and workers are separate processes over TCP; payload, counts, batches and concurrency are the same for all.
 */
import { parseArgs } from "node:util";
import { ensureServers } from "@keelson/testkit/servers";
import type { Bench, BenchContext, BenchResult } from "./bench.ts";
import { keelson, peers, type Contender } from "./jobs/contenders.ts";
import { measureGrants } from "./jobs/grants.ts";
import { measureLifecycle, type JobsLoad, type Lifecycle } from "./jobs/measure.ts";
import { measureNoisy } from "./jobs/noisy.ts";
import { countSyncs } from "./jobs/syncs.ts";
import { badOption, wholeNumber } from "./options.ts";

/** Smaller, because every system call is seen. */
const SYNC_JOBS = 2_000;
const PEER_TRIES = 3;

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
    if (values.only !== undefined) return lifecyclesOf(context, values.only.split(","), load);
    if (!values["no-peers"]) await ensureServers(["redis", "postgres"], context.progress);
    const ours = await measure(context, keelson, load);
    const fsyncs = await countSyncs({ ...load, jobs: SYNC_JOBS, warmJobs: 100 });
    context.progress(`fdatasyncs for ${SYNC_JOBS} jobs, counted by strace: ${fsyncs}`);
    const grants = await measureGrants({ waiters: 100_000, keys: 10_000, limitsPerJob: 3, tenants: 10 });
    context.progress(`places of limits: ${JSON.stringify(grants)}`);
    const noisy = await measureNoisy({ backlog: 1_000_000, places: 40, jobMs: 40, seconds: 6 });
    context.progress(`a noisy neighbour: ${JSON.stringify(noisy)}`);
    return {
      figures: { jobs: load.jobs, ...ours, fsyncs, fsyncJobs: SYNC_JOBS, ...grants, ...noisy },
      ...(await measurePeers(context, values["no-peers"] ? [] : peers, load)),
    };
  },
};

export default jobs;

/** Lifecycles of the systems that are named, and nothing else. */
async function lifecyclesOf(
  context: BenchContext,
  names: readonly string[],
  load: JobsLoad,
): Promise<BenchResult> {
  const contenders = [keelson, ...peers];
  const odd = names.find((name) => contenders.every((each) => each.name !== name));
  if (odd !== undefined)
    throw badOption(`--only ${odd}: there are ${contenders.map(({ name }) => name).join(", ")}`);
  if (names.some((name) => name !== keelson.name))
    await ensureServers(["redis", "postgres"], context.progress);
  const ours = names.includes(keelson.name) ? await measure(context, keelson, load) : {};
  const others = peers.filter(({ name }) => names.includes(name));
  return { figures: { jobs: load.jobs, ...ours }, ...(await measurePeers(context, others, load)) };
}

async function measurePeers(
  context: BenchContext,
  contenders: readonly Contender[],
  load: JobsLoad,
): Promise<Pick<BenchResult, "peers" | "broken">> {
  const measured: Record<string, Readonly<Record<string, number>>> = {};
  const broken: string[] = [];
  for (const peer of contenders) {
    const figures = await measurePeer(context, peer, load);
    measured[peer.name] = figures instanceof Error ? { failed: 1 } : { ...figures };
    if (figures instanceof Error) broken.push(`${peer.name} could not be measured: ${figures.message}`);
  }
  return { peers: measured, broken };
}

/** A peer that fails is tried again, and must not cost the figures of the others. */
async function measurePeer(
  context: BenchContext,
  peer: Contender,
  load: JobsLoad,
): Promise<Lifecycle | Error> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await measure(context, peer, load);
    } catch (error) {
      const problem = error instanceof Error ? error : new Error(String(error));
      context.progress(`${peer.name} failed: ${problem.message}`);
      if (tries >= PEER_TRIES) return problem;
    }
  }
}

async function measure({ progress }: BenchContext, contender: Contender, load: JobsLoad): Promise<Lifecycle> {
  const running = await contender.start();
  try {
    const measured = await measureLifecycle(running, load);
    progress(`${contender.name}: ${JSON.stringify(measured)}`);
    return measured;
  } finally {
    await running.stop();
  }
}
