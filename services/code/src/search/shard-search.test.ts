import { SystemClock } from "@keelson/runtime";
import { beforeAll, expect, test } from "vitest";
import { openEngine, type CodeIndex, type FileTaker } from "../engine/index.ts";
import { PlainEngine } from "../fixtures/plain-engine.ts";
import { matchText, parseQuery, type RepositoryFacts } from "../query/index.ts";
import { AnswerMemory } from "./answer-memory.ts";
import { unpackFiles } from "./packed-files.ts";
import type { SearchRequest } from "./search-request.ts";
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
const clock = new SystemClock();
const ports = {
  matcher: matchText,
  answers: new AnswerMemory(16 << 20, clock),
  found: new AnswerMemory(4 << 20, clock),
  clock,
};
const { signal } = new AbortController();

async function searched(of: CodeIndex, request: SearchRequest, at = ports) {
  const { packed, release, ...answer } = await searchShard(of, facts, request, at, signal);
  release();
  return { ...answer, files: await unpackFiles(packed) };
}

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
  ["alpha", ["main", "dev"]],
  ["alpha branch:dev", ["dev"]],
  ["alpha branch:HEAD", ["main"]],
  ["alpha -branch:nope", ["main", "dev"]],
  ["(branch:ma beta) or gamma", ["main"]],
])("%s shows a file on %j", async (query, branches) => {
  const request = { query: parseQuery(query), options: { timeCapMs: 1_000 } };
  const { files } = await searched(index, request);
  expect(files.find(({ path }) => path === "two.go")?.branches).toEqual(branches);
});

test("says so when symbols are asked for that nobody has read", async () => {
  const without: CodeIndex = {
    ...index,
    branches: index.branches,
    stats: { ...index.stats, symbols: false },
    search: (query, options) => index.search(query, options),
  };
  const partial = async (of: CodeIndex, query: string): Promise<string | undefined> =>
    (await searched(of, { query: parseQuery(query), options: { timeCapMs: 1_000 } })).partial;
  for (const query of ["sym:alpha", "alpha or (sym:beta file:go)", "alpha -sym:beta"])
    expect(await partial(without, query)).toBe("symbols");
  expect(await partial(without, "alpha")).toBeUndefined();
  expect(await partial(index, "sym:alpha")).toBeUndefined();
});

test("a file that was found without any text has its whole name for a match", async () => {
  const request = { query: parseQuery("branch:dev"), options: { timeCapMs: 1_000 } };
  expect((await searched(index, request)).files).toMatchObject([
    { path: "two.go", lines: [], pathRanges: [{ start: 0, end: 6 }] },
  ]);
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
  ["^beta", ["docs/three.md"]],
  ["gamma$", ["two.go"]],
  ["archived:yes", []],
  ["", ["docs/three.md", "one.go", "two.go"]],
])("%j", async (query, paths) => {
  const request = { query: parseQuery(query), options: { timeCapMs: 1_000 } };
  const { files } = await searched(index, request);
  expect(files.map(({ path }) => path).sort()).toEqual(paths);
});

test("counts files by folder beyond those that it shows", async () => {
  const request = { query: parseQuery(""), options: { timeCapMs: 1_000, filesShownMax: 1, facets: true } };
  const answer = await searched(index, request);
  expect(answer.files).toHaveLength(1);
  expect(answer.facets).toEqual({ languages: { Text: 3 }, folders: { "": 2, "docs/": 1 }, exact: true });
});

test("puts together no more than fits into an answer, says so, and still counts every file", async () => {
  const engine = openEngine({ memoryBytes: 64 << 20, workers: 1 }, { clock });
  const documents = Array.from({ length: 12 }, (_, i) => ({
    path: `minified/${i}.js`,
    oid: String(i).padStart(40, "0"),
    branches: ["main"],
    content: Buffer.from(`needle${"-".repeat(1 << 20)}`),
  }));
  const minified = await engine.build(documents, { branches: ["main"] });
  let made = 0;
  const watched: Pick<CodeIndex, "search"> = {
    search(query, options) {
      const taker = options!.taker!;
      const take: FileTaker["take"] = (file) => {
        made += 1;
        return taker.take(file);
      };
      return minified.search(query, {
        ...options,
        taker: { begin: (bytes, foundBytes) => taker.begin(bytes, foundBytes), take },
      });
    },
  };
  const request = { query: parseQuery("needle"), options: { timeCapMs: 10_000, facets: true } };
  const answer = await searched(watched as CodeIndex, request);
  expect([answer.partial, answer.files.length, made]).toEqual(["answer-bytes", 7, 8]);
  expect([answer.counts.files, answer.facets?.folders]).toEqual([12, { "minified/": 12 }]);
  await engine.close();
});

test("an answer that finds no room within its time has exact counts, no files, and says why", async () => {
  const answers = new AnswerMemory(4_000, clock);
  const request = { query: parseQuery("alpha"), options: { timeCapMs: 20, facets: true } };
  const other = await answers.hold(3_900, 0, signal);
  const without = await searched(index, request, { ...ports, answers });
  expect(without).toMatchObject({ files: [], counts: { files: 2 }, partial: "answer-memory" });
  other?.release();
  const whole = await searched(index, request, { ...ports, answers });
  expect([whole.files.length, whole.partial, answers.heldBytes]).toEqual([2, undefined, 0]);
});

