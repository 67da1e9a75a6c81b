/* oxlint-disable no-await-in-loop -- facts are stories: one step after the other. */
/** Keys that a file system, a URL, XML or a shell might take for something else, and those that are refused. */
import { expect } from "vitest";
import { OBJECT_LIMITS } from "../contract.ts";
import { compareKeys } from "../keys.ts";
import type { Facts } from "./scene.ts";

const HOSTILE = [
  "con",
  "nul.txt",
  "...",
  ".hidden",
  "..a/..b",
  "a. ",
  " ",
  "a b",
  "a+b",
  "a%2fb",
  "a%b",
  "%",
  "%00",
  "a\\b",
  "C:/x",
  "a:b",
  "a?b=c&d#e",
  "a*b<c>d|e\"f'g",
  "$(id)`id`;x",
  "~root",
  "a~",
  "a.obj",
  "a.obj/b.obj",
  "a.obj.obj",
  "a",
  "UPPER",
  "upper",
  "Upper",
  "é",
  "e\u0301",
  "日本/語",
  "\u{1f680}/🧵",
  "\u00a0",
  "\u2028",
  "\ufeff",
  "&amp;",
  "<Key>]]>",
  "x".repeat(79),
  "x".repeat(80),
  `${"x".repeat(80)}/y`,
  "x".repeat(81),
  "x".repeat(300),
  `${"x".repeat(300)}/z`,
  "é".repeat(200),
];

const REFUSED = [
  "",
  "/",
  "/a",
  "a/",
  "a//b",
  ".",
  "..",
  "./a",
  "a/./b",
  "../../../etc/passwd",
  "a/..",
  "a\0b",
  "a\nb",
  "a\u007f",
  "\ufffe",
  "\ud800",
  "a\udc00b",
  "k".repeat(OBJECT_LIMITS.keyBytesMax + 1),
  "€".repeat(OBJECT_LIMITS.keyBytesMax / 3 + 1),
];

export const names: Facts = {
  about: "names",
  facts: {
    "no name is taken for another, or for anything but a name": async (scene) => {
      const sorted = HOSTILE.toSorted(compareKeys);
      await Promise.all(HOSTILE.map((name) => scene.put(name)));
      expect(await scene.all("")).toEqual(sorted);
      expect(await scene.all("", 3)).toEqual(sorted);
      for (const name of HOSTILE) {
        expect(await scene.text(name)).toBe(name);
        expect(await scene.putIfAbsent(name, "x", scene.second)).toBe("exists");
      }
      await scene.objects.delete(
        HOSTILE.map((name) => scene.key(name)),
        scene.call,
      );
      expect(await scene.all("")).toEqual([]);
    },
    "the longest key is kept": async (scene) => {
      const name = "k".repeat(OBJECT_LIMITS.keyBytesMax - Buffer.byteLength(scene.prefix));
      const wide = `${"€".repeat(Math.floor((name.length - 2) / 3))}/k`;
      await scene.put(name, "one");
      await scene.put(wide, "two");
      expect([await scene.text(name), await scene.text(wide)]).toEqual(["one", "two"]);
      expect(await scene.all("")).toEqual([name, wide]);
    },
    "what is not a key is refused, by every call": async (scene) => {
      const refused = { name: "ObjectError", code: "OBJECT_REJECTED" };
      const { objects, call } = scene;
      const source = async function* (): AsyncGenerator<Uint8Array> {
        yield Buffer.from("x");
      };
      for (const key of REFUSED) {
        await expect(objects.put(key, Buffer.from("x"), call)).rejects.toMatchObject(refused);
        await expect(objects.putIfAbsent(key, Buffer.from("x"), call)).rejects.toMatchObject(refused);
        await expect(objects.putStream(key, source(), call)).rejects.toMatchObject(refused);
        await expect(objects.get(key, call)).rejects.toMatchObject(refused);
        await expect(objects.getRange(key, 0, 1, call)).rejects.toMatchObject(refused);
        await expect(objects.head(key, call)).rejects.toMatchObject(refused);
        await expect(objects.delete([scene.key("fine"), key], call)).rejects.toMatchObject(refused);
      }
      expect(await scene.all("")).toEqual([]);
    },
  },
};
