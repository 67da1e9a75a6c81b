/** Limits: what is at the limit works, what is past it is rejected and leaves no trace. */
import { STORE_LIMITS, type Write } from "@keelson/kernel";
import { expect } from "vitest";
import type { Facts } from "./facts.ts";
import type { Scene } from "./scene.ts";

const rejected = { name: "StoreError", code: "STORE_REJECTED" };

async function refuses(scene: Scene, writes: readonly Write[]): Promise<void> {
  const before = await scene.revision();
  await expect(scene.commit([scene.write("beside"), ...writes])).rejects.toMatchObject(rejected);
  expect(await scene.names()).toEqual([]);
  expect(await scene.revision()).toBe(before);
}

/** `count` bytes in UTF-8, of characters with three each, so that counting characters instead would pass. */
function bytes(count: number): string {
  return "€".repeat(Math.floor(count / 3)) + "x".repeat(count % 3);
}

const many = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

export const limits: Facts = {
  about: "limits",
  facts: {
    "a value of 64 KiB is kept, one byte more is rejected": async (scene) => {
      const value = bytes(STORE_LIMITS.valueBytesMax);
      await refuses(scene, [scene.write("a", `${value}x`)]);
      await scene.put("a", value);
      expect((await scene.entry("a", scene.second))?.value === value).toBe(true);
    },
    "a key of 1,024 bytes is kept, one byte more is rejected": async (scene) => {
      const name = "k".repeat(STORE_LIMITS.keyBytesMax - scene.prefix.length);
      await refuses(scene, [scene.write(`${name}k`)]);
      await refuses(scene, [scene.write(bytes(STORE_LIMITS.keyBytesMax))]);
      await refuses(scene, [scene.erase(`${name}k`)]);
      await scene.put(name);
      expect(await scene.names()).toEqual([name]);
    },
    "an empty key is rejected": async (scene) => {
      await refuses(scene, [{ kind: "put", key: "", value: "v" }]);
    },
    "a hundred writes under a hundred guards commit": async (scene) => {
      await scene.committed(
        many(STORE_LIMITS.operationsMax, (n) => scene.write(`${n}`)),
        many(STORE_LIMITS.operationsMax, (n) => scene.guard(`${n}`, 0)),
      );
      expect(await scene.names()).toHaveLength(STORE_LIMITS.operationsMax);
    },
    "more than a hundred writes or guards are rejected": async (scene) => {
      await refuses(
        scene,
        many(STORE_LIMITS.operationsMax, (n) => scene.write(`${n}`)),
      );
      const guards = many(STORE_LIMITS.operationsMax + 1, (n) => scene.guard(`${n}`, 0));
      await expect(scene.commit([scene.write("a")], guards)).rejects.toMatchObject(rejected);
      expect(await scene.names()).toEqual([]);
    },
    "two writes of one key in a commit are rejected": async (scene) => {
      await refuses(scene, [scene.write("a", "1"), scene.write("a", "2")]);
      await refuses(scene, [scene.write("a", "1"), scene.erase("a")]);
    },
    "a page may have a thousand entries, and neither more nor none": async (scene) => {
      for (let at = 0; at < 1100; at += 100) {
        // oxlint-disable-next-line no-await-in-loop -- a commit takes a hundred writes.
        await scene.committed(many(100, (n) => scene.write(`${at + n}`)));
      }
      const page = await scene.store.range(scene.prefix, {
        ...scene.call,
        limit: STORE_LIMITS.rangeLimitMax,
      });
      expect([page.entries.length, page.more]).toEqual([1000, true]);
      const unlimited = await scene.store.range(scene.prefix, scene.call);
      expect(unlimited.entries.length).toBeLessThanOrEqual(1000);
      for (const limit of [0, -1, 1.5, STORE_LIMITS.rangeLimitMax + 1]) {
        // oxlint-disable-next-line no-await-in-loop -- four cases.
        await expect(scene.store.range(scene.prefix, { ...scene.call, limit })).rejects.toMatchObject(
          rejected,
        );
      }
    },
    "a TTL that is no time is rejected": async (scene) => {
      for (const ttlMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
        // oxlint-disable-next-line no-await-in-loop -- four cases.
        await expect(scene.store.openSession(ttlMs, scene.call)).rejects.toMatchObject(rejected);
      }
    },
  },
};
