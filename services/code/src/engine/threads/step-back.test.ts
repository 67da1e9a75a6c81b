import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { helpersOf, stepHelpersBack } from "./step-back.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function threads(names: Readonly<Record<number, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "keelson-threads-"));
  folders.push(folder);
  for (const [thread, name] of Object.entries(names)) {
    mkdirSync(join(folder, thread));
    writeFileSync(join(folder, thread, "comm"), `${name}\n`);
  }
  return folder;
}

test("V8's threads are known by their names where they have some", () => {
  const folder = threads({
    7: "node",
    8: "DelayedTaskSche",
    9: "V8Worker",
    10: "V8Worker",
    11: "libuv-worker",
  });
  expect(helpersOf(folder, 7)).toEqual([9, 10]);
});

test("V8's threads are the first ones after the main thread where none has a name", () => {
  const folder = threads(Object.fromEntries([7, 8, 9, 10, 11, 12, 13, 101].map((each) => [each, "node"])));
  expect(helpersOf(folder, 7)).toEqual([8, 9, 10, 11, 12]);
});

test.runIf(process.platform === "linux")(
  "the main thread stays where it is when V8's threads step back",
  () => {
    const before = getPriority(process.pid);
    stepHelpersBack();
    expect(getPriority(process.pid)).toBe(before);
    const helpers = helpersOf("/proc/self/task", process.pid);
    expect(helpers.length).toBeGreaterThan(0);
    for (const each of helpers) expect(getPriority(each)).toBeGreaterThanOrEqual(before);
  },
);
