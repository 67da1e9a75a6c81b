import { expect, test } from "vitest";
import type { Answer, Command } from "../engine/index.ts";
import { WorkDesk, type LeaseQueue } from "./work-desk.ts";

/** Answers to what the desk asks come when the test says so, as they do when they wait for the journal. */
class SlowQueue implements LeaseQueue {
  readonly asked: { readonly command: Command; readonly answer: (answer: unknown) => void }[] = [];

  execute<K extends "take" | "giveBack">(command: Command<K>): Promise<Answer<K>> {
    return new Promise((resolve) => {
      this.asked.push({ command: command as Command, answer: resolve as (answer: unknown) => void });
    });
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const NOTHING = { taken: [], refreshes: [] };

function openDesk(): { queue: SlowQueue; desk: WorkDesk } {
  const queue = new SlowQueue();
  const desk = new WorkDesk(queue);
  const items = desk.open({ session: "s", worker: "w", group: "g", credit: 5 })[Symbol.asyncIterator]();
  // Its first item never comes in these tests; it ends with the desk.
  void items.next().catch(() => undefined);
  return { queue, desk };
}

test("what becomes ready while a lease is on its way to the journal is asked for once it is back", async () => {
  const { queue, desk } = openDesk();
  await turn();
  expect(queue.asked).toHaveLength(1);
  // The lease found nothing, then a job came, while the lease still waits for the journal.
  desk.ready("g");
  expect(queue.asked).toHaveLength(1);
  queue.asked[0]!.answer(NOTHING);
  await turn();
  expect(queue.asked.map(({ command }) => command)).toMatchObject([{ max: 5 }, { max: 5 }]);
  desk.close();
});

test("a lease that finds nothing is not repeated by itself", async () => {
  const { queue, desk } = openDesk();
  await turn();
  queue.asked[0]!.answer(NOTHING);
  await turn();
  expect(queue.asked).toHaveLength(1);
  desk.ready("g");
  expect(queue.asked).toHaveLength(2);
  desk.close();
});

test("a lease that makes more ready does not lead to another within it", async () => {
  const { queue, desk } = openDesk();
  await turn();
  queue.asked[0]!.answer(NOTHING);
  await turn();
  const execute = queue.execute.bind(queue);
  let depth = 0;
  queue.execute = (command) => {
    depth += 1;
    expect(depth).toBe(1);
    desk.ready("g");
    const answer = execute(command);
    depth -= 1;
    return answer;
  };
  desk.ready("g");
  expect(queue.asked).toHaveLength(2);
  desk.close();
});

test("tasks that had not left when their worker's stream broke off are given back at once", async () => {
  const queue = new SlowQueue();
  const desk = new WorkDesk(queue);
  const items = desk.open({ session: "s", worker: "w", group: "g", credit: 5 });
  const first = items.next();
  first.catch(() => undefined);
  await turn();
  // Each fills a block.
  const body = "x".repeat(100_000);
  const shared = { tenant: "t", id: "j", attempt: 1, relativeAttempt: 1, isLastAttempt: false, leaseMs: 1 };
  const task = (number: number) => ({ ...shared, task: number, body, inputs: [] });
  queue.asked[0]!.answer({ taken: [task(1), task(2)], refreshes: [] });
  expect(await first).toMatchObject({ done: false });
  desk.credit("s", 2);
  queue.asked[1]!.answer({ taken: [task(3)], refreshes: [] });
  await turn();
  await items.return();
  expect(queue.asked.slice(2).map(({ command }) => command)).toEqual([
    { kind: "giveBack", worker: "w", tasks: [2, 3] },
  ]);
  expect(desk.sessions).toBe(0);
});

test("a worker that left while it had nothing to do is given nothing, and what was on its way to it is given back", async () => {
  const queue = new SlowQueue();
  const desk = new WorkDesk(queue);
  const gone = new AbortController();
  const items = desk.open({ session: "s", worker: "w", group: "g", credit: 5 }, gone.signal);
  const next = items.next();
  next.catch(() => undefined);
  await turn();
  gone.abort();
  // As a stream's reader does it: without waiting for what comes first.
  const left = items.return();
  left.catch(() => undefined);
  queue.asked[0]!.answer({ taken: [{ task: 7 }], refreshes: [] });
  await turn();
  desk.ready("g");
  expect(queue.asked.slice(1).map(({ command }) => command)).toEqual([
    { kind: "giveBack", worker: "w", tasks: [7] },
  ]);
  expect([desk.sessions, (await next).done, (await left).done]).toEqual([0, true, true]);
  const late = desk.open({ session: "late", worker: "w", group: "g", credit: 5 }, gone.signal);
  expect((await late.next()).done).toBe(true);
  expect([desk.sessions, queue.asked.length]).toEqual([0, 2]);
});
