import { SystemClock } from "@keelson/runtime";
import { afterEach, expect, test, vi } from "vitest";
import type { CodeEngine, CodeIndex } from "../engine.ts";
import type { EngineQuery } from "../query.ts";
import { openEngine } from "./open-engine.ts";
import { SPARE_THREADS } from "./searchers.ts";

// Each starts several threads, which takes ten seconds on a machine that does much else.
vi.setConfig({ testTimeout: 60_000 });

const everyLine: EngineQuery = { kind: "substring", text: "x", caseSensitive: true, scope: "content" };
const rare: EngineQuery = { kind: "substring", text: "needle", caseSensitive: true, scope: "content" };

let engine: CodeEngine | undefined;
const reading: AsyncIterator<Uint8Array>[] = [];
afterEach(async () => {
  for (const each of reading.splice(0)) await each.return?.();
  await engine?.close();
});

async function open(): Promise<CodeIndex> {
  engine = openEngine({ memoryBytes: 32_000_000, workers: 1 }, { clock: new SystemClock() });
  const content = Buffer.from(`${"x\n".repeat(100_000)}needle\n`);
  return engine.build([{ path: "a", oid: "00", branches: ["main"], content }], { branches: ["main"] });
}

/** A search that keeps its thread: its answer has more pieces than may wait, and nobody takes the second. */
async function occupy(index: CodeIndex): Promise<void> {
  const pieces = index.searchLines(everyLine, { timeCapMs: 600_000 })[Symbol.asyncIterator]();
  reading.push(pieces);
  expect((await pieces.next()).done).toBe(false);
}

test("a search does not wait for one that takes long", async () => {
  const index = await open();
  await occupy(index);
  await occupy(index);
  const { counts, partial } = await index.search(rare, { timeCapMs: 60_000 });
  expect([counts.matches, partial]).toEqual([1, undefined]);
});

test("the time that a search waits for a thread counts, and ends it", async () => {
  const index = await open();
  for (let i = 0; i <= SPARE_THREADS; i += 1) await occupy(index);
  const waiting = await index.search(rare, { timeCapMs: 200 });
  expect([waiting.files, waiting.partial]).toEqual([[], "time-cap"]);
  const left = await index.search(rare, { timeCapMs: 600_000, signal: AbortSignal.timeout(100) });
  expect(left.partial).toBe("cancelled");
  // Whoever leaves gives its thread back.
  await reading.shift()?.return?.();
  expect((await index.search(rare, { timeCapMs: 60_000 })).counts.matches).toBe(1);
});

test("the event loop has its turn between the pieces of a long answer, however fast they come", async () => {
  const index = await open();
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 1);
  const turnsAtPiece: number[] = [];
  for await (const piece of index.searchLines(everyLine)) {
    expect(piece.length).toBeGreaterThan(0);
    turnsAtPiece.push(turns);
    // As long as it takes to hand on a large one: the thread has the next ready by then.
    for (const startedAt = performance.now(); performance.now() - startedAt < 8;);
  }
  clearInterval(counting);
  expect(turnsAtPiece.length).toBeGreaterThan(6);
  // Two of them at most may come before timers do.
  expect(new Set(turnsAtPiece).size).toBeGreaterThanOrEqual(turnsAtPiece.length / 2);
});

test("one query after another finds what is there, in whatever order they come", async () => {
  const index = await open();
  for (const query of [rare, rare, everyLine, rare, everyLine, everyLine])
    expect((await index.search(query)).counts.matches).toBe(query === rare ? 1 : 100_000);
});

test("many that are asked at once are each answered, and one that is called off takes no other with it", async () => {
  engine = openEngine({ memoryBytes: 32_000_000, workers: 1 }, { clock: new SystemClock() });
  const indexes: CodeIndex[] = [];
  for (let i = 0; i < 60; i += 1) {
    const content = Buffer.from("needle\n".repeat(i + 1));
    const document = { path: `${i}`, oid: i.toString(16).padStart(2, "0"), branches: ["main"], content };
    indexes.push(await engine.build([document], { branches: ["main"] }));
  }
  const refused: EngineQuery = { kind: "regex", pattern: "(", caseSensitive: true, scope: "content" };
  for (let round = 0; round < 20; round += 1) {
    const leaving = new AbortController();
    const found = indexes.map((index, i) =>
      index
        .search(i % 10 === 1 ? refused : rare, i % 10 === 0 ? { signal: leaving.signal } : {})
        .then(({ counts, partial, files }) => [counts.matches, partial, files[0]?.path])
        .catch((error: unknown) => (error as { code?: string }).code),
    );
    // Before anything was sent, and in the middle of it.
    if (round % 2 === 0) leaving.abort();
    else setImmediate(() => leaving.abort());
    const wrong = (await Promise.all(found)).filter((each, i) => {
      const whole = JSON.stringify([i + 1, undefined, String(i)]);
      const cancelled = JSON.stringify([0, "cancelled", undefined]);
      const told = JSON.stringify(each);
      if (i % 10 === 1) return each !== "BAD_PATTERN";
      return told !== whole && (i % 10 > 0 || told !== cancelled);
    });
    expect(wrong).toEqual([]);
  }
});

test("a small one is answered at once though it was asked for together with one that takes long", async () => {
  const index = await open();
  const long = index.searchLines(everyLine, { timeCapMs: 600_000 })[Symbol.asyncIterator]();
  reading.push(long);
  const begun = long.next();
  const [{ counts }] = await Promise.all([index.search(rare, { timeCapMs: 60_000 }), begun]);
  expect(counts.matches).toBe(1);
});

test("a search right after one that failed is answered", async () => {
  const index = await open();
  const tooLarge = { ...rare, text: "x".repeat(5_000) };
  for (let i = 0; i < 200; i += 1) {
    await expect(index.search(tooLarge)).rejects.toMatchObject({ code: "PATTERN_TOO_LARGE" });
    expect((await index.search(rare, { timeCapMs: 60_000 })).counts.matches).toBe(1);
  }
});
