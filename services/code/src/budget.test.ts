import { expect, test } from "vitest";
import { expectedBytes } from "./budget.ts";

const content = 100 << 20;
const before = { contentBytes: 10 << 20, memoryBytes: 5 << 20 };

test("an index is expected to take a little more for each byte than the one before", () => {
  const bytes = expectedBytes(content, 1_000, before);
  expect(bytes / content).toBeGreaterThan(0.5);
  expect(bytes / content).toBeLessThan(0.54);
  expect(expectedBytes(content, 1_000)).toBeGreaterThan(1.5 * content);
});

test("what was found to be needed is expected, but never more than any index takes", () => {
  expect(expectedBytes(content, 1_000, before, 0.8 * content)).toBe(0.8 * content);
  expect(expectedBytes(content, 1_000, before, 0.1 * content)).toBe(expectedBytes(content, 1_000, before));
  // It has shrunk since.
  expect(expectedBytes(content, 1_000, before, 9 * content)).toBe(expectedBytes(content, 1_000));
});
