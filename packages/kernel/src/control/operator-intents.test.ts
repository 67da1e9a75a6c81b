import { expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import {
  NO_INTENTS,
  drainedMax,
  intentsCommit,
  intentsProblem,
  readIntents,
  withDrained,
  withPin,
  withoutDrained,
  withoutPin,
} from "./operator-intents.ts";

const keys = new Keys("f");

test("nothing stored is no intents, at revision 0", () => {
  expect(readIntents(undefined)).toEqual({ value: NO_INTENTS, revision: 0 });
});

test("a change is guarded on what was read, and fields of a later version survive it", () => {
  const entry = { key: keys.intents, revision: 7, value: '{"v":1,"drained":["b"],"later":true}' };
  const known = readIntents(entry);
  const commit = intentsCommit(keys, known, withDrained(known.value, "a"));
  expect(commit.guards).toEqual([{ key: keys.intents, revision: 7 }]);
  expect(commit.writes).toEqual([
    { kind: "put", key: keys.intents, value: '{"v":1,"drained":["a","b"],"pins":[],"later":true}' },
  ]);
});

test("draining twice is draining once, and can be taken back", () => {
  const twice = withDrained(withDrained(NO_INTENTS, "a"), "a");
  expect(twice.drained).toEqual(["a"]);
  expect(withoutDrained(twice, "a")).toEqual(NO_INTENTS);
});

test("a pin replaces the one of the same replica, and no other", () => {
  const whole = { service: "s", shard: "1", node: "a" };
  const one = { service: "s", shard: "1", replica: 0, node: "a" };
  const pinned = withPin(withPin(withPin(NO_INTENTS, whole), one), { ...one, node: "b" });
  expect(pinned.pins).toEqual([whole, { ...one, node: "b" }]);
  expect(withoutPin(pinned, one).pins).toEqual([whole]);
});

test("says what is wrong with intents that cannot be kept", () => {
  expect(intentsProblem(withDrained(NO_INTENTS, "a"))).toBeUndefined();
  expect(intentsProblem(withDrained(NO_INTENTS, "a/b"))).toContain("node id");
  const many = Array.from({ length: drainedMax + 1 }, (_, i) => `n${i}`);
  expect(intentsProblem({ ...NO_INTENTS, drained: many })).toContain("take back");
});
