/**
 * How long it takes to open a shard of the job queue that has many finished jobs behind it and many active ones in it: what a takeover costs. Active jobs go through
 * the queue, finished ones straight into its pages.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { encodeBody } from "@keelson/jobs/storage";
import type { Bench } from "./bench.ts";
import { finishedName, writeFinished } from "./jobs/bulk-runs.ts";
import { openQueue } from "./jobs/queue-rig.ts";
import { wholeNumber } from "./options.ts";

const BATCH = 10_000;
const TENANTS = 1_000;
const PAYLOAD = Buffer.alloc(100, 7);
const LOOKUPS = 200;

const jobsOpen: Bench = {
  name: "jobs-open",
  title: "opening a shard of the job queue with many finished and active jobs",
  async run({ args, progress }) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        finished: { type: "string", default: "10000000" },
        active: { type: "string", default: "100000" },
      },
    });
    const finished = wholeNumber("finished", values.finished, 0, 100_000_000);
    const active = wholeNumber("active", values.active, 1, 10_000_000);
    const folder = mkdtempSync(join(tmpdir(), "keelson-bench-open-"));
    try {
      const cpu = process.cpuUsage();
      await fillActive(folder, active);
      await writeFinished(folder, finished, encodeBody({ group: "g", payload: PAYLOAD }), progress);
      const { user, system } = process.cpuUsage(cpu);
      const fillCpuUsPerJob = Math.round(((user + system) / (finished + active)) * 10) / 10;
      return {
        figures: { finished, active, fillCpuUsPerJob, ...(await reopen(folder, finished, progress)) },
        peers: {},
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

export default jobsOpen;

async function fillActive(folder: string, active: number): Promise<void> {
  const rig = await openQueue({ folder });
  const { queue } = rig;
  for (let from = 0; from < active; from += BATCH)
    await queue.execute({
      kind: "enqueue",
      jobs: Array.from({ length: Math.min(BATCH, active - from) }, (_, index) => ({
        id: `active-${from + index}`,
        tenant: `tenant-${(from + index) % TENANTS}`,
        group: "g",
        payload: PAYLOAD,
      })),
    });
  await queue.checkpoint();
  await rig.close();
}

async function reopen(
  folder: string,
  finished: number,
  progress: (text: string) => void,
): Promise<Record<string, number>> {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const rig = await openQueue({ folder, revision: 2 });
  const { queue } = rig;
  const openMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  const { finishedInPages, runs } = queue.stats;
  if (finishedInPages !== finished) throw new Error(`${finishedInPages} finished jobs were found`);
  const lookedUpAt = performance.now();
  for (let index = 0; index < LOOKUPS && finished > 0; index += 1) {
    const name = finishedName(Math.floor((index * finished) / LOOKUPS));
    if ((await queue.get(name))?.status !== "succeeded") throw new Error(`${name.id} was not found`);
  }
  const lookupMs = (performance.now() - lookedUpAt) / LOOKUPS;
  progress(`opened in ${Math.round(openMs)} ms: ${finishedInPages} finished jobs in ${runs} runs`);
  await rig.close();
  return {
    openMs: Math.round(openMs),
    openCpuMs: Math.round((user + system) / 1_000),
    runs,
    lookupMs: Math.round(lookupMs * 100) / 100,
    rssMiB: Math.round(process.memoryUsage.rss() / 1024 / 1024),
  };
}
