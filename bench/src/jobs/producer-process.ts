/** A process that adds jobs: first as many as it can, in batches with several under way, then one at a time at an even pace, to see how soon one starts. */
import { program } from "../process/main.ts";
import { loadSystem, wallMs, type BenchPayload, type SystemName } from "./system.ts";

export interface ProducerOptions {
  readonly system: SystemName;
  readonly connect: string;
  readonly jobs: number;
  readonly warmJobs: number;
  readonly batch: number;
  readonly inflight: number;
  readonly payloadBytes: number;
  /** Jobs of the second part, and how many a second. */
  readonly pacedJobs: number;
  readonly pacedPerSec: number;
}

export type ProducerSaid =
  | { readonly kind: "ready" }
  | { readonly kind: "warm" }
  | { readonly kind: "added"; readonly beganAtMs: number; readonly cpuMs: number }
  | { readonly kind: "paced" };

const { options, say } = program<ProducerOptions, ProducerSaid>();
const { jobs, batch, inflight, payloadBytes, pacedJobs, pacedPerSec } = options;
const padding = "x".repeat(payloadBytes);
const producer = await (await loadSystem(options.system)).producer(options.connect);
const payload = (): BenchPayload => ({ addedAtMs: wallMs(), padding });

process.on("message", (message) => {
  if (message === "warm") void addAll(options.warmJobs).then(() => say({ kind: "warm" }));
  if (message === "add") void add();
  if (message === "pace") void pace();
  if (message === "end") void producer.close().finally(() => process.exit(0));
});
say({ kind: "ready" });

async function add(): Promise<void> {
  const beganAtMs = wallMs();
  const cpu = process.cpuUsage();
  await addAll(jobs);
  const { user, system } = process.cpuUsage(cpu);
  say({ kind: "added", beganAtMs, cpuMs: (user + system) / 1_000 });
}

async function addAll(count: number): Promise<void> {
  let left = count;
  const run = async (): Promise<void> => {
    while (left > 0) {
      const size = Math.min(batch, left);
      left -= size;
      await producer.add(Array.from({ length: size }, payload));
    }
  };
  await Promise.all(Array.from({ length: inflight }, run));
}

async function pace(): Promise<void> {
  const adding: Promise<void>[] = [];
  for (let count = 0; count < pacedJobs; count += 1) {
    adding.push(producer.add([payload()]));
    await new Promise((resolve) => setTimeout(resolve, 1_000 / pacedPerSec));
  }
  await Promise.all(adding);
  say({ kind: "paced" });
}
