import { SystemClock } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceDocument } from "./document.ts";
import type { CodeEngine, CodeIndex } from "./engine.ts";
import { openEngine } from "./local/open-engine.ts";
import type { EngineQuery, SearchOptions } from "./query.ts";

let engine: CodeEngine;

beforeAll(() => {
  engine = openEngine({ memoryBytes: 64 * 1024 * 1024, workers: 2 }, { clock: new SystemClock() });
});

afterAll(() => engine.close());

function file(path: string, content: string, more: Partial<SourceDocument> = {}): SourceDocument {
  const oid = Buffer.from(path).toString("hex").padStart(40, "0").slice(-40);
  return { path, oid, branches: ["main"], content: Buffer.from(content), ...more };
}

function build(documents: SourceDocument[], previous?: CodeIndex): Promise<CodeIndex> {
  return engine.build(documents, { branches: ["main"], ...(previous === undefined ? {} : { previous }) });
}

function text(text: string, scope: "content" | "path" | "both" = "both"): EngineQuery {
  return { kind: "substring", text, caseSensitive: false, scope };
}

async function order(index: CodeIndex, query: EngineQuery, options?: SearchOptions): Promise<string[]> {
  return (await index.search(query, options)).files.map(({ path }) => path);
}

test("definitions come before names of files, these before words, and what is no source of this repository last", async () => {
  const index = await build([
    file("src/needle_test.go", "needle"),
    file("vendor/a/needle.go", "needle"),
    file("gen/needle.go", "needle"),
    file("b/text.go", "needles"),
    file("b/word.go", "a needle"),
    file("needle/other.go", "x"),
    file("b/needle.go", "x"),
    file("c/defined.go", "func needle() {}", { symbols: [{ start: 5, end: 11, kind: "func" }] }),
    file("d/kept.go", "type needle interface {}", { symbols: [{ start: 5, end: 11, kind: "interface" }] }),
  ]);
  expect(await order(index, text("needle"))).toEqual([
    "d/kept.go",
    "c/defined.go",
    "b/needle.go",
    "b/word.go",
    "needle/other.go",
    "b/text.go",
    "src/needle_test.go",
    "vendor/a/needle.go",
    "gen/needle.go",
  ]);
});

test("shows the best lines where not all can be shown, and says how they came by their scores", async () => {
  const index = await build([
    file("a.go", "needles\nneedles\nfunc needle() {}\na needle\n", {
      symbols: [{ start: 21, end: 27, kind: "func" }],
    }),
  ]);
  const lines = async (options: SearchOptions): Promise<number[]> =>
    (await index.search(text("needle"), options)).files[0]!.lines.map(({ line }) => line);
  expect(await lines({})).toEqual([1, 2, 3, 4]);
  expect(await lines({ matchesShownMax: 1 })).toEqual([3]);
  expect(await lines({ matchesShownMax: 3 })).toEqual([1, 3, 4]);
  const { files } = await index.search(text("needle"), { explain: true });
  expect(files[0]!.debug).toBe("score: 88300 <- best match: 8300, category(ordinary): 80000");
  expect(files[0]!.lines.map(({ debug }) => debug)).toEqual([
    "score: 50 <- word: 50",
    "score: 50 <- word: 50",
    "score: 8300 <- word: 500, symbol: 7000, kind(Go func): 800",
    "score: 500 <- word: 500",
  ]);
});

