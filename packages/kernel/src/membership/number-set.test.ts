import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeNumbers, encodeNumbers } from "./number-set.ts";
import { shardCount, shardIds, type ServiceParameters } from "./view.ts";

const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b);

test("any set comes back as it was, in order", () => {
  const numbers = fc.uniqueArray(fc.oneof(fc.nat(200), fc.nat(20_000), fc.maxSafeNat()), { maxLength: 300 });
  fc.assert(
    fc.property(numbers, (given) => {
      expect(decodeNumbers(encodeNumbers(given))).toEqual(sorted(given));
    }),
  );
});

test("whole chunks, ranges and bitmaps are each used where they are shortest", () => {
  const all = Array.from({ length: 4_096 }, (_, i) => i);
  expect(encodeNumbers(all)).toBe("0:*");
  expect(encodeNumbers([4_096, 4_097, 4_100])).toBe("1:!T");
  expect(encodeNumbers([4_096, 4_097, 8_000])).toBe("1:0-1.30g");
  const even = all.filter((each) => each % 2 === 0);
  expect(encodeNumbers(even)).toMatch(/^0:!V{682}/);
  expect(decodeNumbers(encodeNumbers(even))).toEqual(even);
});

test("a hundred thousand fit into a value of the store, whichever of them rest", () => {
  for (const keep of [2, 3, 10]) {
    const some = Array.from({ length: 100_000 }, (_, i) => i + 1).filter(
      (each) => (each * 2_654_435_761) % keep !== 0,
    );
    expect(encodeNumbers(some).length).toBeLessThan(24_000);
  }
});

test.each(["x", "0:!\u00e9", "0:5-2", "0:zzzz", ":1"])("%j is refused", (text) => {
  expect(() => decodeNumbers(text)).toThrow(RangeError);
});

test("numbered shards come after those that are listed, and are counted", () => {
  const parameters: ServiceParameters = {
    shards: 4,
    shardIds: ["catalogue"],
    shardNumbers: encodeNumbers([7, 8, 20]),
    replicas: 1,
    placement: {},
  };
  expect([shardIds(parameters), shardCount(parameters)]).toEqual([["catalogue", "7", "8", "20"], 4]);
  expect(shardCount({ shards: 1, shardIds: ["a", "b"], replicas: 1, placement: {} })).toBe(2);
  expect(shardCount({ shards: 3, replicas: 1, placement: {} })).toBe(3);
});
