import { expect, test } from "vitest";
import type { FileMatch, LineMatch } from "../engine/index.ts";
import type { FleetAnswer } from "./gather.ts";
import { zoektAnswer } from "./zoekt-json.ts";
import type { ZoektOptions } from "./zoekt-request.ts";

const decode = (text: unknown): string => Buffer.from(String(text), "base64").toString();

function line(
  number: number,
  start: number,
  text: string,
  context?: { before?: string; after?: string },
): LineMatch {
  const at = text.indexOf("b");
  const place = (column: number) => ({ offset: start + column, line: number, column: column + 1 });
  return {
    line: number,
    start,
    end: start + text.length + 1,
    text: Buffer.from(`${text}\n`),
    score: number,
    ranges: [
      {
        start: place(at),
        end: place(at + 1),
        symbol: { name: "b", kind: "func", parent: "P", parentKind: "class" },
      },
    ],
    ...(context?.before === undefined ? {} : { before: Buffer.from(context.before) }),
    ...(context?.after === undefined ? {} : { after: Buffer.from(context.after) }),
  };
}

function answer(change: Partial<FileMatch>): FleetAnswer {
  const repository = {
    id: 7,
    name: "github.com/a/b",
    url: "https://github.com/a/b.git",
    rank: 3,
    heads: [
      { branch: "main", commit: "c1" },
      { branch: "dev", commit: "c2" },
    ],
    indexedAt: 0,
  };
  const file: FileMatch = {
    document: 0,
    path: "x/ab.go",
    oid: "00112233445566778899aabbccddeeff00112233",
    language: "Go",
    branches: ["dev"],
    score: 9,
    matchCount: 1,
    pathRanges: [],
    lines: [],
    ...change,
  };
  const counts = {
    asked: 2,
    leftOut: 4,
    files: 1,
    matches: 1,
    lines: 1,
    documents: 5,
    documentsScanned: 3,
    bytesScanned: 10,
    notWaitedFor: 0,
  };
  return {
    files: [{ file, repository }],
    repositories: [repository],
    missing: [{ repository: "r2", code: "WARMING", why: "it loads" }],
    limits: [],
    counts,
  };
}

async function zoektResult(
  found: FleetAnswer,
  options: ZoektOptions,
  durationMs: number,
): Promise<Record<string, unknown>> {
  const { pieces } = await zoektAnswer(found, options, () => durationMs);
  return (JSON.parse(Buffer.concat(pieces).toString()) as { Result: Record<string, unknown> }).Result;
}

const fileOf = (result: Record<string, unknown>): Record<string, never> =>
  (result["Files"] as Record<string, never>[])[0]!;

test("only repositories with files in the answer have templates of addresses", async () => {
  const found = answer({ lines: [line(2, 10, "abc")] });
  const other = { ...found.repositories[0]!, id: 8, name: "github.com/a/c" };
  const result = await zoektResult({ ...found, repositories: [...found.repositories, other] }, {}, 1);
  expect(result["ShardsScanned"]).toBe(2);
  expect(Object.keys(result["RepoURLs"] as object)).toEqual(["github.com/a/b"]);
  expect(Object.keys(result["LineFragments"] as object)).toEqual(["github.com/a/b"]);
  const nothing = await zoektResult({ ...found, files: [] }, {}, 1);
  expect(nothing).toMatchObject({ RepoURLs: {}, LineFragments: {} });
});

test("a result has zoekt's fields, the commit of the file's branch, and says what is missing", async () => {
  const result = await zoektResult(answer({ lines: [line(2, 10, "abc")] }), {}, 1.5);
  expect(result).toMatchObject({
    FileCount: 1,
    MatchCount: 1,
    ShardsSkippedFilter: 4,
    Duration: 1_500_000,
    Crashes: 1,
    RepoURLs: { "github.com/a/b": "https://github.com/a/b/blob/{{.Version}}/{{.Path}}" },
    Partial: true,
    Missing: [{ Repository: "r2", Code: "WARMING", Why: "it loads" }],
  });
  const file = fileOf(result);
  expect(file).toMatchObject({
    FileName: "x/ab.go",
    Version: "c2",
    Branches: ["dev"],
    RepositoryID: 7,
    RepositoryPriority: 3,
    Checksum: Buffer.from("0011223344556677", "hex").toString("base64"),
  });
  expect(Object.keys(file)).not.toContain("ChunkMatches");
  expect(file["LineMatches"]).toEqual([
    {
      Line: Buffer.from("abc\n").toString("base64"),
      LineStart: 10,
      LineEnd: 14,
      LineNumber: 2,
      Before: null,
      After: null,
      FileName: false,
      // Its own, and for being the first.
      Score: 3,
      DebugScore: "",
      LineFragments: [
        {
          LineOffset: 1,
          Offset: 11,
          MatchLength: 1,
          SymbolInfo: { Sym: "b", Kind: "func", Parent: "P", ParentKind: "class" },
        },
      ],
    },
  ]);
});

