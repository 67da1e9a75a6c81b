import { expect, test } from "vitest";
import { MemoryObjects } from "./memory/memory-objects.ts";
import { ScopedObjects } from "./scoped-objects.ts";

const call = { timeoutMs: 1_000 };

test("objects of one scope are all that it sees, without the prefix", async () => {
  const whole = new MemoryObjects();
  const [a, b] = [new ScopedObjects(whole, "fleet/a/"), new ScopedObjects(whole, "fleet/b/")];
  await a.put("x/1", Buffer.from("one"), call);
  await a.put("x/2", Buffer.from("two"), call);
  expect(await b.putIfAbsent("x/1", Buffer.from("other"), call)).toEqual({ kind: "created" });
  expect((await a.list("x/", { ...call, after: "x/1" })).objects.map(({ key }) => key)).toEqual(["x/2"]);
  expect(await a.get("x/1", call)).toMatchObject({ key: "x/1", bytes: Buffer.from("one") });
  expect(await a.head("x/2", call)).toMatchObject({ key: "x/2", sizeBytes: 3 });
  expect(await a.getRange("x/2", 1, 1, call)).toMatchObject({ key: "x/2", bytes: Buffer.from("w") });
  await b.delete(["x/1", "x/2"], call);
  expect((await whole.list("", call)).objects.map(({ key }) => key)).toEqual(["fleet/a/x/1", "fleet/a/x/2"]);
});

test("no key leads out of a scope", async () => {
  const scope = new ScopedObjects(new MemoryObjects(), "a/");
  for (const key of ["../b", "", "/b", "x/../../b"])
    await expect(scope.put(key, Buffer.from("x"), call)).rejects.toMatchObject({ code: "OBJECT_REJECTED" });
  for (const prefix of ["", "a", "/", "a//", "../"])
    expect(() => new ScopedObjects(new MemoryObjects(), prefix)).toThrow(/slash|not an object key/);
});
