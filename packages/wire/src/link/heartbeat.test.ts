import { expect, test } from "vitest";
import { Heartbeat } from "./heartbeat.ts";

const limits = { pingAfterMs: 100, idlePingAfterMs: 1_000, pongWithinMs: 300 };

test("asks after a short silence when something is in flight, and after a long one otherwise", () => {
  const heartbeat = new Heartbeat(limits, 0);
  expect(heartbeat.check(99, true)).toBe("fine");
  expect(heartbeat.check(100, true)).toBe("ask");
  expect(heartbeat.check(999, false)).toBe("fine");
  expect(heartbeat.check(1_000, false)).toBe("ask");
});

test("gives up when a ping is not answered in time, whatever was asked since", () => {
  const heartbeat = new Heartbeat(limits, 0);
  heartbeat.asked(100);
  heartbeat.asked(350);
  for (const now of [150, 250, 350, 399]) expect(heartbeat.check(now, true)).toBe("fine");
  expect(heartbeat.check(400, true)).toBe("gone");
});

test("any byte is an answer", () => {
  const heartbeat = new Heartbeat(limits, 0);
  heartbeat.asked(100);
  heartbeat.heard(390);
  expect(heartbeat.check(400, true)).toBe("fine");
  expect(heartbeat.check(490, true)).toBe("ask");
});

test("a late look at the clock asks first: only an unanswered ping counts", () => {
  const heartbeat = new Heartbeat(limits, 0);
  expect(heartbeat.check(60_000, true)).toBe("ask");
});

test("a process that was stopped itself waits for the answer anew", () => {
  const heartbeat = new Heartbeat(limits, 0);
  heartbeat.asked(100);
  expect(heartbeat.check(110, true)).toBe("fine");
  expect(heartbeat.check(9_000, true)).toBe("fine");
  for (const now of [9_100, 9_200, 9_299]) expect(heartbeat.check(now, true)).toBe("fine");
  expect(heartbeat.check(9_300, true)).toBe("gone");
});
