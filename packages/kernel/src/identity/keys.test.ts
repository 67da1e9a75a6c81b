import fc from "fast-check";
import { expect, test } from "vitest";
import { compareEpochs, formatEpoch, parseEpoch } from "./epoch.ts";
import { Keys, parseReplicaKey, replicaKey } from "./keys.ts";
import { nameProblem } from "./names.ts";

test("any shard id survives the way through a key", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: "grapheme" }), fc.nat(8), (shard, replica) => {
      const key = replicaKey("svc", shard, replica);
      expect(key.split("/")).toHaveLength(3);
      expect(key).toMatch(/^[A-Za-z0-9._~%/-]+$/);
      expect(parseReplicaKey(key)).toEqual({ service: "svc", shard, replica });
    }),
  );
});

test("a key of the fleet splits into kind and rest; another fleet's does not", () => {
  const keys = new Keys("f");
  expect(keys.parse(keys.contender("s/1/0", "n"))).toEqual({ kind: "contender", rest: "s/1/0/n" });
  expect(keys.parse("/keelson/f2/tenure/s/1/0")).toBeUndefined();
  expect(keys.parse("/keelson/f/x")).toBeUndefined();
});

test("epochs compare era first and survive printing", () => {
  expect(compareEpochs({ era: 1, revision: 9 }, { era: 2, revision: 1 })).toBeLessThan(0);
  expect(compareEpochs({ era: 2, revision: 9 }, { era: 2, revision: 1 })).toBeGreaterThan(0);
  expect(parseEpoch(formatEpoch({ era: 1_790_000_000_000, revision: 7 }))).toEqual({
    era: 1_790_000_000_000,
    revision: 7,
  });
  expect(parseEpoch("1.x")).toBeUndefined();
});

test("a bad name is told what is wrong with it", () => {
  expect(nameProblem("node id", "a-1.b")).toBeUndefined();
  expect(nameProblem("node id", "a/b")).toContain('node id "a/b" must be');
  expect(nameProblem("node id", "")).toContain("must be");
  expect(nameProblem("node id", "x".repeat(64))).toContain("must be");
});
