import fc from "fast-check";
import { expect, test } from "vitest";
import { ShardIndex } from "./shard-index.ts";

test("behaves like a map for any ids, numbered or not", () => {
  const id = fc.oneof(
    fc.integer({ min: 0, max: 40 }).map(String),
    fc.constantFrom(
      "",
      "00",
      "007",
      "-1",
      "1.0",
      "1e3",
      "999999",
      "1000000",
      "5000",
      "a",
      "a/b",
      "7 ",
      "__proto__",
      "length",
    ),
    fc.integer({ min: 0, max: 20_000 }).map(String),
  );
  const step = fc.record({ id, value: fc.option(fc.integer(), { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const index = new ShardIndex<number>();
      const model = new Map<string, number>();
      for (const { id: shard, value } of steps) {
        const done = value === undefined ? index.delete(shard) : index.set(shard, value);
        const modelled = value === undefined ? model.delete(shard) : void model.set(shard, value);
        expect(done).toBe(modelled);
        expect(index.get(shard)).toBe(model.get(shard));
      }
      expect(index.size).toBe(model.size);
      for (const { id: shard } of steps) expect(index.get(shard)).toBe(model.get(shard));
    }),
  );
});

test("finds a number that was too high for the array when it came, after the array has grown past it", () => {
  const index = new ShardIndex<string>();
  index.set("9000", "early");
  for (let i = 0; i < 8_990; i++) index.set(String(i), "filler");
  expect(index.get("9000")).toBe("early");
  for (let i = 8_990; i < 9_500; i++) if (i !== 9_000) index.set(String(i), "filler");
  expect(index.get("9000")).toBe("early");
  index.set("9000", "late");
  expect([index.get("9000"), index.delete("9000"), index.get("9000"), index.size]).toEqual([
    "late",
    true,
    undefined,
    9_499,
  ]);
});
