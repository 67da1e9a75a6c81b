import { expect, test } from "vitest";
import { busiest, isWorthTelling, leftLoads, loadEveryMs, type LoadRecord } from "./node-load.ts";

const load = (cpu: number, at = 0): LoadRecord => ({ v: 1, cpu, at });

test("the busiest node counts, not the one that asks, and one that has not said may be busy", () => {
  const loads = new Map([
    ["a", load(0.01)],
    ["b", load(0.9)],
    ["c", load(0.02)],
  ]);
  expect(busiest(["a", "b", "c"], loads, 1_000)).toBe(0.9);
  expect(busiest(["a", "c"], loads, 1_000)).toBe(0.02);
  expect(busiest(["a", "d"], loads, 1_000)).toBeUndefined();
  expect(busiest(["a", "c"], loads, 4 * loadEveryMs)).toBeUndefined();
});

test("a load is written when it has changed, or after a while", () => {
  expect(isWorthTelling(undefined, load(0))).toBe(true);
  expect(isWorthTelling(load(0.1), load(0.12, 1_000))).toBe(false);
  expect(isWorthTelling(load(0.1), load(0.2, 1_000))).toBe(true);
  expect(isWorthTelling(load(0.1), load(0.1, loadEveryMs))).toBe(true);
});

test("what nodes that are gone have said is found, once it is old", () => {
  const loads = new Map([
    ["a", load(0)],
    ["gone", load(0)],
    ["young", load(0, 4 * loadEveryMs)],
  ]);
  expect(leftLoads(new Map([["a", 1]]), loads, 4 * loadEveryMs)).toEqual(["gone"]);
});
