import { expect, test } from "vitest";
import { ago, bytes, span } from "./ago.ts";

test("a length of time takes few characters", () => {
  const times = [0, 59_999, 60_000, 95_000, 601_000, 3_600_000, 5_400_000, 200_000_000];
  expect(times.map(span)).toEqual(["0s", "59s", "1m", "1m35s", "10m", "1h", "1h30m", "2d"]);
});

test("a clock that is behind is no time ago", () => {
  expect(ago(2_000, 1_000)).toBe("0s");
});

test("sizes have the unit that suits them", () => {
  expect([5, 2_048, 91 * 2 ** 20, 3 * 2 ** 30].map(bytes)).toEqual(["5 B", "2.0 KiB", "91 MiB", "3.0 GiB"]);
});
