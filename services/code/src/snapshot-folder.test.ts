import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
const submodules = 3;
const failures: string[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-snapshots-"));
  const content = Buffer.from("needle\n".repeat(1_000));
  index = await engine.build([{ path: "a", oid: "1", branches: ["main"], content }], { branches: ["main"] });
  failures.length = 0;
  gone.clear();
  held.clear();
  wall = Date.now();
});
afterEach(() => rmSync(folder, { recursive: true }));

const gone = new Set<number>();
const held = new Set<number>();
let wall = 0;
const open = (bytesMin = 0, bytesMax = 1 << 30): SnapshotFolder =>
  new SnapshotFolder({
    folder,
    bytesMin,
    bytesMax,
    wall: () => wall,
    held: (id) => held.has(id),
    url: (id) => (gone.has(id) ? undefined : "/r"),
    failed: (why) => failures.push(why),
  });

test("an index is read back as it was written, with its commits", async () => {
  const first = open();
  first.keep(7, { index, heads, submodules });
  await first.settled();
  const found = await open().open({ id: 7, url: "/r" });
  expect([found?.heads, found?.submodules]).toEqual([heads, submodules]);
  const loaded = await engine.load(found!.pieces());
  expect(loaded.content(0).toString()).toBe("needle\n".repeat(1_000));
  expect(failures).toEqual([]);
});

test("small ones are not kept, nor those of another address", async () => {
  const first = open(1 << 30);
  first.keep(7, { index, heads, submodules });
  await first.settled();
  expect(readdirSync(folder)).toEqual([]);
  const second = open();
  second.keep(7, { index, heads, submodules });
  await second.settled();
  expect(await second.open({ id: 7, url: "/elsewhere" })).toBeUndefined();
});

test("one that was damaged does not load, and can be removed", async () => {
  const snapshots = open();
  snapshots.keep(7, { index, heads, submodules });
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
  snapshots.keep(7, { index, heads, submodules });
  snapshots.keep(8, { index, heads, submodules });
  await snapshots.settled();
  expect(failures).toEqual([expect.stringMatching(/ENOSPC/)]);
  expect(readdirSync(folder).sort()).toEqual(["8.index", "8.json"]);
});

const ids = (): string[] => [...new Set(readdirSync(folder).map((name) => name.split(".")[0]!))].sort();

async function kept(snapshots: SnapshotFolder, ...wanted: number[]): Promise<void> {
  for (const id of wanted) snapshots.keep(id, { index, heads, submodules });
  await snapshots.settled();
}

test("what was taken off goes, also when that was while the node was away, and so does what is half written", async () => {
  const first = open();
  await kept(first, 7, 8, 9);
  first.forget(7);
  await first.settled();
  expect(ids()).toEqual(["8", "9"]);
  gone.add(8);
  for (const name of ["10.index.part", "11.index", "12.json"]) writeFileSync(join(folder, name), "{}");
  const second = open();
  second.tidy();
  await second.settled();
  expect(readdirSync(folder).sort()).toEqual(["9.index", "9.json"]);
  expect(failures).toEqual([]);
});

test("one that is taken off before its turn to be written is not", async () => {
  const snapshots = open();
  snapshots.keep(7, { index, heads, submodules });
  gone.add(7);
  await snapshots.settled();
  expect(ids()).toEqual([]);
});

test("what has moved away goes after a day; what is held stays", async () => {
  const snapshots = open();
  await kept(snapshots, 7, 8);
  held.add(8);
  const day = 86_400_000;
  for (const [after, left] of [
    [day / 2, ["7", "8"]],
    [day * 1.1, ["8"]],
    [day * 3, ["8"]],
  ] as const) {
    wall = Date.now() + after;
    snapshots.tidy();
    await snapshots.settled();
    expect(ids()).toEqual(left);
  }
});

test("a node that was away for days has an hour to take up what it had", async () => {
  await kept(open(), 7, 8);
  const back = Date.now() + 3 * 86_400_000;
  wall = back;
  const snapshots = open();
  for (const [afterMs, left] of [
    [60_000, ["7", "8"]],
    [3_000_000, ["7", "8"]],
    [4_000_000, ["8"]],
  ] as const) {
    wall = back + afterMs;
    snapshots.tidy();
    await snapshots.settled();
    expect(ids()).toEqual(left);
    held.add(8);
  }
});

test("the folder never has more than its bound after a write; what is not held goes first, and what is too large is not written", async () => {
  const first = open();
  await kept(first, 7);
  const bytesMax = index.stats.memoryBytes;
  const most = Math.floor(bytesMax / statSync(join(folder, "7.index")).size);
  const snapshots = open(0, bytesMax);
  held.add(7);
  await kept(snapshots, ...Array.from({ length: most + 3 }, (_, i) => 8 + i));
  expect(ids()).toHaveLength(most);
  expect(ids()).toContain("7");
  const small = open(0, Math.floor(index.stats.memoryBytes / 2));
  await kept(small, 11);
  expect(ids()).not.toContain("11");
});
