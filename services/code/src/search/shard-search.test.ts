import { beforeAll, expect, test } from "vitest";
import type { CodeIndex } from "../engine/index.ts";
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
