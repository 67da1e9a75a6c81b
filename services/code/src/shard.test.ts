import type { ShardRequest } from "@keelson/kernel";
import { SystemClock } from "@keelson/runtime";
import { expect, test } from "vitest";
import { EngineError, type CodeIndex } from "./engine/index.ts";
import { PlainEngine } from "./fixtures/plain-engine.ts";
import type { Current, HeldRepository } from "./held-repository.ts";
import type { RepositoryPorts } from "./repository-ports.ts";
import { matchText, parseQuery } from "./query/index.ts";
import { AnswerMemory } from "./search/answer-memory.ts";
import { unpackFiles } from "./search/packed-files.ts";
import type { PackedAnswer } from "./search/search-request.ts";
import { RepositoryShard } from "./shard.ts";

const clock = new SystemClock();

async function commit(name: string): Promise<Current> {
  const document = { path: name, oid: name, branches: ["main"], content: Buffer.from("beta gamma") };
  const index = await new PlainEngine(1 << 24).build([document], { branches: ["main"] });
  const heads = [{ branch: "main", commit: name }];
  return { index, heads, buildMs: 1, how: "built", submodules: 0, indexedAt: 1 };
}

/** Asks an index in whose place a newer one comes right after its first answer. `closes`: nobody keeps it from then on. */
async function searched(query: string, closes: boolean): Promise<{ files: string[]; commit: string }> {
  const [before, newer] = [await commit("before"), await commit("newer")];
  let isReleased = false;
  const { index } = before;
  const search: CodeIndex["search"] = async (asked, options) => {
    if (isReleased) throw new EngineError("CLOSED", "the index was released");
    const result = await index.search(asked, options);
    isReleased = closes;
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
  const body = { query: parseQuery(query), options: { timeCapMs: 10_000 } };
  const request = { method: "search", body, timeoutMs: 20_000, signal: new AbortController().signal };
  const { packed, repository } = (await shard.handle(request as unknown as ShardRequest)) as PackedAnswer;
  const files = (await unpackFiles(packed)).map(({ path }) => path);
  return { files, commit: repository.heads[0]!.commit };
}

test("a newer commit that comes between two questions to an index is searched instead", async () => {
  expect(await searched("(type:repo gamma) beta", true)).toEqual({ files: ["newer"], commit: "newer" });
});

test("an answer names the commit that it is of, though a newer one came while it was searched for", async () => {
  expect(await searched("beta", false)).toEqual({ files: ["before"], commit: "before" });
});
