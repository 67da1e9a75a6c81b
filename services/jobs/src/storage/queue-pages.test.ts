/** What a queue keeps in pages: how large they get, what is found in them, and what is left of them. */
import { MemoryObjects } from "@keelson/objects";
import { ManualClock } from "@keelson/testkit";
import { beforeEach, expect, test } from "vitest";
import type { JobSpec, ListPage } from "../engine/index.ts";
import { restKeys } from "./active-pages.ts";
import { DurableQueue } from "./durable-queue.ts";
import { MemoryPagesPlace } from "./memory-pages.ts";
import { NodeJournal } from "./node-journal.ts";
import type { PageBatch, Pages } from "./pages.ts";

const cron = { problem: () => undefined, next: () => undefined };
const [random, terms] = [() => 0.5, { gatherMs: 0 }];
let clock: ManualClock;
let objects: MemoryObjects;
let place: MemoryPagesPlace;
let revision = 0;
beforeEach(() => {
  [clock, objects, place] = [new ManualClock(), new MemoryObjects(), new MemoryPagesPlace()];
});

/** As whoever comes next. */
async function open(pages: Pages = place.open()): Promise<DurableQueue> {
  const epoch = { era: 1, revision: ++revision };
  const journal = await NodeJournal.open({ objects, name: "node-a", epoch, clock, random, terms });
  const queueTerms = { checkpointFinished: Infinity, checkpointBytes: Infinity };
  const common = { epoch, journal, objects, clock, random, cron, queueTerms };
  return DurableQueue.open({ ...common, shard: "s1", pages, rates: undefined });
}

function job(id: string, more: Partial<JobSpec> = {}): JobSpec {
  return { id, tenant: "t", group: "g", payload: Buffer.from(id), ...more };
}

/** One lease gives no more than an answer holds. */
async function run(queue: DurableQueue, max: number, group = "g"): Promise<void> {
  const outcome = { kind: "succeeded" as const, result: Buffer.from("done") };
  for (let left = max; left > 0;) {
    const leased = await queue.execute({ kind: "lease", group, worker: "w", max: left });
    if ("refused" in leased) throw new Error(leased.message);
    if (leased.tasks.length === 0) throw new Error(`${left} of ${max} jobs are not there`);
    left -= leased.tasks.length;
    await queue.execute({ kind: "report", reports: leased.tasks.map(({ task }) => ({ task, outcome })) });
  }
}

/** Its pauses are timers. */
async function checkpoint(queue: DurableQueue): Promise<void> {
  let done = false;
  const running = queue.checkpoint().finally(() => (done = true));
  // Awaited below; until then nobody else would listen.
  running.catch(() => {});
  for (let turn = 0; turn < 5_000 && !done; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(0);
  }
  await running;
}

test("pages of large jobs are cut, and all parts of the newest version are loaded again", async () => {
  const payload = Buffer.alloc(100 * 1024, 1);
  let largestWrite = 0;
  const inner = place.open();
  const write = (batch: PageBatch): Promise<void> => {
    const bytes = batch.put.reduce((sum, { value }) => sum + value.length, 0);
    largestWrite = Math.max(largestWrite, bytes);
    return inner.write(batch);
  };
  const queue = await open({
    get: (key) => inner.get(key),
    scan: (prefix, options) => inner.scan(prefix, options),
    close: () => inner.close(),
    write,
  });
  const jobs = Array.from({ length: 300 }, (_, at) => job(`j${at}`, { payload }));
  await queue.execute({ kind: "enqueue", jobs });
  await checkpoint(queue);
  const sizes = (): number[] => Array.from(place.values.values(), ({ length }) => length);
  expect(Math.max(...sizes())).toBeLessThan(300 * 1024);
  expect(largestWrite).toBeLessThan(3 * 1024 * 1024);
  const parts = place.values.size;
  expect(parts).toBeGreaterThan(100);
  await run(queue, 250);
  await checkpoint(queue);
  const again = await open();
  expect(again.queries.stats().jobs.scheduled).toBe(50);
  expect(Array.from(await again.list({ tenant: "t", limit: 1_000 })).length).toBe(300);
  await checkpoint(again);
  // Nothing of versions that do not count is left.
  expect([...place.values.keys()].filter((key) => key.startsWith("active/")).length).toBeLessThan(60);
});

