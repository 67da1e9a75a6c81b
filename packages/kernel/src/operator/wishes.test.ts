import { expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import type { Entry } from "../store/contract.ts";
import { pinsOf, readWishes } from "./wishes.ts";

const keys = new Keys("f");
const wish = { v: 1, by: "ann", reason: "new disk", since: 5 } as const;

function entry(key: string, value: unknown, revision = 3): Entry {
  return { key, revision, value: JSON.stringify(value) };
}

test("drains and pins are read back from their keys, whatever the shard is called", () => {
  const { drains, pins } = readWishes(keys, [
    entry(keys.member("a"), { node: "a" }),
    entry(keys.drain("a"), wish),
    entry(keys.pin("s", "a/b c", 1), { ...wish, node: "b" }),
    entry(keys.pin("s", "7", "any"), { ...wish, node: "c", once: true }),
  ]);
  expect(drains).toEqual([{ key: keys.drain("a"), revision: 3, node: "a", wish }]);
  expect(pins).toMatchObject([
    { service: "s", shard: "a/b c", replica: 1, node: "b" },
    { service: "s", shard: "7", node: "c", wish: { once: true } },
  ]);
});

test("placements get the pins of their own service, without the wish", () => {
  const wishes = readWishes(keys, [
    entry(keys.pin("s", "1", 0), { ...wish, node: "b" }),
    entry(keys.pin("t", "1", 0), { ...wish, node: "c" }),
    entry(keys.pin("s", "2", "any"), { ...wish, node: "c" }),
  ]);
  expect(pinsOf(wishes, "s")).toEqual([
    { shard: "1", replica: 0, node: "b" },
    { shard: "2", node: "c" },
  ]);
});

test("a wish of a later version is left alone", () => {
  expect(readWishes(keys, [entry(keys.drain("a"), { ...wish, v: 2 })])).toEqual({ drains: [], pins: [] });
});
