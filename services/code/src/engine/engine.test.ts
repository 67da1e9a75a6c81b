import { SystemClock } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceDocument } from "./document.ts";
import type { CodeEngine, CodeIndex } from "./engine.ts";
import { openEngine } from "./local/open-engine.ts";
import type { EngineQuery } from "./query.ts";

let engine: CodeEngine;

beforeAll(() => {
  engine = openEngine({ memoryBytes: 64 * 1024 * 1024, workers: 2 }, { clock: new SystemClock() });
});

afterAll(() => engine.close());

let oids = 0;

function file(
  path: string,
  content: string | Uint8Array,
  more: Partial<SourceDocument> = {},
): SourceDocument {
  const oid = (++oids).toString(16).padStart(40, "0");
  return { path, oid, branches: ["main"], content: Buffer.from(content as string), ...more };
}

function text(text: string, more: Partial<Extract<EngineQuery, { kind: "substring" }>> = {}): EngineQuery {
  return { kind: "substring", text, caseSensitive: true, scope: "content", ...more };
}

function regex(pattern: string, more: Partial<Extract<EngineQuery, { kind: "regex" }>> = {}): EngineQuery {
  return { kind: "regex", pattern, caseSensitive: true, scope: "content", ...more };
}

function build(documents: SourceDocument[], previous?: CodeIndex, branches = ["main"]): Promise<CodeIndex> {
  return engine.build(documents, { branches, ...(previous === undefined ? {} : { previous }) });
}

async function paths(index: CodeIndex, query: EngineQuery): Promise<string[]> {
  const { files } = await index.search(query);
  return files.map((each) => each.path).sort();
}

test("a class in the middle of what is looked for stands for no line break", async () => {
  const index = await build([
    file("a", "x\ny\nxay xby\n\nzx\nyx\u00e9y\nxy xcy\nx"),
    file("b", "x\ny x\ny\n"),
  ]);
  const found = async (firstOfLine: boolean): Promise<string[]> => {
    const query = regex("x[a-z]y", { withinLines: true });
    const pieces: Uint8Array[] = [];
    for await (const piece of index.searchLines(query, { firstOfLine })) pieces.push(piece.slice());
    return Buffer.concat(pieces).toString().trim().split("\n").slice(0, -1);
  };
  const line = (number: number, text: string, ranges: number[][]): string =>
    JSON.stringify({ path: "a", line: number, text, ranges });
  expect(await found(true)).toEqual([line(3, "xay xby", [[0, 3]]), line(7, "xy xcy", [[3, 6]])]);
  expect(await found(false)).toEqual([
    line(3, "xay xby", [
      [0, 3],
      [4, 7],
    ]),
    line(7, "xy xcy", [[3, 6]]),
  ]);
  index.release();
});

test("finds a word with its line, column, range and counts", async () => {
  const index = await build([file("a/b.go", "one\ntwo é three\n\tthree three\n"), file("c.txt", "nothing")]);
  const result = await index.search(text("three"));
  expect(result.counts).toMatchObject({ files: 1, lines: 2, matches: 3, documents: 2 });
  const [found] = result.files;
  expect(found).toMatchObject({ path: "a/b.go", language: "Go", branches: ["main"], matchCount: 3 });
  expect(found?.lines.map((line) => [line.line, line.text.toString(), line.ranges.length])).toEqual([
    [2, "two é three\n", 1],
    [3, "\tthree three\n", 2],
  ]);
  expect(found?.lines[0]?.ranges[0]).toEqual({
    start: { offset: 11, line: 2, column: 7 },
    end: { offset: 16, line: 2, column: 12 },
  });
  index.release();
});

