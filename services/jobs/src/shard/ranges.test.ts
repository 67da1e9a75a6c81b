import fc from "fast-check";
import { expect, test } from "vitest";
import { ShardMap, hex, rangeId, shardRange, tenantPlace } from "./ranges.ts";

test("a tenant's place is the XXH64 of its name with seed 0", () => {
  // Vectors of the algorithm's own documentation.
  expect(hex(tenantPlace(""))).toBe("ef46db3751d8e999");
  expect(hex(tenantPlace("abc"))).toBe("44bc2cf5ad770999");
});

test("the first shards divide all places, without a gap or an overlap", () => {
  for (const count of [1, 2, 3, 16, 1_000]) {
    const { ranges } = new ShardMap(Array.from({ length: count }, (_, index) => String(index)));
    expect(ranges).toHaveLength(count);
    expect([ranges[0]!.first, ranges.at(-1)!.last]).toEqual([0n, (1n << 64n) - 1n]);
    for (const [index, { first }] of ranges.entries())
      expect(index === 0 || first === ranges[index - 1]!.last + 1n).toBe(true);
  }
});

test("every tenant has exactly one shard, before and after a split", () => {
  const middle = 0x2000_0000_0000_0000n;
  const left = rangeId(0n, middle);
  const right = rangeId(middle + 1n, (1n << 62n) - 1n);
  const before = new ShardMap(["0", "1", "2", "3"]);
  const after = new ShardMap(["1", right, "3", "2", left]);
  fc.assert(
    fc.property(fc.string(), (tenant) => {
      const [was, is] = [before.of(tenant), after.of(tenant)];
      expect(was === "0" ? [left, right].includes(is!) : was === is).toBe(true);
      const { first, last } = shardRange(is!, 4)!;
      expect(first <= tenantPlace(tenant) && tenantPlace(tenant) <= last).toBe(true);
    }),
  );
});

test.each(["4", "-1", "01", "x", "ffffffffffffffff-0000000000000000", "00-ff"])(
  "%s is no shard of four",
  (id) => {
    expect(shardRange(id, 4)).toBeUndefined();
  },
);

test("while no shard is known a tenant has none", () => {
  expect(new ShardMap([]).of("t")).toBeUndefined();
});
