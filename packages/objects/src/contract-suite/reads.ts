/* oxlint-disable no-await-in-loop -- facts are stories: one step after the other. */
/** What get, range and head give, and what they do with an object that was damaged. */
import { expect } from "vitest";
import { BLOCK_BYTES, DATA_BYTES } from "../sealed/layout.ts";
import { pattern, type Facts } from "./scene.ts";

export const reads: Facts = {
  about: "reads",
  facts: {
    "what is not there is undefined, not an error": async (scene) => {
      const key = scene.key("none/at/all");
      expect(await scene.objects.get(key, scene.call)).toBeUndefined();
      expect(await scene.objects.getRange(key, 0, 1, scene.call)).toBeUndefined();
      expect(await scene.objects.head(key, scene.call)).toBeUndefined();
      await scene.put("a/b");
      expect(await scene.objects.head(scene.key("a"), scene.call)).toBeUndefined();
      expect(await scene.objects.get(scene.key("a/b/c"), scene.call)).toBeUndefined();
    },
    "every byte value comes back": async (scene) => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, n) => n));
      await scene.objects.put(scene.key("a"), bytes, scene.call);
      expect((await scene.objects.get(scene.key("a"), scene.call))?.bytes.equals(bytes)).toBe(true);
    },
    "a range is cut at the ends of the object": async (scene) => {
      await scene.put("a", "0123456789");
      const cases: [number, number, string][] = [
        [0, 10, "0123456789"],
        [0, 1, "0"],
        [3, 4, "3456"],
        [9, 1, "9"],
        [9, 100, "9"],
        [10, 1, ""],
        [1000, 5, ""],
        [0, 0, ""],
        [4, 0, ""],
      ];
      for (const [offset, length, text] of cases) expect(await scene.range("a", offset, length)).toBe(text);
      const info = await scene.objects.getRange(scene.key("a"), 1000, 5, scene.call);
      expect(info).toMatchObject({ key: scene.key("a"), sizeBytes: 10 });
    },
    "a range of an empty object is empty": async (scene) => {
      await scene.put("a", "");
      expect(await scene.range("a", 0, 0)).toBe("");
      expect(await scene.range("a", 0, 5)).toBe("");
    },
    "ranges over the edges of blocks are exact": async (scene) => {
      const bytes = pattern(3 * DATA_BYTES + 17);
      await scene.objects.put(scene.key("a"), bytes, scene.call);
      const edges = [0, 1, DATA_BYTES - 1, DATA_BYTES, DATA_BYTES + 1, 2 * DATA_BYTES, 3 * DATA_BYTES + 16];
      for (const offset of edges)
        for (const length of [1, 2, DATA_BYTES, bytes.length]) {
          const got = await scene.objects.getRange(scene.key("a"), offset, length, scene.call);
          expect(got?.bytes.equals(bytes.subarray(offset, offset + length))).toBe(true);
        }
    },
    "head, get, range and list agree about size and version": async (scene) => {
      await scene.objects.put(scene.key("a"), pattern(DATA_BYTES + 1), scene.call);
      const info = await scene.objects.head(scene.key("a"), scene.call);
      const got = await scene.objects.get(scene.key("a"), scene.call);
      const part = await scene.objects.getRange(scene.key("a"), 7, 7, scene.call);
      const page = await scene.objects.list(scene.key("a"), scene.call);
      const about = { key: scene.key("a"), sizeBytes: DATA_BYTES + 1, version: info?.version };
      expect([info, got, part, page.objects[0]]).toEqual(Array(4).fill(expect.objectContaining(about)));
    },
    "a range of a version that was replaced is refused": async (scene) => {
      await scene.put("a", "one");
      const { version } = (await scene.objects.head(scene.key("a"), scene.call))!;
      expect(await scene.objects.getRange(scene.key("a"), 0, 3, { ...scene.call, version })).toMatchObject({
        version,
      });
      await scene.put("a", "two");
      await expect(
        scene.objects.getRange(scene.key("a"), 0, 3, { ...scene.call, version }),
      ).rejects.toMatchObject({ name: "ObjectError", code: "OBJECT_CHANGED" });
    },
    "an object larger than asked for is refused, not cut": async (scene) => {
      await scene.put("a", "0123456789");
      const get = (bytesMax: number) => scene.objects.get(scene.key("a"), { ...scene.call, bytesMax });
      expect((await get(10))?.bytes.toString()).toBe("0123456789");
      await expect(get(9)).rejects.toMatchObject({ code: "OBJECT_REJECTED" });
    },
    "one changed byte makes an object an error, never data": async (scene) => {
      const corrupt = { name: "ObjectError", code: "OBJECT_CORRUPT" };
      const bytes = pattern(2 * DATA_BYTES + 100);
      for (const [name, at] of [
        ["first", 5],
        ["second", BLOCK_BYTES + 9],
        ["seal", BLOCK_BYTES - 2],
      ] as const) {
        await scene.objects.put(scene.key(name), bytes, scene.call);
        await scene.harness.damage(scene.key(name), at);
        await expect(scene.objects.get(scene.key(name), scene.call)).rejects.toMatchObject(corrupt);
      }
      const range = (name: string, offset: number) =>
        scene.objects.getRange(scene.key(name), offset, 50, scene.call);
      await expect(range("first", 100)).rejects.toMatchObject(corrupt);
      await expect(range("second", DATA_BYTES)).rejects.toMatchObject(corrupt);
      expect((await range("second", 0))?.bytes.equals(bytes.subarray(0, 50))).toBe(true);
      await scene.put("empty", "");
      await scene.harness.damage(scene.key("empty"), 3);
      await expect(scene.objects.get(scene.key("empty"), scene.call)).rejects.toMatchObject(corrupt);
    },
  },
};