test("a match in the name alone is a line that is the name, with columns in characters", async () => {
  const found = answer({ path: "é/ab.go", pathRanges: [{ start: 3, end: 5 }] });
  const file = fileOf(await zoektResult(found, {}, 1));
  expect(file["LineMatches"]).toMatchObject([
    { FileName: true, LineNumber: 0, LineEnd: 0, LineFragments: [{ LineOffset: 3, MatchLength: 2 }] },
  ]);
  const chunked = fileOf(await zoektResult(found, { ChunkMatches: true }, 1));
  expect(Object.keys(chunked)).not.toContain("LineMatches");
  expect(chunked["ChunkMatches"]).toMatchObject([
    {
      FileName: true,
      BestLineMatch: 0,
      Ranges: [
        {
          Start: { ByteOffset: 3, LineNumber: 1, Column: 3 },
          End: { ByteOffset: 5, LineNumber: 1, Column: 5 },
        },
      ],
    },
  ]);
});

test("chunks join lines that share lines around them, each line once, and the best chunk is first", async () => {
  // one\nab2\nmid\nab4\nfive\n … ab9
  const lines = [
    line(2, 4, "ab2", { before: "one\n", after: "mid\n" }),
    line(4, 12, "ab4", { before: "mid\n", after: "five\n" }),
    line(9, 40, "ab9"),
  ];
  const file = fileOf(await zoektResult(answer({ lines }), { ChunkMatches: true }, 1));
  const chunks = file["ChunkMatches"] as unknown as Record<string, unknown>[];
  expect(chunks.map(({ Content }) => decode(Content))).toEqual(["ab9\n", "one\nab2\nmid\nab4\nfive\n"]);
  expect(chunks[1]).toMatchObject({
    ContentStart: { ByteOffset: 0, LineNumber: 1, Column: 1 },
    BestLineMatch: 4,
    Ranges: [
      {
        Start: { ByteOffset: 5, LineNumber: 2, Column: 2 },
        End: { ByteOffset: 6, LineNumber: 2, Column: 3 },
      },
      { Start: { ByteOffset: 13, LineNumber: 4, Column: 2 } },
    ],
  });
  expect(chunks[0]).toMatchObject({ ContentStart: { ByteOffset: 40, LineNumber: 9, Column: 1 }, Score: 9.5 });
});

test("a chunk holds all lines that its matches touch, and empty ones keep their place", async () => {
  // 1: one, 2: empty, 3 and 4: a match over both, 5: empty, 6: last, without a line break.
  const crossing: LineMatch = {
    ...line(3, 5, "ab3", { before: "one\n\n", after: "\nlast" }),
    end: 13,
    text: Buffer.from("ab3\nfou\n"),
    ranges: [{ start: { offset: 6, line: 3, column: 2 }, end: { offset: 12, line: 4, column: 4 } }],
  };
  const file = fileOf(await zoektResult(answer({ lines: [crossing] }), { ChunkMatches: true }, 1));
  const [chunk, ...more] = file["ChunkMatches"] as unknown as Record<string, unknown>[];
  expect(more).toEqual([]);
  expect(decode(chunk!["Content"])).toBe("one\n\nab3\nfou\n\nlast");
  expect(chunk).toMatchObject({
    ContentStart: { ByteOffset: 0, LineNumber: 1, Column: 1 },
    Ranges: [{ End: { ByteOffset: 12, LineNumber: 4, Column: 4 } }],
  });
});

test("lines that only stand next to each other are chunks of their own", async () => {
  const lines = [line(1, 0, "ab"), line(2, 3, "b")];
  const file = fileOf(await zoektResult(answer({ lines }), { ChunkMatches: true }, 1));
  const chunks = file["ChunkMatches"] as unknown as Record<string, unknown>[];
  expect(chunks.map(({ Content }) => decode(Content))).toEqual(["b\n", "ab\n"]);
});

