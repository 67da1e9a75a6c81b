import { expect, test } from "vitest";
import { rates, seriesOf, times } from "./series.ts";

const counts = { scheduled: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 };
const history = {
  stepMs: 10_000,
  points: [{ ...counts, atMs: 1_000_000, succeeded: 20, waitMsP50: 3 }],
};

test("steps in which nothing happened are zero, their times are gaps, and the step that has not ended is left out", () => {
  const series = seriesOf(history, 1_029_000, 30);
  expect(series.times).toEqual([990, 1_000, 1_010]);
  expect(rates(series, history.stepMs, "succeeded")).toEqual([0, 2, 0]);
  expect(times(series, "waitMsP50")).toEqual([null, 3, null]);
});
