/** Code nodes with the engine that is shipped: what the fleet promises, on real shared memory and threads. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock, Tracer, type FinishedSpan } from "@keelson/runtime";
import { TestFleet } from "@keelson/testkit";
import { afterEach, expect, test, vi } from "vitest";
import type { RepositoryStatus } from "./catalogue-shard.ts";
import { openEngine, type CodeEngine, type CodeIndex } from "./engine/index.ts";
import { MemoryIndex } from "./engine/local/memory-index.ts";
import { CodeFleet } from "./fixtures/code-fleet.ts";
import { parseQuery } from "./query/index.ts";
import { unpackFiles } from "./search/packed-files.ts";
import type { PackedAnswer, ShardAnswer } from "./search/search-request.ts";

const clock = new SystemClock();
const BUDGET = 32 << 20;
// Real git and whole fleets, on machines that are not ours alone.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let code: CodeFleet<TestFleet>;
const fleet = (): TestFleet =>
  new TestFleet({ services: [], terms: { ttlMs: 10_000, leaveReadyMs: 10_000 } });
/** What a killed node had is free again soon. */
const shortLived = (): TestFleet => new TestFleet({ services: [], terms: { ttlMs: 3_000 } });
const built: CodeIndex[] = [];
let loads = 0;
afterEach(async () => {
  await code.stop();
  built.length = 0;
  loads = 0;
});

/** The real engine, watched. */
function open(memoryBytes: number): CodeEngine {
  const engine = openEngine({ memoryBytes, workers: 1 }, { clock });
  return {
    ...engine,
    get memory() {
      return engine.memory;
    },
    build: async (...args) => {
      const index = await engine.build(...args);
      built.push(index);
      return index;
    },
    load: (pieces) => {
      loads++;
      return engine.load(pieces);
    },
  };
}

async function add(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const url = code.scratch.repository(name, files);
  await code.call("catalogue", "add", { repositories: [{ url, name }] });
  return url;
}

async function search(id: number, query: string): Promise<ShardAnswer> {
  const body = { query: parseQuery(query), options: { timeCapMs: 5_000 } };
  const { packed, ...answer } = (await code.call(String(id), "search", body)).body as PackedAnswer;
  return { ...answer, files: await unpackFiles(packed) };
}

