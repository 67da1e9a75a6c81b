/** What a search shows when it may show so many bytes, and what it keeps until then. */
import { SystemClock } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CodeEngine, CodeIndex } from "../engine.ts";
import type { EngineQuery } from "../query.ts";
import type { FileMatch } from "../result.ts";
import { bytesOfFile } from "../shown-bytes.ts";
import { openEngine } from "./open-engine.ts";

const FILES = 12;
const LINES = 600;
const query: EngineQuery = { kind: "substring", text: "needle", caseSensitive: true, scope: "content" };
let engine: CodeEngine;
let index: CodeIndex;

beforeAll(async () => {
  engine = openEngine({ memoryBytes: 32 << 20, workers: 2 }, { clock: new SystemClock() });
  const text = Array.from({ length: LINES }, (_, i) => `needle ${i}, and a second needle\n`).join("");
  const documents = Array.from({ length: FILES }, (_, i) => ({
    path: `file-${String(i).padStart(2, "0")}.txt`,
    oid: String(i).padStart(40, "0"),
    branches: ["main"],
    content: Buffer.from(text),
  }));
  index = await engine.build(documents, { branches: ["main"] });
});

afterAll(() => engine.close());

function sum(files: readonly FileMatch[]): number {
  return files.reduce((bytes, file) => bytes + bytesOfFile(file), 0);
}

test("shows the same files and lines as without a bound, as far as the bound goes", async () => {
  const whole = await index.search(query);
  expect(whole.files.map(({ lines }) => lines.length)).toEqual(Array.from({ length: FILES }, () => LINES));
  for (const share of [0.01, 0.1, 0.5, 0.9]) {
    const bytesShownMax = Math.floor(sum(whole.files) * share);
    const { files, counts } = await index.search(query, { bytesShownMax });
    expect(counts).toEqual(whole.counts);
    // The line that goes beyond is the last, so whoever asked sees that there are more.
    expect(sum(files)).toBeGreaterThan(bytesShownMax);
    expect(sum(files)).toBeLessThan(bytesShownMax + 1_000);
    const shown = files.at(-1)!.lines.length - 1;
    expect(files.slice(0, -1)).toEqual(whole.files.slice(0, files.length - 1));
    expect(files.at(-1)!.lines.slice(0, shown)).toEqual(whole.files[files.length - 1]!.lines.slice(0, shown));
  }
});

test("is cut nowhere when all of it fits", async () => {
  const whole = await index.search(query);
  const { files } = await index.search(query, { bytesShownMax: sum(whole.files) });
  expect(files).toEqual(whole.files);
});

test("says about how much it will show before it makes any of it, and makes nothing that is not wanted", async () => {
  const whole = await index.search(query);
  const said: number[] = [];
  const taken: FileMatch[] = [];
  for (const wanted of [true, false]) {
    const taker = {
      begin: (bytes: number) => Promise.resolve(said.push(bytes) > 0 && wanted),
      take: (file: FileMatch) => Promise.resolve(void taken.push(file)),
    };
    const { files, counts } = await index.search(query, { taker });
    expect([files, counts]).toEqual([[], whole.counts]);
  }
  expect(said).toEqual([sum(whole.files), sum(whole.files)]);
  expect(taken).toEqual(whole.files);
});

test("gives the lines of a file in parts to who takes them so, and they are the same", async () => {
  const whole = await index.search(query);
  for (const bytesShownMax of [sum(whole.files), Math.floor(sum(whole.files) / 3)]) {
    const { files } = await index.search(query, { bytesShownMax });
    const taken: FileMatch[] = [];
    let parts = 0;
    const taker = {
      begin: () => Promise.resolve(true),
      take: (file: FileMatch) => Promise.resolve(void taken.push(file)),
      more: (lines: FileMatch["lines"]) => {
        parts += 1;
        const last = taken.pop()!;
        taken.push({ ...last, lines: [...last.lines, ...lines] });
        return Promise.resolve();
      },
    };
    await index.search(query, { bytesShownMax, taker });
    expect(taken).toEqual(files);
    expect(parts).toBeGreaterThanOrEqual(files.length);
  }
});

test("counts all lines of a match over many before it makes any of them", async () => {
  const said: number[] = [];
  await index.search(
    { kind: "regex", pattern: "(?s)needle 0.*", caseSensitive: true, scope: "content" },
    {
      taker: {
        begin: (bytes) => {
          said.push(bytes);
          return Promise.resolve(false);
        },
        take: () => Promise.resolve(),
      },
    },
  );
  const { contentBytes } = index.stats;
  expect(said).toHaveLength(1);
  expect(said[0]).toBeGreaterThan(contentBytes);
  expect(said[0]).toBeLessThan(contentBytes + FILES * 500);
});
