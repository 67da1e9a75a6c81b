import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { realClock } from "../fixtures/real-clock.ts";
import { FolderObjects } from "./folder-objects.ts";
import { keyPath } from "./names.ts";
import { formatMark, ownMark } from "./process-mark.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-objects-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folders = 0;
const call = { timeoutMs: 10_000 };

function newFolder(): string {
  folders += 1;
  return join(root, `${folders}`);
}

const open = (folder: string) => FolderObjects.open({ folder, clock: realClock, random: Math.random });

test("a folder is made, marked with its format, and opened again", async () => {
  const folder = join(newFolder(), "deep/er");
  const first = await open(folder);
  await first.put("a", Buffer.from("one"), call);
  await first.close();
  expect(readFileSync(join(folder, ".keelson-objects"), "utf8")).toBe('{"format":1}\n');
  const second = await open(folder);
  expect((await second.get("a", call))?.bytes.toString()).toBe("one");
  expect(second.place).toBe(`file:${folder}`);
});

test("a folder that holds something else is refused", async () => {
  const folder = newFolder();
  mkdirSync(folder);
  writeFileSync(join(folder, "thesis.doc"), "");
  await expect(open(folder)).rejects.toMatchObject({
    code: "OBJECT_DENIED",
    message: `${folder} holds "thesis.doc", and no objects of ours: name an empty folder, or one that Keelson made`,
  });
  expect(readdirSync(folder)).toEqual(["thesis.doc"]);
});

test("a file, and a folder of another format, are refused", async () => {
  const file = newFolder();
  writeFileSync(file, "");
  const notFolder = {
    code: "OBJECT_DENIED",
    message: `${file} is not a folder: name one, or a place for a new one`,
  };
  await expect(open(file)).rejects.toMatchObject(notFolder);
  await expect(open(join(file, "below"))).rejects.toMatchObject({ code: "OBJECT_DENIED" });
  const later = newFolder();
  await open(later);
  writeFileSync(join(later, ".keelson-objects"), '{"format":2}\n');
  await expect(open(later)).rejects.toMatchObject({
    code: "OBJECT_REJECTED",
    message: `${later} has format 2, and this version knows format 1`,
  });
});

test("a file system that takes no folders is refused", async () => {
  await expect(open("/proc/keelson")).rejects.toMatchObject({ name: "ObjectError" });
});

test("what a dead process left is removed when the folder is opened, and what a living one writes stays", async () => {
  const folder = newFolder();
  await open(folder);
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  const own = ownMark();
  const far = { ...own, machine: "0".repeat(12) };
  const marks = {
    dead: { ...own, pid: dead },
    sameNumber: { ...own, started: "1" },
    beforeBoot: { ...own, boot: "0".repeat(12) },
    own,
    farYoung: far,
    farOld: { ...far, pid: 2 },
  };
  const path = (mark: keyof typeof marks) => join(folder, ".tmp", formatMark(marks[mark]));
  for (const name of Object.keys(marks) as (keyof typeof marks)[]) {
    mkdirSync(path(name), { recursive: true });
    writeFileSync(join(path(name), "half"), "half of an object");
  }
  utimesSync(path("farOld"), 1, 1);
  const objects = await open(folder);
  const left = (Object.keys(marks) as (keyof typeof marks)[]).filter((name) => existsSync(path(name)));
  expect(left).toEqual(["own", "farYoung"]);
  expect(await objects.list("", call)).toEqual({ objects: [], more: false });
});

test("a put whose temporary file was removed under it fails as not applied", async () => {
  const folder = newFolder();
  const objects = await open(folder);
  const put = objects.putStream(
    "a",
    (async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from("x");
      rmSync(join(folder, ".tmp"), { recursive: true });
    })(),
    call,
  );
  await expect(put).rejects.toMatchObject({ code: "OBJECT_UNAVAILABLE" });
  await objects.put("a", Buffer.from("again"), call);
  expect(readdirSync(folder)).toContain("a.obj");
});

test("a file that was cut short is damaged, and does not hide its neighbours", async () => {
  const folder = newFolder();
  const objects = await open(folder);
  for (const key of ["a", "b", "c"]) await objects.put(key, Buffer.from("text"), call);
  truncateSync(keyPath(folder, "b").file, 5);
  await expect(objects.get("b", call)).rejects.toMatchObject({ code: "OBJECT_CORRUPT" });
  await expect(objects.head("b", call)).rejects.toMatchObject({ code: "OBJECT_CORRUPT" });
  const { objects: listed } = await objects.list("", call);
  expect(listed.map(({ key, sizeBytes }) => [key, sizeBytes])).toEqual([
    ["a", 4],
    ["b", 0],
    ["c", 4],
  ]);
  await objects.delete(["b"], call);
  expect(await objects.get("b", call)).toBeUndefined();
});

test("folders that deletes left empty are gone, and files of others are not listed", async () => {
  const folder = newFolder();
  const objects = await open(folder);
  await objects.put("x/y/z/a", Buffer.from("a"), call);
  await objects.put("x/b", Buffer.from("b"), call);
  writeFileSync(join(folder, "x", "notes.txt"), "");
  await objects.delete(["x/y/z/a"], call);
  expect(readdirSync(join(folder, "x")).toSorted()).toEqual(["b.obj", "notes.txt"]);
  expect((await objects.list("", call)).objects.map(({ key }) => key)).toEqual(["x/b"]);
});