test("by BM25 a file with all words in little text comes before one with one of them often, and tests count less", async () => {
  const filler = "x = 1\n".repeat(200);
  const index = await build([
    file("often.go", "apple\n".repeat(40) + filler),
    file("both.go", "apple\npear\n"),
    file("both_test.go", "apple\npear\n"),
    file("long.go", `apple\npear\n${filler}${filler}`),
    file("apple.go", "pear\n"),
    file("rest.go", filler),
  ]);
  const either: EngineQuery = { kind: "or", of: [text("apple"), text("pear")] };
  expect(await order(index, either, { bm25: true })).toEqual([
    "apple.go",
    "both.go",
    "often.go",
    "both_test.go",
    "long.go",
  ]);
  const { files } = await index.search(either, { bm25: true, explain: true });
  const [, both] = files;
  const average = index.stats.contentBytes / 6;
  expect(both!.score).toBeCloseTo(2 * (2.2 / (1.2 * (0.25 + (0.75 * 11) / average) + 1)), 10);
  expect(both!.lines[0]!.score).toBeCloseTo(2.2 / (1.2 * (0.25 + 0.75 * 0.06) + 1), 10);
  expect(both!.debug).toMatch(/^bm25: 3\.\d\d <- matches: 2, length: 0\.01 of the average, ordinary$/);
});

test("a line is worth more by BM25 with two words than with one twice, and a symbol counts for five", async () => {
  const index = await build([
    file("a.go", "apple apple\napple pear\nfunc pear\n", { symbols: [{ start: 28, end: 32, kind: "func" }] }),
  ]);
  const { files } = await index.search(
    { kind: "or", of: [text("apple"), text("pear")] },
    { bm25: true, matchesShownMax: 3 },
  );
  expect(files[0]!.lines.map(({ line }) => line)).toEqual([2, 3]);
  expect(files[0]!.lines[1]!.score).toBeCloseTo((2.2 * 5) / (1.2 * (0.25 + 0.75 * 0.1) + 5), 10);
});

test("in one part of an or only names are shown, in the other what was found", async () => {
  const index = await build([
    file("one.txt", "apple"),
    file("two.txt", "pear"),
    file("both.txt", "apple pear"),
    file("apple.txt", "apple"),
  ]);
  const named: EngineQuery = { kind: "type", type: "path", of: text("apple") };
  const { files, counts } = await index.search({ kind: "or", of: [named, text("pear")] });
  const shown = new Map(files.map((each) => [each.path, each]));
  expect(shown.get("one.txt")).toMatchObject({ lines: [], pathRanges: [], matchCount: 1 });
  expect(shown.get("apple.txt")).toMatchObject({ lines: [], pathRanges: [{ start: 0, end: 5 }] });
  for (const path of ["two.txt", "both.txt"])
    expect(shown.get(path)!.lines.flatMap(({ ranges }) => ranges)).toHaveLength(1);
  expect(counts).toMatchObject({ files: 4, matches: 4 });
  const inside: EngineQuery = {
    kind: "type",
    type: "path",
    of: { kind: "type", type: "match", of: text("pear") },
  };
  expect((await index.search(inside)).files.flatMap(({ lines }) => lines)).toEqual([]);
});

test("the order is the same for an index that was built at once and one that grew, with one thread and with three", async () => {
  const documents = Array.from({ length: 300 }, (_, i) =>
    file(
      `d${i % 7}/f${(i * 37) % 300}.${i % 5 === 0 ? "md" : "go"}`,
      `word ${i % 11 === 0 ? "needle" : "needles"} ${"x".repeat(i)}\n`,
    ),
  );
  const grown = await build(
    documents,
    await build(documents.slice(150), await build(documents.slice(0, 200))),
  );
  const other = openEngine({ memoryBytes: 64 * 1024 * 1024, workers: 3 }, { clock: new SystemClock() });
  try {
    const fresh = await other.build(documents.toReversed(), { branches: ["main"] });
    for (const options of [{}, { bm25: true }, { filesShownMax: 17 }, { bm25: true, filesShownMax: 17 }]) {
      const expected = await fresh.search(text("needle"), options);
      const found = await grown.search(text("needle"), options);
      expect(found.files.map(({ path, score }) => [path, score])).toEqual(
        expected.files.map(({ path, score }) => [path, score]),
      );
    }
  } finally {
    await other.close();
  }
}, 60_000);
