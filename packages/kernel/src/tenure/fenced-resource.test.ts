import { expect, test } from "vitest";
import { EpochGate, StaleEpochError } from "./fenced-resource.ts";
import { Fence } from "./fence.ts";

test("a gate refuses every epoch below one it has seen, and era counts before revision", () => {
  const gate = new EpochGate();
  gate.raise({ era: 2, revision: 5 });
  expect(() => gate.check({ era: 2, revision: 4 })).toThrow(StaleEpochError);
  expect(() => gate.check({ era: 1, revision: 900 })).toThrow("another tenure has begun");
  gate.check({ era: 2, revision: 5 });
  gate.check({ era: 3, revision: 1 });
  expect(() => gate.raise({ era: 2, revision: 99 })).toThrow(StaleEpochError);
  expect(gate.highest).toEqual({ era: 3, revision: 1 });
});

test("a fence passes before its deadline, only moves forward, and can be read through shared memory", () => {
  const fence = new Fence("s");
  expect(fence.passes(0)).toBe(false);
  fence.extend(100);
  fence.extend(50);
  expect(fence.passes(99)).toBe(true);
  expect(fence.passes(100)).toBe(false);
  expect(new Float64Array(fence.cell.buffer)[0]).toBe(100);
  fence.end();
  expect(fence.passes(-1)).toBe(false);
});