test("a line has its line break, context has all of its lines, and a match over several lines shows them all", async () => {
  const index = await build([
    file("a.txt", "\nneedle\n\none\n\nlast needle"),
    file("b.txt", "x\nab\ncd\n\ny\n"),
  ]);
  const shown = async (query: Parameters<typeof index.search>[0], contextLines: number): Promise<unknown> =>
    (await index.search(query, { contextLines })).files.flatMap(({ lines }) =>
      lines.map(({ line, start, end, ...texts }) => [
        line,
        start,
        end,
        ...[texts.before, texts.text, texts.after].map((each) => each?.toString()),
      ]),
    );
  expect(await shown(text("needle"), 1)).toEqual([
    [2, 1, 8, "\n", "needle\n", "\n"],
    [6, 14, 25, "\n", "last needle", ""],
  ]);
  expect(await shown(text("needle"), 3)).toEqual([
    [2, 1, 8, "\n", "needle\n", "\none\n\n"],
    [6, 14, 25, "\none\n\n", "last needle", ""],
  ]);
  const crossing = { kind: "regex", pattern: "b\\nc", caseSensitive: true, scope: "content" } as const;
  expect(await shown(crossing, 1)).toEqual([[2, 2, 8, "x\n", "ab\ncd\n", "\n"]]);
  index.release();
});

test("case folds beyond ASCII, both ways", async () => {
  const index = await build([
    file("kelvin.txt", "the tas\u212A is here"),
    file("long.txt", "the ta\u017Fk is here"),
    file("plain.txt", "the TASK is here"),
    file("accent.txt", "École"),
    file("sharp.txt", "STRA\u1E9EE and straße"),
  ]);
  const folded = { caseSensitive: false };
  expect(await paths(index, text("task", folded))).toEqual(["kelvin.txt", "long.txt", "plain.txt"]);
  expect(await paths(index, text("TASK"))).toEqual(["plain.txt"]);
  expect(await paths(index, text("éCOLE", folded))).toEqual(["accent.txt"]);
  expect((await index.search(text("straße", folded))).counts.matches).toBe(2);
  expect(await paths(index, regex("ta[rst]k", folded))).toEqual(["kelvin.txt", "long.txt", "plain.txt"]);
  index.release();
});

test("finds what spans blocks, wherever it starts", async () => {
  const index = await build(
    Array.from({ length: 140 }, (_, i) => {
      const before = "x".repeat(4096 * 2 - 70 + i);
      return file(`f${i}`, `${before}needle-${"long".repeat(20)}-end\n${"y".repeat(9000)}`);
    }),
  );
  expect((await index.search(text(`needle-${"long".repeat(20)}-end`))).counts.files).toBe(140);
  expect((await index.search(text("needle-"))).counts.files).toBe(140);
  expect((await index.search(regex("x{3}needle-(long)+-end\\ny"))).counts.files).toBe(140);
  expect((await index.search(regex("needle.*-end$", { withinLines: true }))).counts.files).toBe(140);
  index.release();
});

test("joins conditions of one document that lie in different blocks", async () => {
  const far = `first${" pad".repeat(3000)}\nsecond`;
  const index = await build([file("both", far), file("one", "first only"), file("other", "second only")]);
  const and: EngineQuery = { kind: "and", of: [text("first"), text("second")] };
  expect(await paths(index, and)).toEqual(["both"]);
  expect(await paths(index, regex("(?s)first.*second"))).toEqual(["both"]);
  expect(
    await paths(index, { kind: "and", of: [text("first"), { kind: "not", of: text("second") }] }),
  ).toEqual(["one"]);
  expect((await index.search({ kind: "or", of: [text("first"), text("second")] })).counts).toMatchObject({
    files: 3,
    matches: 4,
  });
  index.release();
});

test("searches paths, languages and branches", async () => {
  const index = await build(
    [
      file("src/parser.ts", "export const parser = 1;", { branches: ["main", "dev"] }),
      file("src/lexer.py", "parser = 2", { branches: ["dev"] }),
      file("docs/parser.md", "words"),
    ],
    undefined,
    ["main", "dev"],
  );
  expect(await paths(index, text("parser", { scope: "path" }))).toEqual(["docs/parser.md", "src/parser.ts"]);
  expect(await paths(index, text("parser", { scope: "both" }))).toEqual([
    "docs/parser.md",
    "src/lexer.py",
    "src/parser.ts",
  ]);
  expect(await paths(index, regex("^src/.*\\.py$", { scope: "path" }))).toEqual(["src/lexer.py"]);
  expect(await paths(index, { kind: "language", name: "typescript" })).toEqual(["src/parser.ts"]);
  expect(await paths(index, { kind: "language", name: "cobol" })).toEqual([]);
  expect(await paths(index, { kind: "branch", name: "HEAD" })).toEqual(["docs/parser.md", "src/parser.ts"]);
  expect(await paths(index, { kind: "branch", name: "de" })).toEqual(["src/lexer.py", "src/parser.ts"]);
  expect(await paths(index, { kind: "branch", name: "de", exact: true })).toEqual([]);
  expect(index.find("src/lexer.py")?.branches).toEqual(["dev"]);
  expect(index.find("src/lexer.py", "main")).toBeUndefined();
  expect(index.find("lexer.py")).toBeUndefined();
  index.release();
});

