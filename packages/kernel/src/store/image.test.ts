import { expect, test } from "vitest";
import type { Change, Entry, RangePage } from "./contract.ts";
import { StoreImage } from "./image.ts";

const entry = (key: string, revision: number, value = `v${revision}`): Entry => ({ key, value, revision });
const put = (key: string, revision: number): Change => ({ kind: "put", entry: entry(key, revision) });
const gone = (key: string, revision: number): Change => ({ kind: "delete", key, revision });
const page = (revision: number, entries: Entry[], incarnation = "one"): RangePage => ({
  entries,
  revision,
  incarnation,
  more: false,
  serverTimeMs: 0,
});

function listed(revision: number, ...entries: Entry[]): StoreImage {
  const image = new StoreImage();
  image.relist([page(revision, entries)]);
  return image;
}

test("a change counts only when it is newer than what is known", () => {
  const image = listed(5, entry("a", 5));
  expect(image.apply(4, [put("a", 4)])).toEqual([]);
  expect(image.apply(6, [put("a", 6)])).toHaveLength(1);
  expect(image.apply(6, [put("a", 6)])).toEqual([]);
});

test("an own commit is known before the watch delivers it, and is not repeated by the watch", () => {
  const image = listed(5);
  expect(image.learn(7, [put("a", 7)])).toHaveLength(1);
  expect(image.revision).toBe(5);
  expect(image.apply(7, [put("a", 7)])).toEqual([]);
});

test("a watch that lags behind an own deletion does not bring the key back", () => {
  const image = listed(5, entry("a", 5));
  image.learn(8, [gone("a", 8)]);
  expect(image.apply(6, [put("a", 6)])).toEqual([]);
  expect(image.get("a")).toBeUndefined();
  image.apply(9, [put("a", 9)]);
  expect(image.get("a")?.revision).toBe(9);
});

test("a listing removes what it lacks, but not what was written after its first page", () => {
  const image = listed(5, entry("a", 3), entry("b", 4));
  image.learn(9, [put("c", 9)]);
  const { changes, fallen } = image.relist([page(8, [entry("b", 4)])]);
  expect(fallen).toBe(false);
  expect(changes.map((c) => [c.key, c.entry?.revision])).toEqual([["a", undefined]]);
  expect(image.get("c")?.revision).toBe(9);
});

test("a listing that finds what the watch should have delivered counts as drift", () => {
  const image = listed(5, entry("a", 3));
  image.apply(7, [put("b", 7)]);
  expect(image.relist([page(8, [entry("a", 6), entry("b", 7)])]).drift).toBe(1);
});

test("a listing older than what was seen is fallen and replaces everything", () => {
  const image = listed(9, entry("a", 9), entry("b", 8));
  const { fallen, changes } = image.relist([page(6, [entry("b", 5)])]);
  expect(fallen).toBe(true);
  expect(changes.map((c) => c.key).sort()).toEqual(["a", "b"]);
  expect(image.revision).toBe(6);
  expect(image.get("b")?.revision).toBe(5);
});

test("a listing that shows a key as it was before a write it should know of is fallen, however far the store has counted on", () => {
  const image = listed(9, entry("a", 9), entry("b", 8));
  const { fallen } = image.relist([page(30, [entry("a", 7), entry("b", 8)])]);
  expect(fallen).toBe(true);
  expect(image.get("a")?.revision).toBe(7);
  expect(image.revision).toBe(30);
});

test("an own write that is later than a page does not make the page fallen", () => {
  const image = listed(5, entry("a", 3));
  image.learn(9, [put("a", 9)]);
  expect(image.relist([page(8, [entry("a", 3)])]).fallen).toBe(false);
  expect(image.get("a")?.revision).toBe(9);
});

test("a listing of another incarnation replaces everything, higher revisions or not", () => {
  const image = listed(5, entry("a", 5));
  const { fallen } = image.relist([page(50, [entry("b", 2)], "two")]);
  expect(fallen).toBe(false);
  expect(image.incarnation).toBe("two");
  expect(image.get("a")).toBeUndefined();
});

test("a change says whether a session's end deleted the key", () => {
  const image = listed(5, entry("a", 5), entry("b", 5));
  const [first, second] = image.apply(6, [
    { kind: "delete", key: "a", revision: 6, expired: true },
    gone("b", 6),
  ]);
  expect([first?.expired, second?.expired]).toEqual([true, false]);
});

test("an own commit that the watch has already passed is not learnt again: what undid it may have come too", () => {
  const image = listed(5);
  image.apply(6, [put("a", 6)]);
  image.apply(7, [gone("a", 7)]);
  expect(image.learn(6, [put("a", 6)])).toEqual([]);
  expect(image.get("a")).toBeUndefined();
});

test("keys are found by what they belong to, whichever way they came and went", () => {
  const image = new StoreImage((key) => (key.startsWith("c/") ? key.slice(2, -2) : undefined));
  const group = (name: string): string[] => Array.from(image.group(name) ?? [], ({ key }) => key);
  image.relist([page(2, [entry("c/r/a", 1), entry("t/r", 2)])]);
  image.learn(3, [put("c/r/b", 3)]);
  expect(group("r")).toEqual(["c/r/a", "c/r/b"]);
  image.apply(4, [gone("c/r/a", 4)]);
  expect(group("r")).toEqual(["c/r/b"]);
  image.relist([page(9, [entry("t/r", 2)])]);
  expect(image.group("r")).toBeUndefined();
});
