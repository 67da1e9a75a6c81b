/* oxlint-disable no-await-in-loop -- facts are stories: one step after the other. */
/** Listing: order, prefixes, pages, and objects that come and go between pages. */
import { expect } from "vitest";
import { compareKeys } from "../keys.ts";
import type { Facts } from "./scene.ts";

/** Where the order of bytes differs from that of UTF-16, of folders, of capitals and of locales. */
const TRICKY = [
  "a",
  "a!b",
  "a-b",
  "a.b",
  "a/b",
  "a/b/c",
  "a/b-c",
  "a/b0",
  "a0",
  "aa",
  "A",
  "B/x",
  "Z",
  "_",
  "é",
  "z/é",
  "\u{fffd}",
  "\u{1f600}",
  "\u{ff5e}x",
];

export const lists: Facts = {
  about: "lists",
  facts: {
    "a place without such keys has an empty page": async (scene) => {
      expect(await scene.page("none")).toEqual([[], false]);
      expect(await scene.page("none/at/all/")).toEqual([[], false]);
    },
    "keys come in the order of their bytes, whatever the page size": async (scene) => {
      await Promise.all(TRICKY.map((name) => scene.put(name)));
      const sorted = TRICKY.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(TRICKY.toSorted(compareKeys)).toEqual(sorted);
      for (const limit of [1, 2, 3, 7, 1000]) expect(await scene.all("", limit)).toEqual(sorted);
    },
    "a prefix may end anywhere": async (scene) => {
      await Promise.all(TRICKY.map((name) => scene.put(name)));
      for (const prefix of ["a", "a/", "a/b", "a/b/", "a-", "B", "B/", "z/", "x"]) {
        const expected = TRICKY.filter((name) => name.startsWith(prefix)).toSorted(compareKeys);
        expect(await scene.all(prefix)).toEqual(expected);
        expect(await scene.all(prefix, 2)).toEqual(expected);
      }
    },
    "a page begins after any name, whether it exists or not": async (scene) => {
      await Promise.all(TRICKY.map((name) => scene.put(name)));
      const sorted = TRICKY.toSorted(compareKeys);
      for (const after of [...TRICKY, "a/", "a/b/", "a/a", "a/bb", "0", "zzz", "\u{10ffff}"])
        expect((await scene.page("", { after }))[0]).toEqual(
          sorted.filter((name) => compareKeys(name, after) > 0),
        );
      expect(await scene.page("a/", { after: "b" })).toEqual([[], false]);
      expect((await scene.page("a/b", { after: "Z" }))[0]).toEqual(
        sorted.filter((name) => name.startsWith("a/b")),
      );
    },
    "the last page says so, also when it is full": async (scene) => {
      await Promise.all(["a", "b", "c", "d"].map((name) => scene.put(name)));
      expect(await scene.page("", { limit: 2 })).toEqual([["a", "b"], true]);
      expect(await scene.page("", { limit: 2, after: "b" })).toEqual([["c", "d"], false]);
      expect(await scene.page("", { limit: 4 })).toEqual([["a", "b", "c", "d"], false]);
    },
    "what stays is listed once while others come and go between pages": async (scene) => {
      const stays = Array.from({ length: 30 }, (_, n) => `k${String(n).padStart(2, "0")}/stays`);
      await Promise.all(stays.map((name) => scene.put(name)));
      const seen: string[] = [];
      for (let after = ""; ; after = seen.at(-1)!) {
        const [names, more] = await scene.page("", after === "" ? { limit: 7 } : { limit: 7, after });
        seen.push(...names);
        if (!more) break;
        const n = seen.length;
        await Promise.all([
          scene.put(`k${String(n % 30).padStart(2, "0")}/came-${n}`),
          scene.put(`k00/behind-${n}`),
          scene.objects.delete([scene.key(seen.find((name) => name.includes("came")) ?? "none")], scene.call),
        ]);
      }
      expect(seen.filter((name) => name.endsWith("stays"))).toEqual(stays);
      expect(seen).toEqual(Array.from(new Set(seen)).toSorted(compareKeys));
      expect(seen.some((name) => name.includes("behind"))).toBe(false);
    },
    "a listing shows every put and delete that ended before it": async (scene) => {
      for (let n = 0; n < 5; n += 1) {
        await scene.put(`${n}`);
        expect(await scene.all("", 1000, scene.second)).toEqual(
          Array.from({ length: n + 1 }, (_, each) => `${each}`),
        );
      }
      await scene.objects.delete([scene.key("2")], scene.call);
      expect(await scene.all("", 1000, scene.second)).toEqual(["0", "1", "3", "4"]);
    },
    "a page has at most a thousand objects, and no other number will do": async (scene) => {
      for (const limit of [0, -1, 1.5, 1001])
        await expect(scene.objects.list(scene.prefix, { ...scene.call, limit })).rejects.toMatchObject({
          code: "OBJECT_REJECTED",
        });
    },
  },
};
