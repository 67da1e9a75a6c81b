import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@keelson/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FolderMemory } from "./folder-memory.ts";

let folder: string;
const problems: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "keelson-memory-"));
  problems.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true }));

function open(node = "a", fleet = "main"): FolderMemory {
  return FolderMemory.open({
    folder,
    fleet,
    node,
    clock: new ManualClock(),
    onProblem: (problem) => problems.push(problem),
  });
}

test("the next process reads what the last one wrote", () => {
  const first = open();
  expect(first.load()).toBeUndefined();
  first.save({ era: 7, sessions: ["x", "y"] });
  first.close();
  expect(open().load()).toMatchObject({ era: 7, sessions: ["x", "y"] });
});

test("one process has the folder at a time", () => {
  const first = open();
  expect(() => open()).toThrow(/is held by pid/);
  first.close();
  open().close();
});

test("another node's folder is refused, and left to it", () => {
  const first = open();
  first.save({ era: 1, sessions: [] });
  first.close();
  expect(() => open("b")).toThrow(/is the folder of node a of fleet main: give node b of fleet main its own/);
  expect(() => open("a", "other")).toThrow(/is the folder of node a of fleet main/);
  open().close();
});

test.each([["not JSON"], ["{}"], ['{"v":1,"fleet":"main","node":"a","era":"7","sessions":[]}']])(
  "a damaged note is refused with what to do: %s",
  (text) => {
    writeFileSync(join(folder, "node.json"), text);
    expect(() => open()).toThrow(/node\.json is damaged or not a node's note: remove it/);
  },
);

test("a note that cannot be written is told, and does not stop the node", () => {
  const memory = open();
  mkdirSync(join(folder, "node.json.draft"));
  memory.save({ era: 1, sessions: [] });
  expect(problems).toEqual([expect.stringMatching(/could not be written .*: a restart will wait one TTL/)]);
});
