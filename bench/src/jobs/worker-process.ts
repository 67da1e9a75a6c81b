/** A process that runs jobs that do nothing, and tells how many were completed and how long each waited for its start. */
import { program } from "../process/main.ts";
import { loadSystem, wallMs, type SystemName } from "./system.ts";

export interface WorkerProcessOptions {
  readonly system: SystemName;
  readonly connect: string;
  readonly concurrency: number;
}

export type WorkerSaid =
  | { readonly kind: "ready" }
  /** Since the beginning. */
  | { readonly kind: "count"; readonly done: number; readonly lastAtMs: number; readonly cpuMs: number }
  /** Since the last time that they were asked for. */
  | { readonly kind: "waits"; readonly waitsMs: readonly number[] };

const COUNT_EVERY_MS = 50;

const { options, say } = program<WorkerProcessOptions, WorkerSaid>();
let done = 0;
let told = -1;
let lastAtMs = 0;
let waitsMs: number[] = [];
const worker = await (
  await loadSystem(options.system)
).worker(options.connect, options.concurrency, {
  started: ({ addedAtMs }) => waitsMs.push(wallMs() - addedAtMs),
  done(count) {
    done += count;
    lastAtMs = wallMs();
  },
});
setInterval(() => {
  if (done === told) return;
  told = done;
  const { user, system } = process.cpuUsage();
  say({ kind: "count", done, lastAtMs, cpuMs: (user + system) / 1_000 });
}, COUNT_EVERY_MS);

process.on("message", (message) => {
  if (message === "waits") {
    say({ kind: "waits", waitsMs });
    waitsMs = [];
  }
  if (message === "end") void worker.close().finally(() => process.exit(0));
});
say({ kind: "ready" });
