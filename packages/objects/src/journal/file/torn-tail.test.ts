import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { realClock } from "../../fixtures/real-clock.ts";
import type { JournalError } from "../errors.ts";
import { GroupCommit } from "../group-commit.ts";
import { JOURNAL_DEFAULTS } from "../contract.ts";
import { FileLog } from "./file-log.ts";
import { replayFiles } from "./file-replay.ts";

const root = mkdtempSync(join(tmpdir(), "keelson-torn-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const ports = { clock: realClock, random: Math.random };
const BATCHES = 5;

async function openIn(folder: string, revision: number, segmentBytes = 1_000_000): Promise<GroupCommit> {
  const epoch = { era: 1, revision };
  const log = await FileLog.open({ folder, epoch, segmentBytes, ...ports });
  return new GroupCommit(log, { name: "torn", epoch, terms: JOURNAL_DEFAULTS, soon: setImmediate, ...ports });
}

async function fill(folder: string, revision: number, count = BATCHES, segmentBytes?: number): Promise<void> {
  const journal = await openIn(folder, revision, segmentBytes);
  const stream = journal.stream("a", { era: 1, revision: 1 });
  for (let n = 0; n < count; n += 1) await stream.append(Buffer.from(`${revision}.${n}`));
  await journal.close();
}

async function texts(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { records } of replayFiles({ folder, wanted: () => true, random: Math.random }))
    found.push(...records.map(({ bytes }) => bytes.toString()));
  return found;
}

const all = (revision: number, count = BATCHES): string[] =>
  Array.from({ length: count }, (_, n) => `${revision}.${n}`);
const filesOf = (folder: string, kind: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.startsWith(kind))
    .toSorted()
    .map((name) => join(folder, name));

/** One generation in one file, and how long the file is with and without its last batch. */
let whole = "";
let lengths: { without: number; whole: number };
let copies = 0;

beforeAll(async () => {
  whole = join(root, "whole");
  await fill(whole, 1, BATCHES - 1);
  const without = readFileSync(filesOf(whole, "segment")[0]!).length;
  rmSync(whole, { recursive: true });
  await fill(whole, 1);
  lengths = { without, whole: readFileSync(filesOf(whole, "segment")[0]!).length };
});

function copy(from = whole): string {
  copies += 1;
  const folder = join(root, `copy-${copies}`);
  cpSync(from, folder, { recursive: true });
  return folder;
}

const segmentOf = (folder: string): string => filesOf(folder, "segment")[0]!;

describe("a file whose writer was interrupted", () => {
  test("ends before the batch that is not whole, wherever that was cut", async () => {
    const folder = copy();
    for (let length = lengths.whole - 1; length >= lengths.without; length -= 1) {
      truncateSync(segmentOf(folder), length);
      expect(await texts(folder)).toEqual(all(1, BATCHES - 1));
    }
  });

  test.each([
    ["zeros", () => Buffer.alloc(5000)],
    ["noise", () => Buffer.from(Array.from({ length: 5000 }, () => Math.floor(Math.random() * 256)))],
    ["the beginning of a batch", () => readFileSync(segmentOf(whole)).subarray(64, 100)],
    ["a batch from before", () => readFileSync(segmentOf(whole)).subarray(64, 180)],
  ])("may end in %s", async (_, tail) => {
    const folder = copy();
    appendFileSync(segmentOf(folder), tail());
    expect(await texts(folder)).toEqual(all(1));
    await fill(folder, 2);
    expect(await texts(folder)).toEqual([...all(1), ...all(2)]);
  });

  test("is continued in another file, and what it held stays what it was", async () => {
    const folder = copy();
    truncateSync(segmentOf(folder), lengths.whole - 3);
    await fill(folder, 2);
    expect(await texts(folder)).toEqual([...all(1, BATCHES - 1), ...all(2)]);
    // Whatever the ended writer still adds does not count.
    appendFileSync(segmentOf(folder), readFileSync(segmentOf(whole)).subarray(lengths.without));
    expect(await texts(folder)).toEqual([...all(1, BATCHES - 1), ...all(2)]);
  });

  test("may have no batch, or not even a header", async () => {
    for (const length of [64, 63, 10, 0]) {
      const folder = copy();
      truncateSync(segmentOf(folder), length);
      expect(await texts(folder)).toEqual([]);
      await fill(folder, 2);
      expect(await texts(folder)).toEqual(all(2));
    }
  });
});

describe("an opening that was interrupted", () => {
  test.each([
    ["after its fence", ["cut", "segment"]],
    ["after its cut", ["segment"]],
  ])("%s is finished by the next one, which reads the same", async (_, lost) => {
    const folder = copy();
    await fill(folder, 2, 0);
    for (const kind of lost) rmSync(filesOf(folder, kind).at(-1)!);
    expect(await texts(folder)).toEqual(all(1));
    await fill(folder, 3);
    await fill(folder, 4);
    expect(await texts(folder)).toEqual([...all(1), ...all(3), ...all(4)]);
  });
});

describe("damage that no crash explains", () => {
  const corrupt = { name: "JournalError", code: "JOURNAL_CORRUPT" } satisfies Partial<JournalError>;

  function flip(path: string, at: number): void {
    const bytes = readFileSync(path);
    bytes[at] = bytes[at]! ^ 0x40;
    writeFileSync(path, bytes);
  }

  test("in a batch that others follow is told, by reading and by opening", async () => {
    for (let at = 0; at < lengths.without; at += 29) {
      const folder = copy();
      flip(segmentOf(folder), at);
      await expect(texts(folder)).rejects.toMatchObject(corrupt);
      await expect(fill(folder, 2)).rejects.toMatchObject(corrupt);
    }
  });

  test("in a file that was finished is told, also at its end", async () => {
    const folder = copy();
    await fill(folder, 2);
    flip(segmentOf(folder), lengths.whole - 1);
    await expect(texts(folder)).rejects.toMatchObject(corrupt);
  });

  test("in a fence or a cut is told", async () => {
    for (const kind of ["fence", "cut"]) {
      const folder = copy();
      flip(filesOf(folder, kind)[0]!, 20);
      await expect(texts(folder)).rejects.toMatchObject(corrupt);
    }
  });

  test("a file that is missing between others is told", async () => {
    const folder = join(root, "rolled");
    await fill(folder, 1, 40, 400);
    expect(filesOf(folder, "segment").length).toBeGreaterThan(5);
    expect(await texts(folder)).toEqual(all(1, 40));
    rmSync(filesOf(folder, "segment")[2]!);
    await expect(texts(folder)).rejects.toMatchObject(corrupt);
  });

  test("a journal of a later format is refused, and not called damaged", async () => {
    const folder = copy();
    const path = segmentOf(folder);
    cpSync(join(import.meta.dirname, "../../../testdata/journal-v2-segment"), path);
    await expect(texts(folder)).rejects.toMatchObject({ code: "JOURNAL_REJECTED" });
  });
});