test("searches that show much at once hold no more than answers may, and each shows every line", async () => {
  const engine = openEngine({ memoryBytes: 32 << 20, workers: 2 }, { clock });
  const [files, lines] = [10, 200];
  const text = Array.from({ length: lines }, (_, i) => `a line with a needle, number ${i}\n`).join("");
  const documents = Array.from({ length: files }, (_, i) => ({
    path: `many/${i}.txt`,
    oid: String(i).padStart(40, "0"),
    branches: ["main"],
    content: Buffer.from(text),
  }));
  const many = await engine.build(documents, { branches: ["main"] });
  // One of these answers fits, and two do not.
  const answers = new AnswerMemory(768 << 10, clock);
  const request = { query: parseQuery("needle"), options: { timeCapMs: 30_000 } };
  let [underWay, most, mostBytes] = [0, 0, 0];
  const one = async (): Promise<readonly unknown[]> => {
    const { packed, release, counts, partial } = await searchShard(
      many,
      facts,
      request,
      { ...ports, answers },
      signal,
    );
    most = Math.max(most, ++underWay);
    mostBytes = Math.max(mostBytes, answers.heldBytes);
    const shown = (await unpackFiles(packed)).reduce((sum, file) => sum + file.lines.length, 0);
    underWay -= 1;
    release();
    return [shown, counts.matches, partial];
  };
  const all = await Promise.all(Array.from({ length: 8 }, one));
  expect(all).toEqual(Array.from({ length: 8 }, () => [files * lines, files * lines, undefined]));
  expect([most, answers.heldBytes]).toEqual([1, 0]);
  expect(mostBytes).toBeLessThanOrEqual(768 << 10);
  await engine.close();
});

test("searches that find more than may wait are made again when it is their turn, and each shows every line", async () => {
  const engine = openEngine({ memoryBytes: 32 << 20, workers: 2 }, { clock });
  const [files, lines] = [10, 200];
  const text = Array.from({ length: lines }, (_, i) => `a line with a needle, number ${i}\n`).join("");
  const documents = Array.from({ length: files }, (_, i) => ({
    path: `many/${i}.txt`,
    oid: String(i).padStart(40, "0"),
    branches: ["main"],
    content: Buffer.from(text),
  }));
  const many = await engine.build(documents, { branches: ["main"] });
  const answers = new AnswerMemory(768 << 10, clock);
  // What one of them found fits.
  const found = new AnswerMemory(80 << 10, clock);
  let [searches, mostFound] = [0, 0];
  const watched: Pick<CodeIndex, "search" | "branches"> = {
    branches: many.branches,
    search: (query, options) => {
      searches += 1;
      mostFound = Math.max(mostFound, found.heldBytes);
      return many.search(query, options);
    },
  };
  const request = { query: parseQuery("needle"), options: { timeCapMs: 30_000 } };
  const one = async (): Promise<readonly unknown[]> => {
    const at = { ...ports, answers, found };
    const { packed, release, counts, partial } = await searchShard(
      watched as CodeIndex,
      facts,
      request,
      at,
      signal,
    );
    const shown = (await unpackFiles(packed)).flatMap((file) =>
      file.lines.map(({ text, line }) => Buffer.from(text).toString().trimEnd() === textOf(line - 1)),
    );
    // From here on others write where these were.
    release(true);
    return [shown.length, shown.every(Boolean), counts.matches, partial];
  };
  const textOf = (line: number): string => `a line with a needle, number ${line}`;
  const all = await Promise.all(Array.from({ length: 8 }, one));
  expect(all).toEqual(Array.from({ length: 8 }, () => [files * lines, true, files * lines, undefined]));
  expect(searches).toBeGreaterThan(8);
  expect(mostFound).toBeGreaterThan(0);
  expect([answers.heldBytes, found.heldBytes, found.waiting]).toEqual([0, 0, 0]);
  await engine.close();
});

test("what was found and may not wait in time is counted, without files, and says why", async () => {
  const found = new AnswerMemory(1_000, clock);
  const other = await found.hold(1_000, 0, signal);
  const request = { query: parseQuery("alpha"), options: { timeCapMs: 20 } };
  const without = await searched(index, request, { ...ports, found });
  expect(without).toMatchObject({ files: [], counts: { files: 2 }, partial: "answer-memory" });
  other?.release();
  const whole = await searched(index, request, { ...ports, found });
  expect([whole.files.length, whole.partial, found.heldBytes]).toEqual([2, undefined, 0]);
});

test("what was packed for somebody in the same process is not written over, however many answers come after", async () => {
  // So small that every answer is a large one.
  const answers = new AnswerMemory(2_000, clock);
  const at = { ...ports, answers };
  const ask = (query: string): ReturnType<typeof searchShard> =>
    searchShard(index, facts, { query: parseQuery(query), options: { timeCapMs: 1_000 } }, at, signal);
  const first = await ask("alpha");
  const copy = Buffer.from(first.packed);
  first.release();
  for (const query of ["beta", "gamma", "alpha", "beta"]) (await ask(query)).release(true);
  expect(copy.length).toBeGreaterThan(0);
  expect(copy.equals(first.packed)).toBe(true);
});

test("holds the memory of an answer until it is released, and of none that failed", async () => {
  const answers = new AnswerMemory(1 << 20, clock);
  const request = { query: parseQuery("alpha"), options: { timeCapMs: 1_000 } };
  const { packed, release } = await searchShard(index, facts, request, { ...ports, answers }, signal);
  expect(answers.heldBytes).toBe(packed.length);
  release();
  expect(answers.heldBytes).toBe(0);
  const broken: Pick<CodeIndex, "search"> = {
    async search(_, options) {
      await options?.taker?.begin(1_000, 100);
      throw new Error("broken");
    },
  };
  await expect(searched(broken as CodeIndex, request, { ...ports, answers })).rejects.toThrow("broken");
  expect(answers.heldBytes).toBe(0);
});
