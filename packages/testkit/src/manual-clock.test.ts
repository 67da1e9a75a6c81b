import { expect, test } from "vitest";
import { ManualClock } from "./manual-clock.ts";

test("timers fire in the order of their times, equal ones in the order they were set", async () => {
  const clock = new ManualClock();
  const fired: string[] = [];
  const at = (ms: number, name: string) => clock.after(ms, () => void fired.push(`${name}@${clock.now()}`));
  at(20, "late");
  at(10, "first");
  at(10, "second");
  at(30, "never").cancel();
  clock.after(5, () => void at(5, "nested"));
  await clock.advance(19);
  expect(fired).toEqual(["first@10", "second@10", "nested@10"]);
  await clock.advance(20);
  expect(fired.slice(3)).toEqual(["late@20"]);
  expect([clock.now(), clock.timers]).toEqual([39, 0]);
});

test("what a timer starts gets its turn before the next timer", async () => {
  const clock = new ManualClock(1000);
  const order: string[] = [];
  clock.after(1, () => void Promise.resolve().then(() => order.push("promise")));
  clock.after(1, () => void order.push("timer"));
  await clock.advance(1);
  expect(order).toEqual(["promise", "timer"]);
  expect(clock.wall()).toBe(1001);
});

test("a timer that a ready promise is about to set counts from now", async () => {
  const clock = new ManualClock();
  const fired: number[] = [];
  void Promise.resolve().then(() => clock.after(10, () => void fired.push(clock.now())));
  await clock.advance(15);
  expect(fired).toEqual([10]);
});
