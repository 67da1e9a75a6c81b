import { expect, test } from "vitest";
import { DurationHistogram } from "./counters.ts";

test("what took up to a second is counted as that, and not as more", () => {
  const histogram = new DurationHistogram();
  for (const ms of [0.3, 513, 999.9, 1_000, 1_000.1, 1e9]) histogram.add(ms);
  const upTo = (ms: number): number =>
    histogram.counts.slice(0, histogram.boundsMs.indexOf(ms) + 1).reduce((sum, count) => sum + count, 0);
  expect([upTo(1), upTo(500), upTo(1_000), upTo(2_000)]).toEqual([1, 1, 4, 5]);
  expect(histogram.counts.at(-1)).toBe(1);
  expect(histogram.sumsMs.at(-1)).toBe(1e9);
  expect(histogram.sumsMs.reduce((sum, ms) => sum + ms, 0)).toBeCloseTo(1e9 + 3_513.3, 3);
});