async function eventually(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 40_000;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within 40 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

test("a repository is searched with the engine's answers, its symbols, branches and files", async () => {
  code = new CodeFleet(fleet(), {}, { open });
  await code.add("a", BUDGET);
  await add("one", {
    "src/Straße.go": "package main\n\nfunc Größe() int { return 42 }\n",
    "other.txt": "größe\n",
  });
  const answer = await search(1, "größe case:no");
  expect(answer.files.map(({ path }) => path).sort()).toEqual(["other.txt", "src/Straße.go"]);
  expect((await search(1, "lang:go f:stra")).files).toHaveLength(1);
  expect((await search(1, String.raw`(?m)^func\s\w`)).files.map(({ lines }) => lines[0]?.line)).toEqual([3]);
  const { body } = await code.call("1", "print", { path: "other.txt" });
  expect(Buffer.from((body as { content: Uint8Array }).content).toString()).toBe("größe\n");
  await expect(code.call("1", "print", { path: "../secret" })).rejects.toMatchObject({
    code: "FILE_UNKNOWN",
  });
});

test("files that are too large, binary or stored elsewhere are found by their path alone", async () => {
  code = new CodeFleet(fleet(), { fileBytesMax: 1_000, ctags: false }, { open });
  await code.add("a", BUDGET);
  await add("one", {
    "large.txt": "needle ".repeat(1_000),
    "model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:needle\nsize 1\n",
    "nul.txt": "needle\0",
    "plain.txt": "needle",
  });
  expect((await search(1, "needle")).files.map(({ path }) => path)).toEqual(["plain.txt"]);
  expect((await search(1, "f:(large|model|nul)")).counts.files).toBe(3);
  code.scratch.commit(`${code.scratch.folder}/one`, { "plain.txt": "needle two" });
  await code.call("catalogue", "poke", { name: "one" });
  await eventually("it is up to date", async () => (await search(1, "two")).counts.files === 1);
  expect((await search(1, "f:(large|model|nul)")).counts.files).toBe(3);
});

test("a repository without commits is an index of nothing that says so, moves, and is served with the first push", async () => {
  code = new CodeFleet(fleet(), { replicas: 1 }, { open });
  const a = await code.add("a", BUDGET);
  const url = join(code.scratch.folder, "empty");
  code.scratch.git(code.scratch.folder, "init", "--quiet", "--object-format=sha256", url);
  await code.call("catalogue", "add", { repositories: [{ url, name: "empty" }] });
  const answer = await search(1, "anything");
  expect([answer.files, answer.stale, answer.repository.heads]).toEqual([[], undefined, []]);
  const index = async (): Promise<RepositoryStatus["replicas"][number]["index"]> => {
    const { repositories } = (await code.call("catalogue", "status", null)).body as {
      repositories: RepositoryStatus[];
    };
    return repositories[0]?.replicas[0]?.index;
  };
  await eventually("the record is there", async () => (await index()) !== undefined);
  expect(await index()).toMatchObject({ heads: [], documents: 0 });
  expect((await index())?.note).toMatch(/no commits/);
  expect(await index()).not.toHaveProperty("problem");
  await code.add("b", BUDGET);
  await a.leave();
  await eventually("the other node has it", async () => (await index())?.node === "b");
  const commit = code.scratch.commit(url, { "a.txt": "first words\n" });
  await code.call("catalogue", "poke", { name: "empty" });
  await eventually("the push is served", async () => (await search(1, "words")).files.length === 1);
  expect((await search(1, "words")).repository.heads).toMatchObject([{ commit }]);
  await eventually("it says so no longer", async () => (await index())?.note === undefined);
});

test("a flipped byte is found by the checksums, and the index is built again", async () => {
  code = new CodeFleet(fleet(), { verifyMs: 1, pollMs: 200, ctags: false }, { open });
  await code.add("a", BUDGET);
  await add("one", { "x.txt": "needle in here\n" });
  expect((await search(1, "needle")).files).toHaveLength(1);
  const [index] = built;
  expect(index).toBeInstanceOf(MemoryIndex);
  const { ports, parts } = index as MemoryIndex;
  const bytes = ports.arenas.bytes(parts[0]!.segment.place);
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf("needle");
  expect(at).toBeGreaterThan(0);
  bytes[at]! ^= 1;
  await eventually("it is built again", () => built.length === 2);
  await eventually("it is found again", () =>
    search(1, "needle").then(
      ({ files }) => files.length === 1,
      () => false,
    ),
  );
});

test("what a flipped byte spoilt does not get into the index of the next commit", async () => {
  code = new CodeFleet(fleet(), { verifyMs: 0, pollMs: 200, ctags: false }, { open });
  await code.add("a", BUDGET);
  const url = await add("one", { "x.txt": "needle in here\n", "large.txt": "hay\n".repeat(10_000) });
  expect((await search(1, "needle")).files).toHaveLength(1);
  const { ports, parts } = built[0] as MemoryIndex;
  const bytes = ports.arenas.bytes(parts[0]!.segment.place);
  bytes[Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf("needle")]! ^= 1;
  // Most of the segment goes, so the rest of it is copied.
  const commit = code.scratch.commit(url, { "large.txt": "less\n" });
  await eventually("the new commit is there, with what was spoilt", () =>
    search(1, "needle").then(
      ({ files, repository }) => files.length === 1 && repository.heads[0]?.commit === commit,
      () => false,
    ),
  );
});

test("a drain sends the built index on, and builds nothing", async () => {
  code = new CodeFleet(fleet(), { ctags: false }, { open });
  await Promise.all([code.add("a", BUDGET), code.add("b", BUDGET)]);
  await add(
    "one",
    Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}.txt`, `needle ${i}\n`.repeat(200)])),
  );
  await search(1, "needle");
  const [holder] = code.fleet.holders("code/1/0");
  await code.fleet.leave(holder!);
  expect((await search(1, "needle")).counts.files).toBe(50);
  expect([built.length, loads]).toEqual([1, 1]);
});

test("a node that starts again after a crash reads large indexes from its disk, and builds those that are damaged there", async () => {
  code = new CodeFleet(shortLived(), { ctags: false, snapshots: { bytesMin: 0 } }, { open });
  await code.add("a", BUDGET);
  await add("one", { "x.txt": "needle one\n" });
  await add("two", { "x.txt": "needle two\n" });
  for (const id of [1, 2]) expect((await search(id, "needle")).counts.files).toBe(1);
  const snapshots = join(code.scratch.folder, "node-a", "snapshots");
  await eventually("both are on disk", () =>
    ["1.json", "2.json"].every((name) => existsSync(join(snapshots, name))),
  );
  writeFileSync(join(snapshots, "2.json"), "{ torn");
  code.fleet.kill("a");
  await code.add("a", BUDGET);
  for (const id of [1, 2]) expect((await search(id, "needle")).counts.files).toBe(1);
  expect([built.length, loads]).toEqual([3, 1]);
});

test("no answer mixes two commits, however fast they follow one another", async () => {
  code = new CodeFleet(fleet(), { ctags: false, pollMs: 100 }, { open });
  await code.add("a", BUDGET);
  const files = (n: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}.txt`, `needle version_${n}_\n`]));
  await add("one", files(0));
  const seen = new Set<string>();
  let pushed = 0;
  let done = false;
  const asking = (async (): Promise<void> => {
    while (!done) {
      const { files: found } = await search(1, "version_[0-9]+_");
      const versions = new Set(found.map(({ lines }) => Buffer.from(lines[0]!.text).toString()));
      expect([found.length, [...versions]]).toEqual([20, [expect.anything()]]);
      for (const version of versions) seen.add(version);
    }
  })();
  const asked = asking.catch((error: unknown) => error);
  while (pushed < 5) {
    code.scratch.commit(`${code.scratch.folder}/one`, files(++pushed));
    await code.call("catalogue", "poke", { name: "one" });
    await eventually("it is served", async () => (await search(1, `version_${pushed}_`)).counts.files > 0);
  }
  done = true;
  expect(await asked).toBeUndefined();
  expect(seen.size).toBeGreaterThan(1);
});

