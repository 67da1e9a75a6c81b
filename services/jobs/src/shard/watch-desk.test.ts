import { MemoryObjects } from "@keelson/objects";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { DurableQueue } from "../storage/durable-queue.ts";
import { MemoryPagesPlace } from "../storage/memory-pages.ts";
import { NodeJournal } from "../storage/node-journal.ts";
import { WatchDesk } from "./watch-desk.ts";

const NAME = { tenant: "t", id: "a" };
const RESULT = Buffer.from("result");

/** A queue that keeps no job that has ended, and the desk of those who wait for one. */
async function open(): Promise<{ queue: DurableQueue; desk: WatchDesk }> {
  const [clock, objects] = [new ManualClock(), new MemoryObjects()];
  const journal = await NodeJournal.open({
    objects,
    name: "node-a",
    epoch: { era: 1, revision: 1 },
    clock,
    random: () => 0.5,
    terms: { gatherMs: 0 },
  });
  const queue = await DurableQueue.open({
    shard: "s1",
    epoch: { era: 1, revision: 2 },
    pages: new MemoryPagesPlace().open(),
    journal,
    objects,
    clock,
    random: () => 0.5,
    rates: undefined,
    cron: { problem: () => undefined, next: () => undefined },
    terms: { retentionMs: 0 },
  });
  const desk = new WatchDesk(queue, () => clock.wall());
  queue.onEffects = (effects) => desk.effects(effects);
  await queue.execute({ kind: "enqueue", jobs: [{ ...NAME, group: "g", payload: Buffer.alloc(1) }] });
  return { queue, desk };
}

async function end(queue: DurableQueue): Promise<void> {
  const leased = await queue.execute({ kind: "lease", group: "g", worker: "w", max: 1 });
  if ("refused" in leased) throw new Error(leased.message);
  const outcome = { kind: "succeeded", result: RESULT } as const;
  await queue.execute({
    kind: "report",
    reports: leased.tasks.map(({ task }) => ({ task, outcome })),
  });
}

test("whoever waits for a job of which nothing is kept is told how it ended", async () => {
  const { queue, desk } = await open();
  const items = desk.results({ jobs: [NAME] });
  const first = items.next();
  first.catch(() => undefined);
  await end(queue);
  expect(await first).toMatchObject({
    value: [{ ...NAME, status: "succeeded", outcome: { kind: "succeeded" } }],
  });
  expect((await items.next()).done).toBe(true);
});

test("so is whoever looks for it after it has ended and before that is told", async () => {
  const outcome = { kind: "succeeded", code: "", data: "result" } as const;
  const attempt = { number: 1, relativeNumber: 1, startedAtMs: 1, finishedAtMs: 2, worker: "w", outcome };
  let looks = 0;
  const get = (): Promise<undefined> => {
    looks += 1;
    if (looks === 2)
      desk.effects([
        { kind: "status", tenant: "t", ids: ["a"], group: "g", status: "succeeded", forgotten: [attempt] },
      ]);
    return Promise.resolve(undefined);
  };
  const desk = new WatchDesk({ get }, () => 0);
  expect(await desk.results({ jobs: [NAME] }).next()).toMatchObject({
    value: [{ ...NAME, outcome: { kind: "succeeded", result: RESULT } }],
  });
});

test("whoever asks later is told that there is no such job", async () => {
  const { queue, desk } = await open();
  await end(queue);
  expect(await desk.results({ jobs: [NAME] }).next()).toMatchObject({ value: [{ ...NAME, gone: true }] });
});
