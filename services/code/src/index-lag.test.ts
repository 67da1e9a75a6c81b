import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { IndexLag } from "./index-lag.ts";

const clock = new ManualClock();
const lag = (): IndexLag => new IndexLag(() => clock.now());

test("a look that hangs, and looks that fail, go on counting from where the first began", async () => {
  const of = lag();
  expect(of.ms).toBe(0);
  of.lookBegins();
  await clock.advance(1_000);
  expect(of.ms).toBe(1_000);
  // It failed; another begins.
  of.told();
  of.lookBegins();
  await clock.advance(500);
  expect(of.ms).toBe(1_500);
  of.caughtUp();
  expect(of.ms).toBe(0);
});

test("what is told of while a look goes on counts from then, until a look that began later has ended", async () => {
  const of = lag();
  of.lookBegins();
  await clock.advance(100);
  of.told();
  await clock.advance(100);
  of.told();
  of.caughtUp();
  expect(of.ms).toBe(100);
  of.lookBegins();
  await clock.advance(50);
  expect(of.ms).toBe(150);
  of.caughtUp();
  expect(of.ms).toBe(0);
});
