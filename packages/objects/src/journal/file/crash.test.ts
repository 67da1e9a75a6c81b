import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundleProgram } from "../../fixtures/bundle.ts";
import { realClock } from "../../fixtures/real-clock.ts";
import { FolderObjects } from "../../folder/folder-objects.ts";
import { readJournal } from "../open.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-crash-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let program = "";
beforeAll(async () => {
  program = await bundleProgram("journal-program.ts", root);
});

const FOLDERS = 3;
const KILLS_EACH = 6;
const RUN_MS_MAX = 150;
const seed = Number(process.env["KEELSON_SEED"] ?? Date.now() % 100_000);

/** A small generator, so that a seed draws the same run again as far as a machine allows. */
function drawer(from: number): () => number {
  let state = from >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Writer {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly opened: Promise<void>;
  readonly ended: Promise<unknown>;
}

function startWriter(folder: string, revision: number): Writer {
  const child = spawn(process.execPath, [program, folder, `${revision}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  let rest = "";
  const opened = new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
      if (lines[0] === "open") resolve();
    });
    child.once("exit", (code) => reject(new Error(`the writer ended with ${String(code)}`)));
  });
  return { child, lines, opened, ended: once(child, "close") };
}

/** What the journal holds of each writer and stream: the numbers, in the order of replay. */
async function replayed(folder: string): Promise<Map<string, number[]>> {
  const objects = await FolderObjects.open({ folder, clock: realClock, random: Math.random });
  const found = new Map<string, number[]>();
  for await (const { records } of readJournal(objects, {
    name: "crash",
    timeoutMs: 10_000,
    random: Math.random,
  }))
    for (const { stream, bytes } of records) {
      const [revision, lane, n] = bytes.toString().split(" ");
      expect(lane).toBe(stream);
      const key = `${revision} ${lane}`;
      found.set(key, [...(found.get(key) ?? []), Number(n)]);
    }
  return found;
}

function acknowledgedOf(lines: readonly string[]): Map<string, number> {
  const last = new Map<string, number>();
  for (const line of lines) {
    const match = /^(\d+ s\d+) (\d+)$/.exec(line);
    if (match !== null) last.set(match[1]!, Number(match[2]));
  }
  return last;
}

/** Each stream is numbered without a hole, and reaches at least as far as was acknowledged. */
function check(found: ReadonlyMap<string, number[]>, acknowledged: ReadonlyMap<string, number>): void {
  for (const numbers of found.values()) expect(numbers).toEqual(numbers.map((_, n) => n));
  for (const [key, last] of acknowledged) expect(found.get(key)?.length ?? 0).toBeGreaterThan(last);
}

test(`after kill -9 every acknowledged record is there, in order and whole (KEELSON_SEED=${seed})`, async () => {
  const kills = Array.from({ length: FOLDERS }, async (_, n) => {
    const draw = drawer(seed + n);
    const folder = join(root, `${n}`);
    const acknowledged = new Map<string, number>();
    for (let revision = 1; revision <= KILLS_EACH; revision += 1) {
      const writer = startWriter(folder, revision);
      await writer.opened;
      await new Promise((resolve) => setTimeout(resolve, draw() * RUN_MS_MAX));
      writer.child.kill("SIGKILL");
      await writer.ended;
      for (const [key, last] of acknowledgedOf(writer.lines)) acknowledged.set(key, last);
      check(await replayed(folder), acknowledged);
    }
    return acknowledged.size;
  });
  const streams = await Promise.all(kills);
  // Some were killed before their first acknowledgement, but not most.
  expect(Math.max(...streams)).toBeGreaterThan(4);
}, 60_000);

test("two processes cannot both acknowledge: the later one reads all that the earlier one ever did", async () => {
  const folder = join(root, "two");
  const first = startWriter(folder, 1);
  await first.opened;
  await new Promise((resolve) => setTimeout(resolve, 30));
  const second = startWriter(folder, 2);
  await second.opened;
  const atOpening = await replayed(folder);
  await first.ended;
  expect(first.lines.at(-1)).toBe("fenced");
  second.child.kill("SIGKILL");
  await second.ended;
  const acknowledged = acknowledgedOf(first.lines);
  expect(acknowledged.size).toBe(4);
  check(atOpening, acknowledged);
  const atEnd = await replayed(folder);
  const ofFirst = (found: ReadonlyMap<string, number[]>) =>
    [...found].filter(([key]) => key.startsWith("1 "));
  expect(ofFirst(atEnd)).toEqual(ofFirst(atOpening));
  check(atEnd, acknowledgedOf([...first.lines, ...second.lines]));
}, 60_000);
