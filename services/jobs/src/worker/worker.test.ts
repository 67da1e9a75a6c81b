import { expect, test } from "vitest";
import type { ShardCalls } from "../client/shard-calls.ts";
import { encodeBody } from "../engine/codec/body.ts";
import { packTasks, type GivenTask } from "../shard/packed/tasks.ts";
import { unpackReports } from "../shard/packed/reports.ts";
import type { Ack, WorkItem, WorkOpen } from "../shard/protocol.ts";
import { HeldTask } from "./held-task.ts";
import { JobWorker } from "./worker.ts";

const BODY = encodeBody({ group: "g", payload: Buffer.alloc(0) });
const ACK_MS = 20;

/** One shard that has tasks for every credit, and takes its time to answer reports. */
class SlowShard {
  readonly map = { ranges: [{ id: "0" }] };
  sent = 0;
  reported = 0;
  unreportedMax = 0;
  #credit = 0;
  #wake: () => void = () => undefined;

  async *stream(_: string, __: string, { credit }: WorkOpen, signal: AbortSignal): AsyncGenerator<WorkItem> {
    this.#credit = credit;
    signal.addEventListener("abort", () => this.#wake());
    while (!signal.aborted) {
      const tasks = Array.from({ length: this.#credit }, () => this.#task());
      this.#credit = 0;
      this.unreportedMax = Math.max(this.unreportedMax, this.sent - this.reported);
      for (const block of packTasks(tasks)) yield { tasks: block };
      if (this.#credit === 0) await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  async byShard(_: string, __: string, method: string, body: Ack): Promise<unknown> {
    if (method !== "ack") return [];
    this.#credit += body.credit;
    this.#wake();
    if (body.reports.length === 0) return [];
    await new Promise((resolve) => setTimeout(resolve, ACK_MS));
    this.reported += unpackReports(body.reports).length;
    return [];
  }

  #task() {
    const task = ++this.sent;
    const common = { tenant: "t", id: `j${task}`, attempt: 1, relativeAttempt: 1, isLastAttempt: true };
    return { task, ...common, body: BODY, leaseMs: 60_000, inputs: [] };
  }
}

test("a worker whose reports are answered slowly keeps no more results than it has places", async () => {
  const shard = new SlowShard();
  const [concurrency, prefetch] = [20, 20];
  // Two of them do not fit into one call.
  const result = Buffer.alloc(300 * 1024);
  const worker = new JobWorker(shard as unknown as ShardCalls, "g", () => result, { concurrency, prefetch });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  await worker.stop();
  expect(shard.reported).toBeGreaterThan(0);
  // As many again may have been on their way when it noticed.
  expect(shard.unreportedMax).toBeLessThanOrEqual(2 * (concurrency + prefetch) + 1);
}, 30_000);

test("a task that has run keeps nothing of what it ran with", () => {
  const given = { task: 7, tenant: "t", payload: Buffer.alloc(9) } as unknown as GivenTask;
  const held = new HeldTask(given, undefined);
  held.end({ kind: "succeeded", result: Buffer.alloc(5) });
  expect(held).toMatchObject({ task: 7, tenant: "t", given: undefined, job: undefined, bytes: 25 });
});

test.each<[string, unknown, unknown, object]>([
  ["no handler", "g", undefined, {}],
  ["no group", "", () => 1, {}],
  ["no place", "g", () => 1, { concurrency: 0 }],
  ["half a place", "g", () => 1, { concurrency: 1.5 }],
  ["less than nothing in store", "g", () => 1, { prefetch: -5 }],
  ["a lease of no time", "g", () => 1, { leaseMs: 0 }],
  ["an empty name", "g", () => 1, { name: "" }],
])("a worker that would never get a job is refused: %s", (_, group, handler, options) => {
  const make = () => new JobWorker({} as ShardCalls, group as string, handler as () => number, options);
  expect(make).toThrow(RangeError);
});
