/** Runs one system's lifecycle under the bench's load: producers and workers in processes of their own, the same for everybody, and the CPU of all of them. */
import { readFileSync, readdirSync } from "node:fs";
import { Child } from "../process/child.ts";
import type { ProducerOptions, ProducerSaid } from "./producer-process.ts";
import type { SystemName } from "./system.ts";
import type { WorkerProcessOptions, WorkerSaid } from "./worker-process.ts";

export interface JobsLoad {
  readonly jobs: number;
  /** Of each producer, before anything counts. */
  readonly warmJobs: number;
  readonly producers: number;
  readonly workers: number;
  readonly batch: number;
  readonly inflight: number;
  readonly concurrency: number;
  readonly payloadBytes: number;
  readonly pacedJobs: number;
  readonly pacedPerSec: number;
}

export interface RunningSystem {
  readonly system: SystemName;
  /** What clients are told to connect to. */
  readonly connect: string;
  /** The server's processes, for their CPU. */
  pids(): readonly number[];
}

export interface Lifecycle {
  readonly lifecyclePerSec: number;
  readonly startMsP50: number;
  readonly startMsP99: number;
  /** Of servers, producers and workers together. */
  readonly cpuUsPerJob: number;
  readonly serverCpuUsPerJob: number;
}

/** More than this without a completion means that something hangs. */
const STALL_MS = 60_000;

export async function measureLifecycle(running: RunningSystem, load: JobsLoad): Promise<Lifecycle> {
  const { system, connect } = running;
  const { jobs, producers, workers, concurrency } = load;
  const producing: Child<ProducerSaid>[] = [];
  const working: Child<WorkerSaid>[] = [];
  try {
    for (let index = 0; index < workers; index += 1) {
      const options: WorkerProcessOptions = { system, connect, concurrency };
      working.push(new Child(`${system} worker ${index}`, "jobs/worker-process.js", options));
    }
    for (let index = 0; index < producers; index += 1) {
      const options: ProducerOptions = { ...load, system, connect, jobs: Math.ceil(jobs / producers) };
      producing.push(new Child(`${system} producer ${index}`, "jobs/producer-process.js", options));
    }
    await Promise.all(producing.map((child) => child.says("ready")));
    await Promise.all(working.map((child) => child.says("ready")));
    // Everybody's compiler gets its chance before anything is measured.
    for (const child of producing) child.send("warm");
    await Promise.all(producing.map((child) => child.says("warm")));
    const warm = producers * load.warmJobs;
    const before = await allDone(working, warm);
    const serverBefore = cpuMsOf(running.pids());
    for (const child of producing) child.send("add");
    const added = await Promise.all(producing.map((child) => child.says("added")));
    const total = Math.ceil(jobs / producers) * producers;
    const counts = await allDone(working, warm + total);
    const serverCpuMs = cpuMsOf(running.pids()) - serverBefore;
    const began = Math.min(...added.map(({ beganAtMs }) => beganAtMs));
    const ended = Math.max(...counts.map(({ lastAtMs }) => lastAtMs));
    const workersCpuMs = sum(counts.map(({ cpuMs }) => cpuMs)) - sum(before.map(({ cpuMs }) => cpuMs));
    const clientCpuMs = sum(added.map(({ cpuMs }) => cpuMs)) + workersCpuMs;
    await waits(working);
    producing[0]!.send("pace");
    await producing[0]!.says("paced");
    await allDone(working, warm + total + load.pacedJobs);
    const started = (await waits(working)).sort((a, b) => a - b);
    return {
      lifecyclePerSec: Math.round((total * 1_000) / (ended - began)),
      startMsP50: round(started[Math.floor(started.length * 0.5)] ?? Number.NaN),
      startMsP99: round(started[Math.floor(started.length * 0.99)] ?? Number.NaN),
      cpuUsPerJob: round(((serverCpuMs + clientCpuMs) * 1_000) / total),
      serverCpuUsPerJob: round((serverCpuMs * 1_000) / total),
    };
  } finally {
    await Promise.all([...producing, ...working].map((child) => child.kill()));
  }
}

type Count = WorkerSaid & { readonly kind: "count" };

async function allDone(working: readonly Child<WorkerSaid>[], total: number): Promise<Count[]> {
  let [best, since] = [-1, performance.now()];
  for (;;) {
    const counts = working.map((child) => child.last("count")).filter((count) => count !== undefined);
    const done = sum(counts.map((count) => count.done));
    if (done >= total) return counts;
    if (done > best) [best, since] = [done, performance.now()];
    const dead = working.find((child) => !child.running);
    if (dead !== undefined) throw new Error(`a worker ended at ${done} of ${total} jobs: ${dead.errors}`);
    if (performance.now() - since > STALL_MS)
      throw new Error(
        `${done} of ${total} jobs were done, and none more for ${STALL_MS} ms: ${working.map((child) => child.errors).join("")}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function waits(working: readonly Child<WorkerSaid>[]): Promise<number[]> {
  const all = working.map(async (child) => {
    const next = child.next("waits");
    child.send("waits");
    return (await next).waitsMs;
  });
  return (await Promise.all(all)).flat();
}

/** Of these processes and all below them. */
function cpuMsOf(pids: readonly number[]): number {
  const wanted = new Set(pids);
  const stats = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat !== undefined);
  for (let grew = true; grew;) {
    grew = false;
    for (const { pid, parent } of stats)
      if (wanted.has(parent) && !wanted.has(pid)) {
        wanted.add(pid);
        grew = true;
      }
  }
  return sum(stats.filter(({ pid }) => wanted.has(pid)).map(({ cpuMs }) => cpuMs));
}

/** Ticks of the kernel are hundredths of a second. */
const TICK_MS = 10;

function statOf(pid: number): { pid: number; parent: number; cpuMs: number } | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined; // It has ended meanwhile.
  }
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return { pid, parent: Number(fields[1]), cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
