/**
 * How long it takes to open a shard of the job queue that has many finished jobs behind it and many active ones in it: what a takeover costs. The jobs are
 * imported through the queue itself, so that pages and journal are what they would be.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { ImportedJob } from "@keelson/jobs";
import { DurableQueue, NodeJournal, SlatePages, cronAlgorithm, rateAlgorithm } from "@keelson/jobs/storage";
import { openObjects, type Objects } from "@keelson/objects";
import { SystemClock, systemRandom } from "@keelson/runtime";
import type { Bench } from "./bench.ts";
import { wholeNumber } from "./options.ts";

const BATCH = 10_000;
const TENANTS = 1_000;
const PAYLOAD = Buffer.alloc(100, 7);
const RESULT = Buffer.alloc(20, 7);
const LOOKUPS = 200;
const clock = new SystemClock();

const jobsOpen: Bench = {
  name: "jobs-open",
  title: "opening a shard of the job queue with many finished and active jobs",
  async run({ args, progress }) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        finished: { type: "string", default: "1000000" },
        active: { type: "string", default: "100000" },
      },
    });
    const finished = wholeNumber("finished", values.finished, 0, 100_000_000);
    const active = wholeNumber("active", values.active, 0, 10_000_000);
    const folder = mkdtempSync(join(tmpdir(), "keelson-bench-open-"));
    try {
      const objects = await openObjects(`file:${folder}`, { clock, random: systemRandom, environment: {} });
      const filled = await fill(objects, folder, finished, active, progress);
      const figures = await reopen(objects, folder, progress);
      return { figures: { finished, active, ...filled, ...figures }, peers: {} };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

export default jobsOpen;

async function open(
  objects: Objects,
  folder: string,
  revision: number,
): Promise<{ queue: DurableQueue; journal: NodeJournal }> {
  const epoch = { era: 1, revision };
  const random = systemRandom;
  const journal = await NodeJournal.open({ objects, name: "node/bench", epoch, clock, random });
  const pages = await SlatePages.open({
    place: { kind: "folder", folder: join(folder, "pages") },
    name: "shard-0",
  });
  const queue = await DurableQueue.open({
    shard: "0",
    epoch,
    pages,
    journal,
    objects,
    clock,
    random,
    rates: rateAlgorithm,
    cron: cronAlgorithm,
    queueTerms: { checkpointFinished: 250_000, checkpointBytes: 256 * 1024 * 1024 },
  });
  return { queue, journal };
}

async function fill(
  objects: Objects,
  folder: string,
  finished: number,
  active: number,
  progress: (text: string) => void,
): Promise<Record<string, number>> {
  const { queue, journal } = await open(objects, folder, 1);
  const cpu = process.cpuUsage();
  for (let from = 0; from < finished + active; from += BATCH) {
    const count = Math.min(BATCH, finished + active - from);
    await queue.execute({
      kind: "import",
      jobs: Array.from({ length: count }, (_, index) => jobOf(from + index, finished)),
    });
    if (from % 500_000 === 0) progress(`${from.toLocaleString("en-US")} jobs are in`);
  }
  await queue.checkpoint();
  const { user, system } = process.cpuUsage(cpu);
  await queue.close();
  await journal.close();
  return { fillCpuUsPerJob: Math.round(((user + system) / (finished + active)) * 10) / 10 };
}

function jobOf(index: number, finished: number): ImportedJob {
  const common = {
    id: `job-${index.toString(36).padStart(8, "0")}`,
    tenant: `tenant-${index % TENANTS}`,
    group: "g",
    payload: PAYLOAD,
    enqueuedAtMs: Date.now() - 1_000,
  };
  if (index >= finished) return { ...common, attempts: [] };
  const now = Date.now();
  return {
    ...common,
    attempts: [{ outcome: { kind: "succeeded", result: RESULT }, startedAtMs: now, finishedAtMs: now }],
  };
}

async function reopen(
  objects: Objects,
  folder: string,
  progress: (text: string) => void,
): Promise<Record<string, number>> {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const { queue, journal } = await open(objects, folder, 2);
  const openMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const { finishedInPages, runs } = queue.stats;
  const lookedUpAt = performance.now();
  for (let index = 0; index < LOOKUPS; index += 1) {
    const job = jobOf(Math.floor((index * finishedInPages) / LOOKUPS), finishedInPages);
    if ((await queue.get(job)) === undefined && finishedInPages > 0)
      throw new Error(`${job.id} was not found`);
  }
  const lookupMs = (performance.now() - lookedUpAt) / LOOKUPS;
  progress(`opened in ${Math.round(openMs)} ms: ${finishedInPages} finished jobs in ${runs} runs`);
  await queue.close();
  await journal.close();
  return {
    openMs: Math.round(openMs),
    openCpuMs: Math.round((user + system) / 1_000),
    finishedInPages,
    runs,
    lookupMs: Math.round(lookupMs * 100) / 100,
    rssMiB: Math.round(process.memoryUsage.rss() / 1024 / 1024),
  };
}
