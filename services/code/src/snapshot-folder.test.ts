import { mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CodeIndex } from "./engine/index.ts";
import { PlainEngine } from "./fixtures/plain-engine.ts";
import { SnapshotFolder } from "./snapshot-folder.ts";

let folder: string;
let index: CodeIndex;
const engine = new PlainEngine(100 << 20);
const heads = [{ branch: "main", commit: "c1" }];
const failures: string[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-snapshots-"));
  const content = Buffer.from("needle\n".repeat(1_000));
  index = await engine.build([{ path: "a", oid: "1", branches: ["main"], content }], { branches: ["main"] });
  failures.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (bytesMin = 0): SnapshotFolder =>
  new SnapshotFolder({ folder, bytesMin, url: () => "/r", failed: (why) => failures.push(why) });

test("an index is read back as it was written, with its commits", async () => {
  const first = open();
  first.keep(7, { index, heads });
  await first.settled();
  const found = await open().open({ id: 7, url: "/r" });
  expect(found?.heads).toEqual(heads);
  const loaded = await engine.load(found!.pieces());
  expect(loaded.content(0).toString()).toBe("needle\n".repeat(1_000));
  expect(failures).toEqual([]);
});

test("small ones are not kept, nor those of another address", async () => {
  const first = open(1 << 30);
  first.keep(7, { index, heads });
  await first.settled();
  expect(readdirSync(folder)).toEqual([]);
  const second = open();
  second.keep(7, { index, heads });
  await second.settled();
  expect(await second.open({ id: 7, url: "/elsewhere" })).toBeUndefined();
});

test("one that was damaged does not load, and can be removed", async () => {
  const snapshots = open();
  snapshots.keep(7, { index, heads });
  await snapshots.settled();
  const file = join(folder, "7.index");
  writeFileSync(file, readFileSync(file).subarray(0, -100));
  const found = await snapshots.open({ id: 7, url: "/r" });
  await expect(engine.load(found!.pieces())).rejects.toThrow(SyntaxError);
  await snapshots.remove(7);
  expect(await snapshots.open({ id: 7, url: "/r" })).toBeUndefined();
});

test("a disk that takes nothing is told, and the next index is kept", async () => {
  symlinkSync("/dev/full", join(folder, "7.index.part"));
  const snapshots = open();
  snapshots.keep(7, { index, heads });
  snapshots.keep(8, { index, heads });
  await snapshots.settled();
  expect(failures).toEqual([expect.stringMatching(/ENOSPC/)]);
  expect(readdirSync(folder).sort()).toEqual(["8.index", "8.json"]);
});