test("finds text inside symbols only, and ranks definitions, words and ordinary files first", async () => {
  const symbols = [{ start: 5, end: 10, kind: "function", parent: "Thing", parentKind: "class" }];
  const index = await build([
    file("use.go", "call(Widen, Parse)"),
    file("define.go", "func Parse() {}", { symbols }),
    file("part.go", "Parser Parsers"),
    file("vendor/x/define.go", "func Parse() {}", { symbols }),
  ]);
  const ranked = await index.search(text("Parse"));
  expect(ranked.files.map((each) => each.path)).toEqual([
    "define.go",
    "use.go",
    "part.go",
    "vendor/x/define.go",
  ]);
  expect(ranked.files[0]?.lines[0]?.ranges[0]?.symbol).toEqual({
    name: "Parse",
    kind: "function",
    parent: "Thing",
    parentKind: "class",
  });
  const anchored: EngineQuery = {
    kind: "symbol",
    of: { kind: "regex", pattern: "^P.*e$", caseSensitive: true, scope: "content" },
  };
  expect(await paths(index, anchored)).toEqual(["define.go", "vendor/x/define.go"]);
  index.release();
});

test("builds on a previous index: unchanged documents need no content, gone ones are gone", async () => {
  const documents = Array.from({ length: 50 }, (_, i) =>
    file(`f${i}.txt`, `common word${i} ${"filler ".repeat(50)}`),
  );
  const first = await build(documents);
  const changed = file("f7.txt", "common changed");
  const next = documents
    .filter((each) => each.path !== "f3.txt")
    .map((each) =>
      each.path === "f7.txt" ? changed : { ...each, content: undefined as unknown as Uint8Array },
    )
    .map(({ content, ...each }) => (content === undefined ? each : { ...each, content }));
  const before = engine.memory.usedBytes;
  const second = await build(next, first);
  expect(engine.memory.usedBytes - before).toBeLessThan(first.stats.memoryBytes);
  expect(second.stats.documents).toBe(49);
  expect(await paths(second, text("changed"))).toEqual(["f7.txt"]);
  expect(await paths(second, text("word3 "))).toEqual([]);
  expect(await paths(second, text("word7 "))).toEqual([]);
  expect((await second.search(text("common"))).counts.files).toBe(49);
  expect((await first.search(text("common"))).counts.files).toBe(50);
  first.release();
  expect((await second.search(text("common"))).counts.files).toBe(49);
  second.release();
});

test("many small changes do not pile up as segments, and answers stay those of a fresh build", async () => {
  let documents = Array.from({ length: 20 }, (_, i) => file(`f${i}.txt`, `start ${i}`));
  let index = await build(documents);
  for (let round = 0; round < 30; round += 1) {
    documents = documents.map((each, i) =>
      i === round % 20 ? file(each.path, `round ${round} token${i}`) : each,
    );
    const next = await build(documents, index);
    index.release();
    index = next;
  }
  expect(index.stats.segments).toBeLessThan(12);
  const fresh = await build(documents);
  for (const query of [text("token"), text("round 29"), text("f1", { scope: "path" })])
    expect((await index.search(query)).files.map((each) => [each.path, each.score])).toEqual(
      (await fresh.search(query)).files.map((each) => [each.path, each.score]),
    );
  index.release();
  fresh.release();
});

