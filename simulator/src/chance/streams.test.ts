import { describe, expect, it } from "vitest";
import { below, exponential, magnitude, uniform, weighted } from "./draw.ts";
import { Streams } from "./streams.ts";

const take = (random: () => number, n: number): number[] => Array.from({ length: n }, () => random());

describe("Streams", () => {
  it("gives the same numbers for the same seed and name, and others for another", () => {
    expect(take(new Streams(7).stream("a"), 5)).toEqual(take(new Streams(7).stream("a"), 5));
    expect(take(new Streams(7).stream("a"), 5)).not.toEqual(take(new Streams(8).stream("a"), 5));
    expect(take(new Streams(7).stream("a"), 5)).not.toEqual(take(new Streams(7).stream("b"), 5));
  });

  it("keeps streams apart: drawing from one does not shift another", () => {
    const streams = new Streams(7);
    const alone = take(new Streams(7).within("x").stream("b"), 5);
    take(streams.stream("a"), 100);
    expect(take(streams.within("x").stream("b"), 5)).toEqual(alone);
  });

  it("spreads evenly over [0, 1)", () => {
    const numbers = take(new Streams(1).stream("even"), 10_000);
    const mean = numbers.reduce((a, b) => a + b) / numbers.length;
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.02);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...numbers)).toBeLessThan(1);
  });
});

describe("draws", () => {
  it("stay within their bounds", () => {
    const random = new Streams(3).stream("draws");
    for (let i = 0; i < 1_000; i++) {
      expect(uniform(random, [2, 3])).toBeGreaterThanOrEqual(2);
      expect(magnitude(random, [0.1, 10])).toBeLessThanOrEqual(10);
      expect(below(random, 4)).toBeLessThan(4);
      expect(exponential(random, 5)).toBeGreaterThanOrEqual(0);
    }
  });

  it("weigh names as told, and never draw one of weight zero", () => {
    const random = new Streams(3).stream("weights");
    const counts = { a: 0, b: 0, c: 0 };
    const weights = new Map<keyof typeof counts, number>([
      ["a", 3],
      ["b", 1],
      ["c", 0],
    ]);
    for (let i = 0; i < 4_000; i++) counts[weighted(random, weights)]++;
    expect(counts.c).toBe(0);
    expect(counts.a / counts.b).toBeGreaterThan(2.5);
    expect(counts.a / counts.b).toBeLessThan(3.5);
  });
});
