import type { Revision } from "@keelson/kernel";
import { ManualClock } from "@keelson/testkit";
import { beforeEach, expect, test } from "vitest";
import type { LogPage } from "../feed/change-log.ts";
import { TableFollower } from "./table-log.ts";

let clock: ManualClock;
let reads: { after: Revision; at: number }[];
let latest: Revision;
let follower: TableFollower;
const start = (): number => new ManualClock().now();

function follow(hinted: boolean): TableFollower {
  return new TableFollower({
    clock,
    hinted,
    read: (after) => {
      reads.push({ after, at: clock.now() - start() });
      const batch = { revision: latest, incarnation: "one", changes: [] };
      return Promise.resolve({ batches: latest > after ? [batch] : [] });
    },
    closed: () => {},
  });
}

beforeEach(() => {
  clock = new ManualClock();
  reads = [];
  latest = 5;
  follower = follow(true);
});

const found = (page: LogPage): number => ("batches" in page ? page.batches.length : -1);

test("a notification makes it look at once, also one that came before it waited", async () => {
  const waiting = follower.next(5);
  latest = 6;
  follower.notice(6);
  expect(found(await waiting)).toBe(1);
  follower.notice(7);
  latest = 7;
  expect(found(await follower.next(6))).toBe(1);
  expect(reads.map(({ at }) => at)).toEqual([0, 0]);
});

test("without one it looks every two seconds, counted from the last word that there is nothing new", async () => {
  const waiting = follower.next(5);
  await clock.advance(1_500);
  follower.notice(5);
  await clock.advance(1_999);
  expect(reads).toEqual([]);
  await clock.advance(1);
  expect(found(await waiting)).toBe(0);
});

test("what a look finds unannounced makes it look often from then on", async () => {
  const waiting = follower.next(5);
  latest = 6;
  await clock.advance(2_000);
  expect(found(await waiting)).toBe(1);
  const next = follower.next(6);
  await clock.advance(100);
  expect(found(await next)).toBe(0);
  expect(reads.map(({ at }) => at)).toEqual([2_000, 2_100]);
});

test("where none is to be expected it looks often from the start", async () => {
  const waiting = follow(false).next(5);
  await clock.advance(100);
  expect(found(await waiting)).toBe(0);
});

test("closing ends the wait, and every later one", async () => {
  const waiting = follower.next(5);
  follower.close();
  await expect(waiting).rejects.toThrow("closed");
  await expect(follower.next(5)).rejects.toThrow("closed");
  expect([clock.timers, reads]).toEqual([0, []]);
});
