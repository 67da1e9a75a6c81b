import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { AnswerMemory, type HeldAnswer } from "./answer-memory.ts";

const MAX = 16 << 20;
const LARGE = 8 << 20;
const { signal } = new AbortController();

function memory(): { readonly clock: ManualClock; readonly answers: AnswerMemory } {
  const clock = new ManualClock();
  return { clock, answers: new AnswerMemory(MAX, clock) };
}

/** What has come so far. */
function watch(waiting: readonly Promise<HeldAnswer | undefined>[]): (HeldAnswer | undefined)[] {
  const came: (HeldAnswer | undefined)[] = [];
  for (const each of waiting) void each.then((held) => came.push(held));
  return came;
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("twenty large answers at once hold no more than the memory, and all get their turn", async () => {
  const { answers } = memory();
  const came = watch(Array.from({ length: 20 }, () => answers.hold(LARGE, 1_000, signal)));
  for (let done = 0; done < 20; done += 1) {
    await settle();
    expect(came.length).toBe(done + 1);
    expect(answers.heldBytes).toBeLessThanOrEqual(MAX);
    came[done]!.release();
  }
  expect([answers.heldBytes, answers.waiting]).toEqual([0, 0]);
});

test("a small answer waits for no large one", async () => {
  const { answers } = memory();
  const came = watch([answers.hold(LARGE, 1_000, signal), answers.hold(LARGE, 1_000, signal)]);
  await settle();
  expect(came).toHaveLength(1);
  expect(await answers.hold(64 << 10, 1_000, signal)).toBeDefined();
});

test("small ones that fill the memory wait too", async () => {
  const { answers } = memory();
  const small = MAX / 64;
  const held = await Promise.all(Array.from({ length: 64 }, () => answers.hold(small, 0, signal)));
  expect(held.every((each) => each !== undefined)).toBe(true);
  const came = watch([answers.hold(small, 1_000, signal)]);
  await settle();
  expect(came).toEqual([]);
  held[0]!.release();
  await settle();
  expect(came).toHaveLength(1);
});

test("who waits longer than it may goes without, and does not stand in the way of others", async () => {
  const { answers, clock } = memory();
  const first = await answers.hold(LARGE, 0, signal);
  const late = answers.hold(LARGE, 100, signal);
  const came = watch([answers.hold(1 << 20, 1_000, signal)]);
  await settle();
  expect(came).toEqual([]);
  await clock.advance(100);
  expect(await late).toBeUndefined();
  await settle();
  expect(came).toHaveLength(1);
  first!.release();
  came[0]!.release();
  expect([answers.heldBytes, answers.waiting]).toEqual([0, 0]);
});

test("who leaves does not wait any more", async () => {
  const { answers } = memory();
  const first = await answers.hold(LARGE, 0, signal);
  const leaving = new AbortController();
  const left = answers.hold(LARGE, 1_000, leaving.signal);
  leaving.abort();
  expect(await left).toBeUndefined();
  expect(await answers.hold(LARGE, 1_000, leaving.signal)).toBeUndefined();
  first!.release();
  expect([answers.heldBytes, answers.waiting]).toEqual([0, 0]);
});

test("an answer that turned out smaller lets the next begin", async () => {
  const { answers } = memory();
  const first = await answers.hold(LARGE, 0, signal);
  const came = watch([answers.hold(LARGE, 1_000, signal)]);
  first!.resize(1_000);
  await settle();
  expect(came).toHaveLength(1);
  first!.release();
  first!.release();
  expect(answers.heldBytes).toBe(LARGE);
});

test("a large answer is written into the memory of the one before, when nobody looks at it any more", async () => {
  const { answers } = memory();
  const first = answers.buffer(LARGE);
  const held = (await answers.hold(LARGE, 0, signal))!;
  held.release(first);
  // Compared here, because nobody wants to see eight megabytes printed.
  const isFirst = (bytes: number): boolean => answers.buffer(bytes) === first;
  expect(isFirst(LARGE - 1)).toBe(true);
  expect(isFirst(LARGE)).toBe(false);
  held.release(first);
  expect(isFirst(LARGE)).toBe(false);
  (await answers.hold(LARGE, 0, signal))!.release();
  expect(isFirst(LARGE)).toBe(false);
});
