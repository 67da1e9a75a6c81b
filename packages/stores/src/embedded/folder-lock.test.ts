import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FolderLock } from "./folder-lock.ts";
import { ownIdentity } from "./process-identity.ts";

const clock = { wall: () => Date.UTC(2030, 0, 2, 3, 4, 5) };
let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keelson-lock-"));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** A lock file as another process would have left it. */
function leave(holder: Partial<ReturnType<typeof ownIdentity>> & { released?: boolean }, number = 1): void {
  const text = JSON.stringify({ ...ownIdentity(), since: "then", released: false, ...holder });
  writeFileSync(join(folder, `keelson.lock.${number}`), text);
}

test("a second taker is told who holds the folder, since when, and what to do", () => {
  FolderLock.acquire(folder, clock);
  expect(() => FolderLock.acquire(folder, clock)).toThrow(
    expect.objectContaining({
      code: "FOLDER_HELD",
      message: expect.stringMatching(
        new RegExp(
          String.raw`^folder ${folder} is held by pid ${process.pid} \(.+\) since 2030-01-02T03:04:05.000Z: stop that process, or name another folder$`,
        ),
      ) as unknown,
    }),
  );
});

test("a released folder can be taken again, and again, and one lock file is left", () => {
  for (let round = 0; round < 3; round += 1) {
    const lock = FolderLock.acquire(folder, clock);
    lock.release();
    lock.release();
  }
  FolderLock.acquire(folder, clock);
  expect(readdirSync(folder)).toEqual(["keelson.lock.4"]);
});

test("a new folder is made, with those above it", () => {
  const deep = join(folder, "a/b");
  FolderLock.acquire(deep, clock);
  expect(readdirSync(deep)).toEqual(["keelson.lock.1"]);
});

test("the lock of a process that is gone is taken over", () => {
  leave({ pid: 2 ** 22 + 1, started: "1" }, 7);
  FolderLock.acquire(folder, clock);
  expect(readdirSync(folder)).toEqual(["keelson.lock.8"]);
});

test("a process number that is used again by another process does not count", () => {
  leave({ started: "1" });
  expect(() => FolderLock.acquire(folder, clock)).not.toThrow();
});

test("a lock from before the machine's last boot does not count", () => {
  leave({ boot: "another" });
  expect(() => FolderLock.acquire(folder, clock)).not.toThrow();
});

test.each([
  ["another container", { pidNamespace: "pid:[1]" }],
  ["another machine", { host: "far", boot: "another" }],
])("a lock from %s is respected, and the message says how to remove it", (_, holder) => {
  leave(holder);
  expect(() => FolderLock.acquire(folder, clock)).toThrow(
    /cannot be seen from here: if it has ended, remove .*keelson\.lock\.1$/,
  );
});

test("a lock file that is none is reported and left alone", () => {
  writeFileSync(join(folder, "keelson.lock.1"), "not json");
  expect(() => FolderLock.acquire(folder, clock)).toThrow(/keelson\.lock\.1 is not a lock file/);
});

test("a file where the folder should be is reported", () => {
  const file = join(folder, "file");
  writeFileSync(file, "mine");
  for (const path of [file, join(file, "inside")])
    expect(() => FolderLock.acquire(path, clock)).toThrow(
      `${path} cannot be used: it is a file, or is inside one; name a folder`,
    );
});

test("of processes that race for a dead lock one wins; killed with -9, it leaves the folder to the next", async () => {
  leave({ started: "1" });
  const racing = Array.from({ length: 3 }, () => contender());
  const said = await Promise.all(racing.map(firstLine));
  expect(said.filter((line) => line === "taken")).toHaveLength(1);
  expect(said.filter((line) => line.includes("is held by pid"))).toHaveLength(2);
  const winner = racing[said.indexOf("taken")] as ChildProcess;
  expect(() => FolderLock.acquire(folder, clock)).toThrow(`is held by pid ${winner.pid} `);
  const exits = racing.map((child) => once(child, "exit"));
  for (const child of racing) child.kill("SIGKILL");
  await Promise.all(exits);
  expect(() => FolderLock.acquire(folder, clock)).not.toThrow();
});

/** A process that tries to take the folder, says how that went, and stays. */
function contender(): ChildProcess {
  const code = `
    const { FolderLock } = await import(${JSON.stringify(join(import.meta.dirname, "folder-lock.ts"))});
    try {
      FolderLock.acquire(${JSON.stringify(folder)}, { wall: () => 0 });
      console.log("taken");
    } catch (error) {
      console.log(error.message);
    }
    setInterval(() => {}, 1000);`;
  const flags = ["--conditions=source", "--import", "tsx", "--input-type=module", "-e", code];
  const child = spawn(process.execPath, flags, {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: import.meta.dirname,
  });
  children.push(child);
  return child;
}

async function firstLine(child: ChildProcess): Promise<string> {
  const [chunk] = (await once(child.stdout as NonNullable<typeof child.stdout>, "data")) as [Buffer];
  return chunk.toString().trim();
}

test("a folder that was removed meanwhile is released without a word, and can be made anew", () => {
  const lock = FolderLock.acquire(folder, clock);
  rmSync(folder, { recursive: true });
  expect(() => lock.release()).not.toThrow();
  expect(FolderLock.acquire(folder, clock).folder).toBe(folder);
});