test("the best line is first, of equal ones the first in the file, and each says how it came by its score", async () => {
  const lines = [1, 2, 3, 4].map((number) => ({
    ...line(number, number * 4, "abc"),
    score: number === 3 ? 500 : 50,
    debug: `because ${number}`,
  }));
  const found = answer({ lines, score: 80_500, debug: "because of 3" });
  const file = fileOf(await zoektResult(found, {}, 1));
  expect(file["LineMatches"]).toMatchObject([
    { LineNumber: 3, Score: 500.5, DebugScore: "because 3" },
    { LineNumber: 1, Score: 51 },
    { LineNumber: 2, Score: 50.75 },
    { LineNumber: 4, Score: 50.25 },
  ]);
  expect(file["Debug"]).toBe("because of 3");
  // Ten million times its own score, the rank of its repository, and something for a short path.
  expect(file["Score"]).toBe(805_000_000_300 + 10 / 8);
  const bm25 = fileOf(await zoektResult(found, { UseBM25Scoring: true }, 1));
  expect(bm25["Score"]).toBe(80_500);
  expect(bm25["LineMatches"]).toMatchObject([{ LineNumber: 3, Score: 500 }, { Score: 50 }, {}, {}]);
});

test("what matches over several lines is a part on each of them, with the lines around each", async () => {
  // 1: one, 2: xab, 3: mid, 4: cd b, 5: end
  const crossing: LineMatch = {
    ...line(2, 4, "xab", { before: "one\n", after: "end\n" }),
    end: 17,
    text: Buffer.from("xab\nmid\ncd b\n"),
    score: 50,
    ranges: [{ start: { offset: 5, line: 2, column: 2 }, end: { offset: 14, line: 4, column: 3 } }],
  };
  const after = { ...line(4, 12, "cd b", { before: "mid\n", after: "end\n" }), score: 50 };
  const file = fileOf(await zoektResult(answer({ lines: [crossing, after] }), { NumContextLines: 1 }, 1));
  const shown = file["LineMatches"] as unknown as Record<string, unknown>[];
  expect(
    shown.map(({ LineNumber, LineStart, LineEnd, Line, Before, After }) => [
      LineNumber,
      LineStart,
      LineEnd,
      ...[Line, Before, After].map(decode),
    ]),
  ).toEqual([
    [2, 4, 8, "xab\n", "one\n", "mid\n"],
    [3, 8, 12, "mid\n", "xab\n", "cd b\n"],
    [4, 12, 17, "cd b\n", "mid\n", "end\n"],
  ]);
  expect(
    shown.map(({ LineFragments }) =>
      (LineFragments as { LineOffset: number; MatchLength: number }[]).map(({ LineOffset, MatchLength }) => [
        LineOffset,
        MatchLength,
      ]),
    ),
  ).toEqual([
    [[1, 2]],
    [[0, 3]],
    [
      [0, 2],
      [3, 1],
    ],
  ]);
  // A line break at the end of what matched is no part of the line.
  const broken = {
    ...line(1, 0, "ab"),
    ranges: [{ start: { offset: 1, line: 1, column: 2 }, end: { offset: 3, line: 1, column: 4 } }],
  };
  const [one] = fileOf(await zoektResult(answer({ lines: [broken] }), {}, 1))[
    "LineMatches"
  ] as unknown as Record<string, unknown>[];
  expect(one!["LineFragments"]).toMatchObject([{ LineOffset: 1, MatchLength: 1 }]);
});

test("bytes that do not fit one step of base64 come out whole", async () => {
  const text = Buffer.from("é\u0000b".repeat(40_000));
  const lines = [{ ...line(1, 0, "b"), text, before: text, after: text }];
  const file = fileOf(await zoektResult(answer({ lines, content: text }), {}, 1));
  const [shown] = file["LineMatches"] as unknown as Record<string, string>[];
  for (const field of [shown!["Line"], shown!["Before"], shown!["After"], file["Content"] as unknown])
    expect(Buffer.from(String(field), "base64").equals(text)).toBe(true);
});

test("others have their turn while one file of very many matches is written, in one chunk or in as many", async () => {
  for (const step of [1, 2]) {
    // Those of the first kind have the next line as what follows.
    const around = step === 1 ? { after: "abc\n" } : {};
    const lines = Array.from({ length: 20_000 }, (_, i) => line(i * step + 1, i * step * 4, "abc", around));
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    const { pieces } = await zoektAnswer(answer({ lines }), { ChunkMatches: true }, () => 1);
    clearInterval(count);
    expect(turns).toBeGreaterThan(5);
    const { Result } = JSON.parse(Buffer.concat(pieces).toString()) as {
      Result: { Files: { ChunkMatches: { Ranges: unknown[]; SymbolInfo: unknown[] }[] }[] };
    };
    const chunks = Result.Files[0]!.ChunkMatches;
    expect(chunks).toHaveLength(step === 1 ? 1 : lines.length);
    expect(chunks.flatMap(({ Ranges }) => Ranges)).toHaveLength(lines.length);
    expect(chunks.flatMap(({ SymbolInfo }) => SymbolInfo)).toHaveLength(lines.length);
  }
}, 60_000);
