import { expect, test } from "vitest";
import { formatDuration, parseDurationMs } from "./duration.ts";

test.each([
  ["500ms", 500],
  ["2s", 2_000],
  ["1.5s", 1_500],
  ["2m", 120_000],
  ["1h", 3_600_000],
  ["10", undefined],
  ["s", undefined],
  ["-1s", undefined],
  ["1 fortnight", undefined],
])("%s is %s milliseconds", (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});

test("is written with the unit that suits it", () => {
  expect([47, 999.6, 2_000, 2_340, 600_000].map(formatDuration)).toEqual([
    "47 ms",
    "1000 ms",
    "2 s",
    "2.3 s",
    "10 min",
  ]);
});
