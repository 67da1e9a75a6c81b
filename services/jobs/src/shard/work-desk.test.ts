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
