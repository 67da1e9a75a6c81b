/* oxlint-disable no-await-in-loop -- facts are stories: one step after the other. */
/** What put, put-if-absent and delete do, alone and against each other. */
import { expect } from "vitest";
import type { Facts } from "./scene.ts";

const RACERS = 8;

export const writes: Facts = {
  about: "writes",
  facts: {
    "what was put is there, for every client": async (scene) => {
      await scene.put("a", "one");
      expect([await scene.text("a"), await scene.text("a", scene.second)]).toEqual(["one", "one"]);
    },
    "a put replaces, whole": async (scene) => {
      await scene.put("a", "a long first text");
      await scene.put("a", "two");
      expect(await scene.text("a", scene.second)).toBe("two");
    },
    "put-if-absent creates once and then changes nothing": async (scene) => {
      expect(await scene.putIfAbsent("a", "one")).toBe("created");
      expect(await scene.putIfAbsent("a", "two")).toBe("exists");
      expect(await scene.putIfAbsent("a", "one", scene.second)).toBe("exists");
      expect(await scene.text("a")).toBe("one");
    },
    "put-if-absent finds what a put left": async (scene) => {
      await scene.put("a", "one");
      expect(await scene.putIfAbsent("a", "two")).toBe("exists");
    },
    "of eight put-if-absent at once exactly one creates, and its bytes stay": async (scene) => {
      for (const round of [0, 1, 2]) {
        const outcomes = await Promise.all(
          Array.from({ length: RACERS }, (_, n) =>
            scene.putIfAbsent(`race-${round}`, `racer ${n}`, n % 2 === 0 ? scene.objects : scene.second),
          ),
        );
        expect(outcomes.filter((kind) => kind === "created")).toHaveLength(1);
        expect(await scene.text(`race-${round}`)).toBe(`racer ${outcomes.indexOf("created")}`);
      }
    },
    "of racing puts one is left, whole": async (scene) => {
      const texts = Array.from({ length: RACERS }, (_, n) => `${n}`.repeat(1000 * (n + 1)));
      await Promise.all(texts.map((text) => scene.put("a", text)));
      expect(texts).toContain(await scene.text("a"));
    },
    "an empty object is an object": async (scene) => {
      await scene.put("a", "");
      expect(await scene.objects.get(scene.key("a"), scene.call)).toMatchObject({
        sizeBytes: 0,
        bytes: Buffer.alloc(0),
      });
      expect(await scene.putIfAbsent("a", "x")).toBe("exists");
      expect(await scene.putIfAbsent("b", "")).toBe("created");
      expect(await scene.objects.head(scene.key("b"), scene.call)).toMatchObject({ sizeBytes: 0 });
    },
    "the caller may reuse its buffer after the call": async (scene) => {
      const bytes = Buffer.from("before");
      await scene.objects.put(scene.key("a"), bytes, scene.call);
      bytes.write("AFTER!");
      expect(await scene.text("a")).toBe("before");
    },
    "deletes what is there, and misses nothing that is not": async (scene) => {
      await Promise.all(["a", "b", "c", "deep/er/d"].map((name) => scene.put(name)));
      await scene.objects.delete(
        ["a", "missing", "c", "deep/er/d", "deep/er"].map((name) => scene.key(name)),
        scene.call,
      );
      expect(await scene.all("")).toEqual(["b"]);
      expect(await scene.text("a", scene.second)).toBeUndefined();
      await scene.objects.delete([scene.key("a")], scene.call);
      await scene.objects.delete([], scene.call);
    },
    "what was deleted can be put again, also where nothing else was left": async (scene) => {
      await scene.put("x/y/a", "one");
      await scene.objects.delete([scene.key("x/y/a")], scene.call);
      expect(await scene.putIfAbsent("x/y/a", "two")).toBe("created");
      expect(await scene.text("x/y/a", scene.second)).toBe("two");
    },
    "a put and a delete of neighbours at once do not disturb each other": async (scene) => {
      for (let round = 0; round < 5; round += 1) {
        await scene.put("n/old");
        await Promise.all([
          scene.objects.delete([scene.key("n/old")], scene.call),
          scene.put("n/new", `${round}`, scene.second),
        ]);
        expect(await scene.all("")).toEqual(["n/new"]);
        await scene.objects.delete([scene.key("n/new")], scene.call);
      }
    },
  },
};
