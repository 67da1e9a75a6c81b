import type fs from "node:fs";
import { existsSync, mkdtempSync, rmSync, type NoParamCallback } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { realClock } from "../../fixtures/real-clock.ts";
import { FolderObjects } from "../../folder/folder-objects.ts";
import type { Journal, JournalTerms } from "../contract.ts";
import { openJournal, readJournal } from "../open.ts";

/** What the next sync of a segment does instead of, or before, the real thing. */
const fault: { next: ((sync: () => void, callback: NoParamCallback) => void) | undefined } = {
  next: undefined,
};

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  return {
    ...real,
    fdatasync(fd: number, callback: NoParamCallback) {
      const { next } = fault;
      fault.next = undefined;
      if (next === undefined) real.fdatasync(fd, callback);
      else next(() => real.fdatasync(fd, callback), callback);
    },
  };
});

const root = mkdtempSync(join(tmpdir(), "keelson-faults-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const ports = { clock: realClock, random: Math.random };
let objects: FolderObjects;
let folders = 0;

beforeEach(async () => {
  folders += 1;
  objects = await FolderObjects.open({ folder: join(root, `${folders}`), ...ports });
});

const open = (revision: number, terms: Partial<JournalTerms> = {}): Promise<Journal> =>
  openJournal(objects, { name: "j", epoch: { era: 1, revision }, terms, ...ports });

async function texts(): Promise<string[]> {
  const found: string[] = [];
  for await (const { records } of readJournal(objects, { name: "j", timeoutMs: 5_000, random: Math.random }))
    found.push(...records.map(({ bytes }) => bytes.toString()));
  return found;
}

const append = (journal: Journal, text: string): Promise<number> =>
  journal.stream("a", { era: 1, revision: 1 }).append(Buffer.from(text));

test("a fence that is made while the sync runs is seen before anything is acknowledged", async () => {
  const old = await open(1);
  await append(old, "acknowledged");
  let opening: Promise<Journal> | undefined;
  let read: string[] = [];
  fault.next = (sync) => {
    opening = open(2);
    void opening.then(async () => {
      read = await texts();
      sync();
    });
  };
  await expect(append(old, "too late")).rejects.toMatchObject({ code: "JOURNAL_FENCED" });
  const young = await opening!;
  expect(read.slice(0, 1)).toEqual(["acknowledged"]);
  await append(young, "new");
  // Whether the late one counts was decided by the opening, for good.
  expect(await texts()).toEqual([...read, "new"]);
  await Promise.all([old.close(), young.close()]);
});

test("a sync that failed breaks the journal: what was on its way is unknown, what came later never was", async () => {
  const journal = await open(1);
  await append(journal, "good");
  let waiting: Promise<number> | undefined;
  fault.next = (_, callback) => {
    waiting = append(journal, "waiting");
    waiting.catch(() => {});
    callback(Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" }));
  };
  await expect(append(journal, "lost?")).rejects.toMatchObject({
    code: "JOURNAL_UNKNOWN",
    message: expect.stringContaining("EIO") as unknown,
  });
  await expect(waiting).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await expect(append(journal, "later")).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await expect(journal.trim(1)).rejects.toMatchObject({ code: "JOURNAL_BROKEN" });
  await journal.close();
  const again = await open(1);
  await append(again, "after");
  expect((await texts()).filter((text) => text !== "lost?")).toEqual(["good", "after"]);
  await again.close();
});

test("a sync that does not come back breaks the journal in time", async () => {
  const journal = await open(1, { flushTimeoutMs: 50 });
  let finish = (): void => {};
  fault.next = (sync) => {
    finish = sync;
  };
  await expect(append(journal, "stuck")).rejects.toMatchObject({
    code: "JOURNAL_UNKNOWN",
    message: expect.stringContaining("did not end within 50 ms") as unknown,
  });
  // Closing does not wait for it either.
  await journal.close();
  finish();
});

test("a folder that was taken away breaks the journal, and does not come back by itself", async () => {
  const journal = await open(1, { segmentBytes: 10 });
  await append(journal, "good");
  rmSync(join(root, `${folders}`), { recursive: true });
  await expect(append(journal, "lost")).rejects.toMatchObject({ code: "JOURNAL_UNKNOWN" });
  expect(existsSync(join(root, `${folders}`))).toBe(false);
  await journal.close();
});
