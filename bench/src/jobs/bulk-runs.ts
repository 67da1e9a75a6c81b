/**
 * Finished jobs put straight into a shard's pages, in the runs that checkpoints and merges would have left there: ten million take minutes this way and hours through
 * the queue. Pages, directories and manifest are written by the queue's own code; only the engine and the journal are passed over.
 */
import {
  decodeManifest,
  encodeManifest,
  jobEntryKey,
  MANIFEST_KEY,
  RunWriter,
  statusKey,
  writeStoredJob,
  type Pages,
  type StoredJob,
} from "@keelson/jobs/storage";
import { openPages } from "./queue-rig.ts";

const TENANTS = 1_000;
/** Jobs of a run by its level: what a checkpoint writes, and what merges make of it. */
const RUN_JOBS = [20_000, 320_000, 5_120_000];
const RETENTION_MS = 7 * 86_400_000;
const RESULT = "r".repeat(20);

interface FinishedName {
  readonly tenant: string;
  readonly id: string;
}

/** The name of the n-th. */
export function finishedName(n: number): FinishedName {
  return {
    tenant: `tenant-${String(n % TENANTS).padStart(4, "0")}`,
    id: `job-${String(Math.floor(n / TENANTS)).padStart(8, "0")}`,
  };
}

/** The folder holds a shard that was closed. `body` is the encoded content of each job. */
export async function writeFinished(
  folder: string,
  count: number,
  body: string,
  progress: (text: string) => void,
): Promise<void> {
  const pages = await openPages(folder);
  try {
    const manifest = decodeManifest(await pages.get(MANIFEST_KEY));
    const runs: string[] = [];
    for (let from = 0; from < count;) {
      const level = levelFor(count - from);
      const to = Math.min(count, from + RUN_JOBS[level]!);
      runs.push(await writeRun(pages, runs.length + 1, level, from, to, body));
      progress(`${to.toLocaleString("en-US")} finished jobs are in`);
      from = to;
    }
    // Numbers of runs begin anew: the shard is opened and read afterwards, and takes no checkpoint.
    const value = encodeManifest({ ...manifest, runs: [...runs, ...manifest.runs] });
    await pages.write({ put: [{ key: MANIFEST_KEY, value }], delete: [] });
  } finally {
    await pages.close();
  }
}

/** The largest run that still fits. */
function levelFor(left: number): number {
  for (let level = RUN_JOBS.length - 1; level > 0; level -= 1) if (left >= RUN_JOBS[level]!) return level;
  return 0;
}

/** By tenant and then by number, which is the order of keys in both sections. */
async function writeRun(
  pages: Pages,
  sequence: number,
  level: number,
  from: number,
  to: number,
  body: string,
): Promise<string> {
  const writer = new RunWriter(pages, sequence, level, to - from);
  const atMs = Date.now();
  for (let tenant = 0; tenant < TENANTS; tenant += 1)
    for (let n = from + ((tenant - (from % TENANTS) + TENANTS) % TENANTS); n < to; n += TENANTS) {
      const job = stored(n, atMs, body);
      const expiresAtMs = job.statusAtMs + RETENTION_MS;
      await writer.addJob(jobEntryKey(job.tenant, job.id), expiresAtMs, (out) => writeStoredJob(out, job));
      await writer.add("status", { key: statusKey(job.tenant, job), expiresAtMs, value: "" });
    }
  return (await writer.finish([])).id;
}

function stored(n: number, atMs: number, body: string): StoredJob {
  const attempt = {
    number: 1,
    relativeNumber: 1,
    startedAtMs: atMs,
    finishedAtMs: atMs,
    worker: "worker",
    outcome: { kind: "succeeded", code: "", data: RESULT },
  } as const;
  return {
    ...finishedName(n),
    seq: n + 1,
    body,
    enqueuedAtMs: atMs,
    startAtMs: atMs,
    status: "succeeded",
    statusAtMs: atMs,
    past: {
      attempts: [attempt],
      count: 1,
      countAtRestart: 0,
      lostLeases: 0,
      started: true,
      cancelledAtMs: undefined,
    },
    flow: undefined,
    merged: [],
    lease: undefined,
  };
}
