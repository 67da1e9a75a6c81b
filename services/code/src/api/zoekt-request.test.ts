import { expect, test } from "vitest";
import { fieldOf, zoektList } from "./zoekt-list.ts";
import { readList, readSearch } from "./zoekt-request.ts";
import { shardMatches } from "./zoekt.ts";
import type { RepositoryStatus } from "../catalogue-shard.ts";

test("fields are read in any case, null is not said, and what is unknown is left alone", () => {
  expect(
    readSearch({
      q: "a",
      repoids: [1],
      opts: {
        wHOLE: true,
        MaxDocDisplayCount: null,
        chunkmatches: false,
        Trace: true,
        SpanContext: { a: "b" },
      },
    }),
  ).toEqual({ Q: "a", RepoIDs: [1], Opts: { Whole: true, ChunkMatches: false } });
  expect(readSearch({ Q: "a", q: "b", RepoIDs: null, Opts: null })).toEqual({ Q: "a" });
  expect(readList(undefined)).toEqual({ Q: "" });
  expect(readList({ q: "r:a", Opts: { field: 2 } })).toEqual({ Q: "r:a", Opts: { Field: 2 } });
});

test("what is of the wrong kind is refused with its name", () => {
  for (const body of [{}, [], "a", { Q: 1 }, { Q: "a", Opts: [] }])
    expect(() => readSearch(body)).toThrow(RangeError);
  expect(() => readSearch({ Q: "a", Opts: { Whole: "yes" } })).toThrow(/Opts\.Whole/);
  expect(() => readSearch({ Q: "a", RepoIDs: ["1"] })).toThrow(/RepoIDs/);
  expect(() => fieldOf(1)).toThrow(/Opts\.Field is 0 \(Repos\) or 2 \(ReposMap\), not 1/);
});

test("a bound below zero, or of Go's greatest number, is none", () => {
  const all = Number.MAX_SAFE_INTEGER;
  const body: unknown = JSON.parse('{"Q":"a","Opts":{"ShardMaxMatchCount":9223372036854775807}}');
  expect(readSearch(body).Opts).toEqual({ ShardMaxMatchCount: all });
  const { Opts } = readSearch({ Q: "a", Opts: { MaxDocDisplayCount: -1, TotalMaxMatchCount: 0 } });
  expect(Opts).toEqual({ MaxDocDisplayCount: all, TotalMaxMatchCount: 0 });
  expect(() => readSearch({ Q: "a", Opts: { MaxDocDisplayCount: 1.5 } })).toThrow(/whole number/);
});

test("the lesser of two bounds of a repository counts, and none is a hundred thousand", () => {
  expect(shardMatches({})).toBe(100_000);
  expect(shardMatches({ ShardMaxMatchCount: 7 })).toBe(7);
  expect(shardMatches({ ShardMaxMatchCount: 7, ShardRepoMaxMatchCount: 1 })).toBe(1);
  expect(shardMatches({ ShardMaxMatchCount: 7, ShardRepoMaxMatchCount: 9 })).toBe(7);
});

const index = {
  v: 1,
  node: "a",
  heads: [
    { branch: "main", commit: "c1" },
    { branch: "dev", commit: "c2" },
  ],
  indexedAt: 1_700_000_000_500,
  buildMs: 1,
  how: "built",
  memoryBytes: 1_400,
  contentBytes: 1_000,
  documents: 3,
  lines: 30,
  defaultBranchLines: 20,
  otherBranchesLines: 25,
  symbols: true,
  lastServedAt: 0,
};

const row = {
  v: 1,
  id: 7,
  name: "github.com/a/b",
  url: "https://github.com/a/b.git",
  archived: true,
  fork: false,
  public: true,
  metadata: { team: "search" },
  rank: 3,
  state: "active",
  reason: "",
  replicas: [{ replica: 0, node: "a", index }],
} as unknown as RepositoryStatus;

test("a list says what each repository has, and what all have together", () => {
  const list = zoektList([row, { ...row, id: 8 }], fieldOf(), 0);
  const stats = {
    Shards: 1,
    Documents: 3,
    IndexBytes: 400,
    ContentBytes: 1_000,
    NewLinesCount: 30,
    DefaultBranchNewLinesCount: 20,
    OtherBranchesNewLinesCount: 25,
  };
  expect(list).toMatchObject({ Crashes: 0 });
  expect(list["ReposMap"]).toEqual({});
  expect((list["Repos"] as unknown[])[0]).toMatchObject({
    Repository: {
      ID: 7,
      Name: "github.com/a/b",
      Branches: [
        { Name: "main", Version: "c1" },
        { Name: "dev", Version: "c2" },
      ],
      RawConfig: { archived: "1", fork: "0", public: "1" },
      Metadata: { team: "search" },
      Rank: 3,
      HasSymbols: true,
    },
    Stats: { Repos: 0, ...stats },
  });
  const twice = Object.fromEntries(Object.entries(stats).map(([name, each]) => [name, each * 2]));
  expect(list["Stats"]).toEqual({ Repos: 2, ...twice });
});

test("a map of repositories has the least of each, by number", () => {
  const list = zoektList([row], fieldOf(2), 1);
  expect(list).toMatchObject({
    Repos: [],
    Crashes: 1,
    ReposMap: { 7: { HasSymbols: true, IndexTimeUnix: 1_700_000_000, Branches: [{ Name: "main" }, {}] } },
    Stats: { Repos: 1 },
  });
});
