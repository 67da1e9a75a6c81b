import { describe, expect, test } from "vitest";
import { HASH_SPAN, hash } from "./hash.ts";

const ids = (count: number, prefix = ""): string[] => Array.from({ length: count }, (_, i) => prefix + i);

/** How far observed counts are from even, as chi-square; its mean is `buckets` and its deviation √(2 × buckets). */
function unevenness(counts: readonly number[], total: number): number {
  const expected = total / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe("hash", () => {
  test("keeps the values that views of algorithm ring/1 were computed with", () => {
    expect([hash(""), hash("a"), hash("node-1", 7), hash("jobs/42"), hash("日本", 1)]).toEqual([
      2556945346639625, 3578306522430864, 8477582157449142, 3323424409102389, 693394521106679,
    ]);
  });

  test("stays within its span and is a whole number", () => {
    for (const id of ids(1000, "x")) {
      const value = hash(id, 3);
      expect(Number.isSafeInteger(value) && value >= 0 && value < HASH_SPAN).toBe(true);
    }
  });

  // 5 deviations: one chance in a million for a fair hash, and the inputs are fixed, so it passes always or never.
  test.each([
    ["high bits of counting ids", (i: number) => hash(String(i))],
    [
      "high bits of long ids that differ at the front",
      (i: number) => hash(`${i}-shard-of-a-service-with-a-long-name`),
    ],
    ["high bits over seeds of one id", (i: number) => hash("node-a", i)],
    ["low bits of counting ids", (i: number) => (hash(String(i)) % 1024) * (HASH_SPAN / 1024)],
  ])("spreads %s evenly over 1,024 buckets", (_, at) => {
    const counts = Array.from({ length: 1024 }, () => 0);
    for (let i = 0; i < 65_536; i++) counts[Math.floor(at(i) / (HASH_SPAN / 1024))]! += 1;
    expect(unevenness(counts, 65_536)).toBeLessThan(1024 + 5 * Math.sqrt(2 * 1024));
    expect(unevenness(counts, 65_536)).toBeGreaterThan(1024 - 5 * Math.sqrt(2 * 1024));
  });

  test("has no collision among 200,000 similar ids", () => {
    const seen = new Set<number>();
    for (const id of ids(100_000)) seen.add(hash(id)).add(hash(id, 1));
    expect(seen.size).toBe(200_000);
  });

  test("changes about half of all bits when one character or the seed changes", () => {
    const bits = (value: number): bigint => BigInt(value);
    const distance = (x: number, y: number): number =>
      (bits(x) ^ bits(y)).toString(2).replaceAll("0", "").length;
    let byText = 0;
    let bySeed = 0;
    for (let i = 0; i < 2000; i++) {
      byText += distance(hash(`node-${i}a`), hash(`node-${i}b`));
      bySeed += distance(hash(`node-${i}`, i), hash(`node-${i}`, i + 1));
    }
    // 53 bits × 2,000 fair coins: mean 26.5, deviation of the mean 0.081.
    expect(Math.abs(byText / 2000 - 26.5)).toBeLessThan(0.5);
    expect(Math.abs(bySeed / 2000 - 26.5)).toBeLessThan(0.5);
  });
});
