import type { NextEra } from "@keelson/kernel";
import { expect, test } from "vitest";
import { ObjectError } from "../errors.ts";
import { InterceptedObjects } from "../intercepted-objects.ts";
import { MemoryObjects } from "../memory/memory-objects.ts";
import { ObjectEras } from "./object-eras.ts";

const call = { timeoutMs: 1_000 };
const erasOf = (objects: MemoryObjects | InterceptedObjects) => new ObjectEras({ objects, by: "node-a" });
const keys = async (objects: MemoryObjects): Promise<number[]> =>
  (await objects.list("era/", call)).objects.map(({ key }) => Number(key.slice(4)));

test("the first number of a fleet is fresh, and no other is", async () => {
  const objects = new MemoryObjects();
  expect(await erasOf(objects).next(0, 0)).toEqual({ era: 1, fresh: true });
  expect(await erasOf(objects).next(0, 0)).toEqual({ era: 2, fresh: false });
  expect(await erasOf(objects).next(1, 0)).toEqual({ era: 3, fresh: false });
});

test("a number is above everything that is remembered, here or by the caller", async () => {
  const objects = new MemoryObjects();
  // A store remembered era 41 from before there were objects: somebody may still hold something.
  expect(await erasOf(objects).next(41, 0)).toEqual({ era: 42, fresh: false });
  expect(await erasOf(objects).next(7, 0)).toEqual({ era: 43, fresh: false });
  expect(await erasOf(objects).next(1_000, 0)).toEqual({ era: 1_001, fresh: false });
  expect(await keys(objects)).toEqual([42, 43, 1_001]);
});

test("numbers that are taken at the same moment differ, and at most one is fresh", async () => {
  const objects = new MemoryObjects();
  const taken = await Promise.all(Array.from({ length: 8 }, () => erasOf(objects).next(0, 0)));
  expect(new Set(taken.map(({ era }) => era)).size).toBe(8);
  expect(taken.filter(({ fresh }) => fresh).length).toBeLessThanOrEqual(1);
});

test("a number whose put did not end well is nobody's", async () => {
  const objects = new MemoryObjects();
  let failing = 2;
  const shaky = new InterceptedObjects(objects, async (kind, _key, apply) => {
    const answer = await apply();
    if (kind === "putIfAbsent" && failing-- > 0)
      throw new ObjectError("OBJECT_UNKNOWN", "its end was not seen");
    return answer;
  });
  expect(await erasOf(shaky).next(0, 0)).toEqual({ era: 3, fresh: false });
  expect(await keys(objects)).toEqual([1, 2, 3]);
});

test("a number below one that another node took meanwhile is not used", async () => {
  const objects = new MemoryObjects();
  let overtaking: Promise<NextEra> | undefined;
  const slow = new InterceptedObjects(objects, async (kind, _key, apply) => {
    if (kind === "putIfAbsent") await (overtaking ??= erasOf(objects).next(99, 0));
    return apply();
  });
  expect(await erasOf(slow).next(0, 0)).toEqual({ era: 101, fresh: false });
  expect(await overtaking).toEqual({ era: 100, fresh: false });
});

test("an outage is told, and takes no number", async () => {
  const down = new InterceptedObjects(new MemoryObjects(), () =>
    Promise.reject(new ObjectError("OBJECT_UNAVAILABLE", "not reached")),
  );
  await expect(erasOf(down).next(0, 0)).rejects.toMatchObject({ code: "OBJECT_UNAVAILABLE" });
});

test("more eras than fit on a page are all seen", async () => {
  const objects = new MemoryObjects();
  for (let n = 1; n <= 1500; n += 1)
    await objects.put(`era/${String(n).padStart(16, "0")}`, Buffer.alloc(0), call);
  expect(await erasOf(objects).next(3, 0)).toEqual({ era: 1501, fresh: false });
});