test("a list of one group goes on beyond the ended jobs that one look takes in", async () => {
  const queue = await open();
  const others = (n: number, from: number): JobSpec[] =>
    Array.from({ length: n }, (_, at) => job(`other-${from + at}`, { group: "others" }));
  await queue.execute({ kind: "enqueue", jobs: [job("first"), job("second")] });
  await run(queue, 2);
  await clock.advance(10);
  for (let made = 0; made < 21_000; made += 7_000) {
    await queue.execute({ kind: "enqueue", jobs: others(7_000, made) });
    await run(queue, 7_000, "others");
  }
  await checkpoint(queue);
  const found: string[] = [];
  let looks = 0;
  let page: ListPage = { jobs: [] };
  do {
    page = await queue.page({ tenant: "t", group: "g", limit: 10, before: page.next });
    for (const { spec } of page.jobs) found.push(spec.id);
    looks += 1;
  } while (page.next !== undefined && looks < 10);
  expect(found).toEqual(["first", "second"]);
  expect(looks).toBeGreaterThan(1);
}, 30_000);

test("pages of a list show every job once, in memory or not, however few are asked for at a time", async () => {
  const queue = await open();
  for (let round = 0; round < 4; round++) {
    const jobs = Array.from({ length: 25 }, (_, at) => job(`j${round * 25 + at}`));
    await queue.execute({ kind: "enqueue", jobs });
    await run(queue, 20);
    if (round < 3) await checkpoint(queue);
    await clock.advance(5);
  }
  for (const limit of [1, 7, 20, 1_000]) {
    const ids: string[] = [];
    let page: ListPage = { jobs: [] };
    do {
      page = await queue.page({ tenant: "t", limit, before: page.next });
      for (const { spec } of page.jobs) ids.push(spec.id);
    } while (page.next !== undefined && ids.length < 200);
    expect([limit, ids.length, new Set(ids).size]).toEqual([limit, 100, 100]);
  }
});

test("a job that ends and leaves memory while all are being read is shown once, and so is one that comes back", async () => {
  const queue = await open();
  await queue.execute({ kind: "enqueue", jobs: [job("failed"), job("a"), job("b"), job("c")] });
  const leased = await queue.execute({ kind: "lease", group: "g", worker: "w", max: 1 });
  if ("refused" in leased) throw new Error(leased.message);
  const outcome = { kind: "failed", code: "E", data: Buffer.from("why") } as const;
  await queue.execute({ kind: "report", reports: [{ task: leased.tasks[0]!.task, outcome }] });
  await checkpoint(queue);
  const ids: string[] = [];
  for await (const { spec } of queue.everyJob()) {
    ids.push(spec.id);
    if (ids.length !== 1) continue;
    await run(queue, 3);
    await queue.execute({ kind: "restart", tenant: "t", id: "failed" });
    await checkpoint(queue);
  }
  expect(ids.sort()).toEqual(["a", "b", "c", "failed"]);
});

test("what a checkpoint, a merge or a removal left when its process ended is removed by the next tenure", async () => {
  let left = Infinity;
  /** Ends as a process does: nothing is written from some write on. */
  const mortal = (): Pages => {
    const inner = place.open();
    const write = (batch: PageBatch): Promise<void> =>
      left-- > 0 ? inner.write(batch) : Promise.reject(new Error("the process has ended"));
    return {
      get: (key) => inner.get(key),
      scan: (prefix, options) => inner.scan(prefix, options),
      close: () => inner.close(),
      write,
    };
  };
  let jobs = 0;
  let endings = 0;
  for (let life = 0; life < 60; life++) {
    left = Infinity;
    const queue = await open(mortal());
    for (let round = 0; round < 2; round++) {
      await queue.execute({ kind: "enqueue", jobs: [job(`j${jobs++}`)] });
      await run(queue, 1);
      left = round === 0 ? Infinity : life % 6;
      const problem = await checkpoint(queue).catch((error: unknown) => error);
      if (problem !== undefined) endings += 1;
    }
  }
  expect(endings).toBeGreaterThan(20);
  left = Infinity;
  const last = await open();
  await checkpoint(last);
  const named = new Set(last.manifest.runs);
  const kept = [...place.values.keys()].filter((key) => /^(run|directory)\//.test(key));
  expect(kept.filter((key) => !named.has(key.split("/")[1]!))).toEqual([]);
  const rest = [...place.values.keys()].filter((key) => key.startsWith("rest/"));
  expect(rest).toEqual(restKeys(last.manifest));
  expect(await last.list({ tenant: "t", status: "succeeded", limit: 1_000 })).toHaveLength(jobs);
});