test("gives memory back, and uses it again", async () => {
  const used = engine.memory.usedBytes;
  let touched = 0;
  for (let round = 0; round < 6; round += 1) {
    const index = await build([file("big.txt", "abcdefghij klmnop\n".repeat(120_000))]);
    expect(index.stats.memoryBytes).toBeGreaterThan(2_000_000);
    index.release();
    expect(engine.memory.usedBytes).toBe(used);
    if (round === 0) touched = engine.memory.touchedBytes;
  }
  expect(engine.memory.touchedBytes).toBe(touched);
});

test("refuses what does not fit, and leaves the rest as it was", async () => {
  const index = await build([file("kept.txt", "kept")]);
  const used = engine.memory.usedBytes;
  const big = Array.from({ length: 9 }, (_, i) => file(`b${i}`, Buffer.alloc(9_000_000, 97 + i)));
  await expect(build(big)).rejects.toMatchObject({ code: "OUT_OF_MEMORY" });
  expect(engine.memory.usedBytes).toBe(used);
  expect(await paths(index, text("kept"))).toEqual(["kept.txt"]);
  index.release();
});

async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(Uint8Array.from(piece));
  return Buffer.concat(all);
}

async function* inPieces(bytes: Buffer, length: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

test("a serialized index loads with the same answers, whatever the pieces, and a flipped bit is noticed", async () => {
  const symbols = [{ start: 0, end: 3, kind: "class" }];
  const index = await build([file("a.txt", "abc def", { symbols }), file("b.txt", "def ghi")]);
  const named = (path: string): unknown => index.symbols(index.find(path)!.document);
  expect([named("a.txt"), named("b.txt")]).toMatchObject([[{ ...symbols[0], name: "abc" }], []]);
  const bytes = await collect(index.serialize());
  const loaded = await engine.load(inPieces(bytes, 777));
  expect(await loaded.search(text("def"))).toEqual(await index.search(text("def")));
  expect((await loaded.search(text("abc"))).files[0]?.lines[0]?.ranges[0]?.symbol?.kind).toBe("class");
  expect(await loaded.verify()).toBe(true);
  loaded.release();
  const used = engine.memory.usedBytes;
  for (const at of [20, 300, Math.floor(bytes.length / 2), bytes.length - 5]) {
    const broken = Buffer.from(bytes);
    broken[at]! ^= 4;
    await expect(engine.load(inPieces(broken, 4096))).rejects.toMatchObject({ code: "CORRUPT_INDEX" });
  }
  await expect(engine.load(inPieces(bytes.subarray(0, -9), 4096))).rejects.toMatchObject({
    code: "CORRUPT_INDEX",
  });
  expect(engine.memory.usedBytes).toBe(used);
  index.release();
});

test("gives every match as a line of JSON", async () => {
  const odd = Buffer.concat([
    Buffer.from('say "hi"\\ é\u0001 '),
    Buffer.from([0xff, 0xc3]),
    Buffer.from(" needle\n"),
  ]);
  const long = `${'"'.repeat(400_000)}éneedle${"z".repeat(9_000)}`;
  const dense = "needle".repeat(60_000);
  const index = await build([
    file("odd.txt", odd),
    file("many.txt", "needle needle\nno\n".repeat(40_000)),
    file("long.txt", long),
    file("dense.txt", dense),
    file("needle.txt", "x"),
  ]);
  const lines = (await collect(index.searchLines(text("needle", { scope: "both" }))))
    .toString("utf8")
    .trimEnd()
    .split("\n");
  const parsed = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(parsed.at(-1)).toMatchObject({ done: true, files: 5, lines: 40_004, matches: 140_003 });
  expect(parsed.length).toBe(40_005 + Math.ceil(60_000 / 32_768) - 1);
  const oddLine = parsed.find((each) => each["path"] === "odd.txt");
  expect(oddLine).toEqual({
    path: "odd.txt",
    line: 1,
    text: 'say "hi"\\ é\u0001 \ufffd\ufffd needle',
    ranges: [[17, 23]],
  });
  expect(parsed.find((each) => each["path"] === "long.txt")).toEqual({
    path: "long.txt",
    line: 1,
    from: 399_746,
    text: `${'"'.repeat(254)}éneedle${"z".repeat(1024 - 262)}`,
    ranges: [[400_002, 400_008]],
  });
  expect(parsed.find((each) => each["path"] === "needle.txt")).toEqual({
    path: "needle.txt",
    pathRanges: [[0, 6]],
  });
  expect(parsed.filter((each) => each["path"] === "many.txt").at(-1)).toEqual({
    path: "many.txt",
    line: 79_999,
    text: "needle needle",
    ranges: [
      [0, 6],
      [7, 13],
    ],
  });
  index.release();
});

test("keeps binary, oversized and odd files by path alone, and refuses paths and ids that cannot be", async () => {
  const index = await engine.build(
    [file("bin", Buffer.from([1, 0, 2])), file("large", "x".repeat(100)), file("empty", "")],
    { branches: ["main"], documentBytesMax: 99 },
  );
  expect(index.find("bin")).toMatchObject({ skipped: "binary", category: "skipped", bytes: 0 });
  expect(index.find("large")?.skipped).toBe("too-large");
  expect(index.find("empty")?.skipped).toBeUndefined();
  expect(await paths(index, regex("^$", { withinLines: true }))).toEqual([]);
  index.release();
  for (const bad of [
    file("", "x"),
    file("a\0b", "x"),
    { ...file("a", "x"), oid: "zz" },
    { ...file("a", "x"), branches: ["no"] },
  ])
    await expect(build([bad])).rejects.toMatchObject({ code: "BAD_DOCUMENT" });
});

test("a hostile expression ends at its time cap with what was found, and others are answered meanwhile", async () => {
  // No two places look alike for long, so nearly every byte makes a new state: this would run for many seconds.
  let state = 1;
  const letter = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return "xyab"[state >>> 30]!;
  };
  const index = await build(
    Array.from({ length: 8 }, (_, i) => file(`f${i}`, Array.from({ length: 300_000 }, letter).join(""))),
  );
  const hostile = regex("(x|y|a|b)*x(x|y|a|b){200}y(x|y|a|b){200}$");
  const slow = index.search(hostile, { timeCapMs: 300 });
  const quick = await index.search(text("zzz"));
  expect(quick.counts.files).toBe(0);
  expect((await slow).partial).toBe("time-cap");
  const stopper = new AbortController();
  const cancelled = index.search(hostile, { signal: stopper.signal });
  stopper.abort();
  expect((await cancelled).partial).toBe("cancelled");
  index.release();
});

