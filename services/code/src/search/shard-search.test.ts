import { SystemClock } from "@keelson/runtime";
import { beforeAll, expect, test } from "vitest";
import { openEngine, type CodeIndex } from "../engine/index.ts";
import { PlainEngine } from "../fixtures/plain-engine.ts";
import { matchText, parseQuery, type RepositoryFacts } from "../query/index.ts";
import { searchShard } from "./shard-search.ts";

const facts: RepositoryFacts = {
  id: 1,
  name: "a/b",
  archived: false,
  fork: false,
  public: true,
  metadata: {},
};
let index: CodeIndex;
beforeAll(async () => {
  const files = { "one.go": "alpha beta", "two.go": "alpha gamma", "docs/three.md": "beta" };
  const documents = Object.entries(files).map(([path, text]) => ({
    path,
    oid: path,
    branches: path === "two.go" ? ["main", "dev"] : ["main"],
    content: Buffer.from(text),
  }));
  index = await new PlainEngine(1 << 24).build(documents, { branches: ["main", "dev"] });
});

test.each([
  ["alpha", ["one.go", "two.go"]],
  ["alpha -beta", ["two.go"]],
  ["alpha beta or file:docs", ["docs/three.md", "one.go"]],
  ["(alpha or beta) -file:one", ["docs/three.md", "two.go"]],
  ["branch:dev", ["two.go"]],
  ["branch:HEAD file:one", ["one.go"]],
  ["repo:a/b gamma", ["two.go"]],
  ["repo:zzz gamma", []],
  ["(type:repo gamma) beta", ["docs/three.md", "one.go"]],
  ["(type:repo nowhere) beta", []],
  ["-(type:repo nowhere) beta", ["docs/three.md", "one.go"]],
  ["type:repo gamma", ["docs/three.md", "one.go", "two.go"]],
  ["archived:yes", []],
  ["", ["docs/three.md", "one.go", "two.go"]],
])("%j", async (query, paths) => {
  const request = { query: parseQuery(query), options: { timeCapMs: 1_000 } };
  const { files } = await searchShard(index, facts, request, matchText, new AbortController().signal);
  expect(files.map(({ path }) => path).sort()).toEqual(paths);
});

test("counts files by folder beyond those that it shows", async () => {
  const request = { query: parseQuery(""), options: { timeCapMs: 1_000, filesShownMax: 1, facets: true } };
  const answer = await searchShard(index, facts, request, matchText, new AbortController().signal);
  expect(answer.files).toHaveLength(1);
  expect(answer.facets).toEqual({ languages: { Text: 3 }, folders: { "": 2, "docs/": 1 }, exact: true });
});

test("puts together no more than fits into an answer, says so, and still counts every file", async () => {
  const engine = openEngine({ memoryBytes: 64 << 20, workers: 1 }, { clock: new SystemClock() });
  const documents = Array.from({ length: 12 }, (_, i) => ({
    path: `minified/${i}.js`,
    oid: String(i).padStart(40, "0"),
    branches: ["main"],
    content: Buffer.from(`needle${"-".repeat(1 << 20)}`),
  }));
  const minified = await engine.build(documents, { branches: ["main"] });
  let made = 0;
  const watched: Pick<CodeIndex, "search"> = {
    async search(query, options) {
      const result = await minified.search(query, options);
      made += result.files.length;
      return result;
    },
  };
  const request = { query: parseQuery("needle"), options: { timeCapMs: 10_000, facets: true } };
  const { signal } = new AbortController();
  const answer = await searchShard(watched as CodeIndex, facts, request, matchText, signal);
  expect([answer.partial, answer.files.length, made]).toEqual(["answer-bytes", 7, 8]);
  expect([answer.counts.files, answer.facets?.folders]).toEqual([12, { "minified/": 12 }]);
  await engine.close();
});
