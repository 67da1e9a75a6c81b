import { expect, test } from "vitest";
import type { FileMatch, LineMatch } from "../engine/index.ts";
import type { FleetAnswer } from "./gather.ts";
import { zoektAnswer } from "./zoekt-json.ts";
import type { ZoektOptions } from "./zoekt.ts";

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
      Score: 2,
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

test("chunks join neighbouring lines with their context, each line once", async () => {
  // one\nab2\nmid\nab4\nfive\n … ab9
  const lines = [
    line(2, 4, "ab2", { before: "one\n", after: "mid\n" }),
    line(4, 12, "ab4", { before: "mid\n", after: "five\n" }),
    line(9, 40, "ab9"),
  ];
  const file = fileOf(await zoektResult(answer({ lines }), { ChunkMatches: true }, 1));
  const chunks = file["ChunkMatches"] as unknown as Record<string, unknown>[];
  expect(chunks.map(({ Content }) => decode(Content))).toEqual(["one\nab2\nmid\nab4\nfive\n", "ab9\n"]);
  expect(chunks[0]).toMatchObject({
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
  expect(chunks[1]).toMatchObject({ ContentStart: { ByteOffset: 40, LineNumber: 9, Column: 1 } });
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
    const lines = Array.from({ length: 20_000 }, (_, i) => line(i * step + 1, i * step * 4, "abc"));
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