test("says where an expression is wrong, and refuses one that is too large", async () => {
  const index = await build([file("a", "a")]);
  await expect(index.search(regex("ab(c"))).rejects.toMatchObject({ code: "BAD_PATTERN", position: 2 });
  await expect(index.search(regex("(a{1000}){1000}"))).rejects.toMatchObject({ code: "PATTERN_TOO_LARGE" });
  await expect(index.search(text("x".repeat(5000)))).rejects.toMatchObject({ code: "PATTERN_TOO_LARGE" });
  index.release();
  await expect(index.search(text("a"))).rejects.toMatchObject({ code: "CLOSED" });
});

test("stops at the most matches asked for, and shows no more files than asked for with counts exact", async () => {
  const index = await build(Array.from({ length: 30 }, (_, i) => file(`f${i}`, "hit\nhit\n")));
  const shown = await index.search(text("hit"), { filesShownMax: 3 });
  expect(shown.files.length).toBe(3);
  expect(shown.counts).toMatchObject({ files: 30, lines: 60, matches: 60 });
  const stopped = await index.search(text("hit"), { matchesMax: 10 });
  expect(stopped.partial).toBe("matches-max");
  expect(stopped.counts.matches).toBe(10);
  const context = await index.search(text("hit"), {
    filesShownMax: 1,
    contextLines: 1,
    matchesShownMax: 1,
    whole: true,
  });
  expect(context.files[0]?.lines.map((line) => [line.before?.toString(), line.after?.toString()])).toEqual([
    ["", "hit\n"],
  ]);
  expect(context.files[0]?.content?.toString()).toBe("hit\nhit\n");
  index.release();
});