test("one trace goes from the clone over the index to the first answer", async () => {
  const spans: FinishedSpan[] = [];
  const tracer = new Tracer({
    clock,
    random: Math.random,
    sampleRatio: 1,
    sink: { ended: (span) => spans.push(span) },
  });
  code = new CodeFleet(fleet(), { ctags: false }, { open, tracer });
  await code.add("a", BUDGET);
  await add("one", { "x.txt": "needle\n" });
  await search(1, "needle");
  await eventually("the trace is whole", () => spans.some(({ name }) => name === "hold"));
  expect(spans.map(({ name }) => name)).toEqual(["clone", "index", "serve", "hold"]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const hold = spans.find(({ name }) => name === "hold");
  for (const span of spans) expect(span === hold || span.parentSpanId === hold?.spanId).toBe(true);
});

test("a new commit has a trace of its own, from the clone over the index to the first answer", async () => {
  const spans: FinishedSpan[] = [];
  const tracer = new Tracer({
    clock,
    random: Math.random,
    sampleRatio: 1,
    sink: { ended: (span) => spans.push(span) },
  });
  code = new CodeFleet(fleet(), { ctags: false }, { open, tracer });
  await code.add("a", BUDGET);
  const url = await add("one", { "x.txt": "needle\n" });
  await search(1, "needle");
  await eventually("the first trace is whole", () => spans.some(({ name }) => name === "hold"));
  const poked = async (): Promise<void> => void (await code.call("catalogue", "poke", { name: "one" }));
  await poked();
  code.scratch.commit(url, { "x.txt": "thimble\n" });
  await poked();
  await eventually("it is served", async () => (await search(1, "thimble")).counts.files === 1);
  const update = spans.at(-1);
  // Of looks that found nothing nothing is told.
  expect(spans.map(({ name }) => name).slice(4)).toEqual(["clone", "index", "serve", "update"]);
  expect(spans.filter(({ traceId }) => traceId === update?.traceId)).toEqual(spans.slice(4));
  for (const span of spans.slice(4, 7)) expect(span.parentSpanId).toBe(update?.spanId);
});

test("memory is what the arenas really hold, and is given back", async () => {
  code = new CodeFleet(fleet(), { ctags: false }, { open });
  await code.add("a", BUDGET);
  await add("one", { "x.txt": "needle\n".repeat(20_000) });
  await search(1, "needle");
  const status = async (): Promise<RepositoryStatus[]> =>
    ((await code.call("catalogue", "status", null)).body as { repositories: RepositoryStatus[] })
      .repositories;
  await eventually(
    "it is recorded",
    async () => ((await status())[0]?.replicas[0]?.index?.memoryBytes ?? 0) > 140_000,
  );
  await code.call("catalogue", "remove", { names: ["one"] });
  await eventually("it is given back", async () => {
    const text = await code.metrics.get("a")!.registry.metrics();
    return /code_memory_used_bytes 0\n/.test(text);
  });
  expect(await status()).toEqual([]);
});
