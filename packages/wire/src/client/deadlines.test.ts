import { expect, test } from "vitest";
import { ManualClock } from "../fixtures/manual-clock.ts";
import { Deadlines } from "./deadlines.ts";

function watch(): { clock: ManualClock; deadlines: Deadlines; left: number[]; expired: [number, number][] } {
  const clock = new ManualClock();
  const left: number[] = [];
  const expired: [number, number][] = [];
  const deadlines = new Deadlines(clock, (now) => {
    for (const due of left.filter((deadline) => deadline <= now)) {
      left.splice(left.indexOf(due), 1);
      expired.push([due, now]);
    }
    return Math.min(Infinity, ...left);
  });
  return { clock, deadlines, left, expired };
}

test("one timer serves any number of deadlines, in whatever order they come", () => {
  const { clock, deadlines, left, expired } = watch();
  for (const deadline of [500, 100, 300, 200]) {
    left.push(deadline);
    deadlines.add(deadline, clock.now());
    expect(clock.timers).toBe(1);
  }
  clock.advance(1_000);
  expect(expired).toEqual([
    [100, 100],
    [200, 200],
    [300, 300],
    [500, 500],
  ]);
  expect(clock.timers).toBe(0);
});

test("deadlines that lie close together share a wake-up", () => {
  const { clock, deadlines, left, expired } = watch();
  for (let deadline = 100; deadline < 110; deadline += 1) {
    left.push(deadline);
    deadlines.add(deadline, 0);
  }
  clock.advance(200);
  expect(new Set(expired.map(([, now]) => now)).size).toBe(3);
  expect(expired.every(([deadline, now]) => now - deadline < 5)).toBe(true);
});

test("a deadline that was met costs one idle wake-up and leaves no timer", () => {
  const { clock, deadlines, expired } = watch();
  deadlines.add(100, 0);
  clock.advance(100);
  expect(expired).toEqual([]);
  expect(clock.timers).toBe(0);
});
