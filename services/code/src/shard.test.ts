import type { ShardRequest } from "@keelson/kernel";
import { SystemClock } from "@keelson/runtime";
import { expect, test } from "vitest";
import { EngineError, type CodeIndex } from "./engine/index.ts";
import { PlainEngine } from "./fixtures/plain-engine.ts";
import type { Current, HeldRepository } from "./held-repository.ts";
import type { RepositoryPorts } from "./repository-ports.ts";
import { Limiter } from "./limiter.ts";
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

test("lines are of a newer commit when that came before the first of them, and their place is free again whoever leaves when", async () => {
  const lines = async function* (name: string): AsyncGenerator<Uint8Array> {
    if (name === "before") throw new EngineError("CLOSED", "the index was released");
    yield Buffer.from(`{"path":"${name}","line":1}\n`);
    yield Buffer.from(`{"path":"${name}","line":2}\n{"done":true,"files":1,"lines":2,"matches":2}\n`);
  };
  const at = async (name: string): Promise<Current> => {
    const { index, ...rest } = await commit(name);
    const { branches, stats } = index;
    return { ...rest, index: { branches, stats, searchLines: () => lines(name) } as unknown as CodeIndex };
  };
  const [before, newer] = [await at("before"), await at("newer")];
  const places = new Limiter(1);
  const read = async (itemsMax: number): Promise<unknown[]> => {
    let looks = 0;
    const held = {
      get current() {
        return looks++ === 0 ? before : newer;
      },
      repository: { id: 1, name: "a/b", url: "/a/b", rank: 0, archived: false, fork: false, public: true },
      served: () => undefined,
    };
    const ports = { matcher: matchText, clock, metrics: { count: () => undefined }, lines: places };
    const shard = new RepositoryShard(held as unknown as HeldRepository, ports as unknown as RepositoryPorts);
    const body = { query: parseQuery("x"), timeCapMs: 10_000 };
    const request = { method: "lines", body, timeoutMs: 20_000, signal: new AbortController().signal };
    const items: unknown[] = [];
    for await (const item of shard.stream(request as unknown as ShardRequest)) {
      items.push(item instanceof Uint8Array ? String(item) : item);
      if (items.length === itemsMax) break;
    }
    expect(places.running).toBe(0);
    return items;
  };
  expect(await read(9)).toMatchObject([
    { repository: { heads: [{ commit: "newer" }] } },
    '{"path":"newer","line":1}\n',
    '{"path":"newer","line":2}\n',
    { counts: { files: 1, lines: 2, matches: 2 } },
  ]);
  for (const items of [1, 2, 3]) expect(await read(items)).toHaveLength(items);
});
