import { ManualClock } from "@keelson/testkit";
import { beforeEach, expect, test } from "vitest";
import { Sweeper } from "./sweeper.ts";

let clock: ManualClock;
let sweeps: number[];
let fails: boolean;
let sweeper: Sweeper;

beforeEach(() => {
  clock = new ManualClock();
  sweeps = [];
  fails = false;
  sweeper = new Sweeper({
    clock,
    random: () => 0.5,
    sweep: () => {
      sweeps.push(clock.now());
      if (fails) return Promise.reject(new Error("not reached"));
      sweeper.learn(100);
      return Promise.resolve();
    },
  });
});

test("it sweeps shortly after the deadline that the last reply named, and as the sweep's own reply says after that", async () => {
  const start = clock.now();
  sweeper.enable(true);
  sweeper.learn(50);
  sweeper.learn(80);
  await clock.advance(89);
  expect(sweeps).toEqual([]);
  await clock.advance(1);
  expect(sweeps).toEqual([start + 90]);
  await clock.advance(110);
  expect(sweeps).toEqual([start + 90, start + 200]);
});

test("with no session, or nobody who watches, it sets no timer", () => {
  sweeper.learn(10);
  expect(clock.timers).toBe(0);
  sweeper.enable(true);
  expect(clock.timers).toBe(1);
  sweeper.learn(undefined);
  expect(clock.timers).toBe(0);
  sweeper.learn(10);
  sweeper.enable(false);
  expect(clock.timers).toBe(0);
});

test("a sweep that failed is tried again", async () => {
  fails = true;
  sweeper.enable(true);
  sweeper.learn(0);
  await clock.advance(10);
  expect(sweeps).toHaveLength(1);
  fails = false;
  await clock.advance(250);
  expect(sweeps).toHaveLength(2);
});
