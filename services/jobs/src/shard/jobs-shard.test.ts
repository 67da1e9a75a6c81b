/** What is on its way to workers when a shard is split or moves. */
import { MemoryObjects } from "@keelson/objects";
import type { Catalogue } from "@keelson/runtime";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { DurableQueue } from "../storage/durable-queue.ts";
import { MemoryPagesPlace } from "../storage/memory-pages.ts";
import { NodeJournal } from "../storage/node-journal.ts";
import { JobsShard } from "./jobs-shard.ts";
import { shardRange } from "./ranges.ts";

const epoch = { era: 1, revision: 1 };
const random = (): number => 0.5;

/** A shard with one job, for which a lease is on its way to the journal, and whoever is to get the task. */
async function open(): Promise<{ shard: JobsShard; clock: ManualClock; first: Promise<unknown> }> {
  const [clock, objects] = [new ManualClock(), new MemoryObjects()];
  const terms = { gatherMs: 0 };
  const journal = await NodeJournal.open({ objects, name: "node-a", epoch, clock, random, terms });
  const queue = await DurableQueue.open({
    shard: "0",
    epoch,
    pages: new MemoryPagesPlace().open(),
    journal,
    objects,
    clock,
    random,
    rates: undefined,
    cron: { problem: () => undefined, next: () => undefined },
  });
  const shard = new JobsShard({
    range: shardRange("0", 1)!,
    queue,
    clock,
    split: {
      catalogue: { head: undefined, commit: () => Promise.resolve("committed") } as unknown as Catalogue,
      initialIds: ["0"],
      epoch,
      copy: () => Promise.resolve(),
      pause: () => Promise.resolve(),
      release: () => Promise.resolve(),
      onKept: () => undefined,
    },
  });
  const job = { tenant: "t", id: "a", group: "g", payload: Buffer.alloc(1) };
  await queue.execute({ kind: "enqueue", jobs: [job] });
  const { signal } = new AbortController();
  const asked = { mode: "write", epoch, signal, timeoutMs: 1_000 } as const;
  const body = { session: "s", worker: "w", group: "g", credit: 5 };
  const items = shard.stream({ ...asked, method: "work", body })[Symbol.asyncIterator]();
  const first = items.next();
  first.catch(() => undefined);
  expect(queue.queries.get({ tenant: "t", id: "a" })).toMatchObject({ status: "running" });
  return { shard, clock, first };
}

/** Its pauses are timers. */
async function inTime<T>(clock: ManualClock, asked: Promise<T>): Promise<T> {
  let done = false;
  const settled = asked.finally(() => (done = true));
  settled.catch(() => undefined);
  for (let turn = 0; turn < 1_000 && !done; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(0);
  }
  expect(done).toBe(true);
  return settled;
}

test("a task that no worker has heard of when the shard is split is free in the halves at once", async () => {
  const { shard, clock, first } = await open();
  const { signal } = new AbortController();
  const split = { method: "split", mode: "write", body: {}, epoch, signal, timeoutMs: 1_000 } as const;
  await inTime(clock, shard.handle(split));
  expect(await first).toMatchObject({ done: true });
  expect(shard.queue.queries.get({ tenant: "t", id: "a" })).toMatchObject({ status: "scheduled" });
});

test("the same where the shard moves to", async () => {
  const { shard, clock, first } = await open();
  await inTime(clock, shard.drain(10_000));
  expect(await first).toMatchObject({ done: true });
  expect(shard.queue.queries.get({ tenant: "t", id: "a" })).toMatchObject({ status: "scheduled" });
});

test("a worker that does not read what it is given holds up a move for a moment only", async () => {
  const { shard, clock, first } = await open();
  // It is given its task, and does not ask whether there is more.
  expect(await first).toMatchObject({ done: false });
  let drained = false;
  const draining = shard.drain(10_000).then(() => (drained = true));
  await inTime(clock, Promise.resolve());
  expect(drained).toBe(false);
  await clock.advance(1_000);
  await draining;
  expect(shard.queue.queries.get({ tenant: "t", id: "a" })).toMatchObject({ status: "running" });
});
