import { SystemClock } from "@keelson/runtime";
import { expect, test } from "vitest";
import { AnswerMemory } from "../search/answer-memory.ts";
import type { PackedEvent } from "./fleet-search.ts";
import { asRead } from "./as-read.ts";

const counts = { files: 1, lines: 2, matches: 2, documents: 5, documentsScanned: 3, bytesScanned: 10 };
const { signal } = new AbortController();

const answer = (id: number, bytes: number): PackedEvent => ({
  kind: "answer",
  answer: {
    repository: { id, name: `r${id}`, url: "", rank: 0, heads: [], indexedAt: 0 },
    counts,
    packed: new Uint8Array(bytes),
  },
});

const told = (event: PackedEvent): unknown =>
  event.kind === "answer"
    ? [event.answer.repository.id, event.answer.packed.length, event.answer.partial]
    : event.kind;

/** Gives all at once, and says when they were taken. */
function coming(events: readonly PackedEvent[]): { from: AsyncGenerator<PackedEvent>; taken: Promise<void> } {
  let done: () => void = () => undefined;
  const taken = new Promise<void>((resolve) => {
    done = resolve;
  });
  async function* from(): AsyncGenerator<PackedEvent> {
    for (const event of events) {
      await Promise.resolve();
      yield event;
    }
    done();
  }
  return { from: from(), taken };
}

test("what one reader does not take waits up to a bound; what came beyond is counted and has no files", async () => {
  const memory = new AnswerMemory(1_000, new SystemClock());
  const { from, taken } = coming([
    { kind: "begin", asked: 4, leftOut: 0, problem: undefined },
    answer(1, 200),
    answer(2, 200),
    answer(3, 200),
    answer(4, 0),
  ]);
  const read = asRead(from, signal, { memory, bytesMax: 400 });
  expect(told((await read.next()).value as PackedEvent)).toBe("begin");
  await taken;
  expect(memory.heldBytes).toBe(400);
  const rest: unknown[] = [];
  for await (const event of read) rest.push(told(event));
  expect(rest).toEqual([
    [1, 200, undefined],
    [2, 200, undefined],
    [3, 0, "stream-memory"],
    [4, 0, undefined],
  ]);
  expect(memory.heldBytes).toBe(0);
});

test("a reader that takes what comes gets all of it, however much that is", async () => {
  const memory = new AnswerMemory(1_000, new SystemClock());
  async function* slowly(): AsyncGenerator<PackedEvent> {
    for (let id = 1; id <= 50; id++) {
      yield answer(id, 300);
      await new Promise((resolve) => void setImmediate(resolve));
    }
  }
  let bytes = 0;
  for await (const event of asRead(slowly(), signal, { memory, bytesMax: 400 }))
    bytes += event.kind === "answer" ? event.answer.packed.length : 0;
  expect([bytes, memory.heldBytes]).toEqual([15_000, 0]);
});

test("readers share one bound, and who leaves gives back what waited for it", async () => {
  const memory = new AnswerMemory(1_000, new SystemClock());
  const stalled = coming([answer(1, 300), answer(2, 300)]);
  const other = coming([answer(3, 300)]);
  const first = asRead(stalled.from, signal, { memory });
  await first.next();
  await stalled.taken;
  const second = asRead(other.from, signal, { memory });
  expect(told((await second.next()).value as PackedEvent)).toEqual([3, 0, "stream-memory"]);
  await first.return(undefined);
  expect(memory.heldBytes).toBe(0);
  const again = asRead(coming([answer(3, 300)]).from, signal, { memory });
  expect(told((await again.next()).value as PackedEvent)).toEqual([3, 300, undefined]);
  await again.return(undefined);
  expect(memory.heldBytes).toBe(0);
});

test("what fails comes after all that came before it", async () => {
  async function* failing(): AsyncGenerator<PackedEvent> {
    yield answer(1, 10);
    await Promise.resolve();
    throw new RangeError("too much");
  }
  const read = asRead(failing(), signal);
  await new Promise((resolve) => void setImmediate(resolve));
  expect(told((await read.next()).value as PackedEvent)).toEqual([1, 10, undefined]);
  await expect(read.next()).rejects.toThrow("too much");
});
