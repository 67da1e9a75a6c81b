import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { MemoryWatch } from "./memory-watch.ts";

function watched(): {
  clock: ManualClock;
  state: { rss: number; trims: number; frees: number };
  watch: MemoryWatch;
} {
  const clock = new ManualClock();
  const state = { rss: 0, trims: 0, frees: 0 };
  const watch = new MemoryWatch({
    clock,
    memoryBytes: 1_000,
    rssBytes: () => state.rss,
    trim: async () => {
      state.trims += 1;
      state.rss -= state.frees;
    },
    failed: (why) => expect.fail(why),
  });
  return { clock, state, watch };
}

test("free memory is given back when the process has nearly all it was given, and again only when it has grown since", async () => {
  const { clock, state, watch } = watched();
  state.rss = 890;
  await clock.advance(5_000);
  expect(state.trims).toBe(0);
  Object.assign(state, { rss: 960, frees: 30 });
  await clock.advance(1_000);
  expect([state.trims, state.rss]).toEqual([1, 930]);
  await clock.advance(10_000);
  expect(state.trims).toBe(1);
  state.rss = 945;
  await clock.advance(1_000);
  expect([state.trims, state.rss]).toEqual([2, 915]);
  watch.stop();
  expect(clock.timers).toBe(0);
});

test("what shrank by itself and grew again is looked at again", async () => {
  const { clock, state, watch } = watched();
  state.rss = 990;
  await clock.advance(1_000);
  state.rss = 950;
  await clock.advance(1_000);
  state.rss = 985;
  await clock.advance(1_000);
  expect(state.trims).toBe(2);
  watch.stop();
});
