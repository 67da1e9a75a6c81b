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
    end: start + text.length,
    text: Buffer.from(text),
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
    ChunkMatches: null,
    Checksum: Buffer.from("0011223344556677", "hex").toString("base64"),
  });
  expect(file["LineMatches"]).toEqual([
    {
      Line: Buffer.from("abc").toString("base64"),
      LineStart: 10,
      LineEnd: 13,
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

test("a match in the name alone is a line that is the name", async () => {
  const file = fileOf(await zoektResult(answer({ pathRanges: [{ start: 2, end: 4 }] }), {}, 1));
  expect(file["LineMatches"]).toMatchObject([
    { FileName: true, LineNumber: 0, LineFragments: [{ LineOffset: 2, MatchLength: 2 }] },
  ]);
  const chunked = fileOf(
    await zoektResult(answer({ pathRanges: [{ start: 2, end: 4 }] }), { ChunkMatches: true }, 1),
  );
  expect(chunked["ChunkMatches"]).toMatchObject([
    { FileName: true, Ranges: [{ Start: { ByteOffset: 2, LineNumber: 1, Column: 3 } }] },
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
  expect(chunks.map(({ Content }) => decode(Content))).toEqual(["one\nab2\nmid\nab4\nfive", "ab9"]);
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
