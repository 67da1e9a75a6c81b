import { expect, test } from "vitest";
import { processTerms } from "./process-memory.ts";

const MIB = 1 << 20;
const termsOf = (memoryMb: number, workers: number): ReturnType<typeof processTerms> =>
  processTerms({ memory: memoryMb * MIB, processMemory: 192 * MIB, workers });

test("a node with little memory has two searching threads in all, small ones to build in, and 32 MB for indexes", () => {
  expect(termsOf(224, 1)).toEqual({ memoryBytes: 32 * MIB, workers: 1, spareWorkers: 1, small: true });
  expect(termsOf(224, 2)).toMatchObject({ workers: 2, spareWorkers: 0 });
  expect(termsOf(512, 1)).toMatchObject({ memoryBytes: 272 * MIB, spareWorkers: 1, small: true });
  expect(termsOf(1_024, 2)).toMatchObject({ spareWorkers: 2, small: true });
});

test("of what is left beside the process a node keeps 15 % back, or 384 MB, and a tenth in any case", () => {
  const kept = (memoryMb: number): number => memoryMb - 192 - termsOf(memoryMb, 2).memoryBytes / MIB;
  expect([1_192, 3_192, 8_192].map(kept)).toEqual([150, 384, 800]);
});

test("a node with more has four threads besides those that it was told to have, and never fewer than it was told", () => {
  expect(termsOf(8_192, 2)).toMatchObject({ memoryBytes: 7_200 * MIB, spareWorkers: 4, small: false });
  expect(termsOf(512, 8)).toMatchObject({ workers: 8, spareWorkers: 0 });
});
