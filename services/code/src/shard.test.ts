import type { ShardRequest } from "@keelson/kernel";
import { SystemClock } from "@keelson/runtime";
import { expect, test } from "vitest";
import { EngineError, type CodeIndex } from "./engine/index.ts";
import { PlainEngine } from "./fixtures/plain-engine.ts";
import type { Current, HeldRepository, RepositoryPorts } from "./held-repository.ts";
import { matchText, parseQuery } from "./query/index.ts";
import { AnswerMemory } from "./search/answer-memory.ts";
import { unpackFiles } from "./search/packed-files.ts";
import type { PackedAnswer } from "./search/search-request.ts";
import { RepositoryShard } from "./shard.ts";

const clock = new SystemClock();

test("a newer commit that comes between two questions to an index is searched instead", async () => {
  const engine = new PlainEngine(1 << 24);
  const commit = async (name: string): Promise<Current> => {
    const document = { path: name, oid: name, branches: ["main"], content: Buffer.from("beta gamma") };
    const index = await engine.build([document], { branches: ["main"] });
    return { index, heads: [{ branch: "main", commit: name }], buildMs: 1, how: "built", indexedAt: 1 };
  };
  const [before, newer] = [await commit("before"), await commit("newer")];
  let isReleased = false;
  const { index } = before;
  const search: CodeIndex["search"] = async (query, options) => {
    if (isReleased) throw new EngineError("CLOSED", "the index was released");
    const result = await index.search(query, options);
    isReleased = true;
    held.current = newer;
    return result;
  };
  const held = {
    current: { ...before, index: { search, branches: index.branches } as CodeIndex } as Current,
    problem: undefined,
    repository: { id: 1, name: "a/b", url: "/a/b", rank: 0, archived: false, fork: false, public: true },
    served: () => undefined,
  };
  const [answers, found] = [new AnswerMemory(16 << 20, clock), new AnswerMemory(4 << 20, clock)];
  const ports = { matcher: matchText, answers, found, clock, metrics: { count: () => undefined } };
  const shard = new RepositoryShard(held as unknown as HeldRepository, ports as unknown as RepositoryPorts);
  const body = { query: parseQuery("(type:repo gamma) beta"), options: { timeCapMs: 10_000 } };
  const request = { method: "search", body, timeoutMs: 20_000, signal: new AbortController().signal };
  const answer = (await shard.handle(request as unknown as ShardRequest)) as PackedAnswer;
  expect((await unpackFiles(answer.packed)).map(({ path }) => path)).toEqual(["newer"]);
  expect(JSON.stringify(answer.repository)).toContain('"newer"');
});
