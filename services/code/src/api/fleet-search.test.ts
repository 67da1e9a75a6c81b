import {
  JsonText,
  RouterError,
  type FleetAccess,
  type HttpAnswer,
  type ManyRequest,
  type MissingPart,
  type Part,
  type RouteCall,
  type RouterRequest,
} from "@keelson/runtime";
import { describe, expect, test } from "vitest";
import type { Repository } from "../repository.ts";
import { FilePacker } from "../search/packed-files.ts";
import type { PackedAnswer, ShardAnswer } from "../search/search-request.ts";
import { remove } from "./catalogue-route.ts";
import { searchFleet, type SearchEvent } from "./fleet-search.ts";
import { gather, type FleetAnswer } from "./gather.ts";
import { search, stream } from "./search-route.ts";
import { understand } from "./understand.ts";

function row(id: number, change: Partial<Repository> = {}): Repository {
  return {
    v: 1,
    id,
    name: `r${id}`,
    url: `/r${id}`,
    branches: [],
    archived: false,
    fork: false,
    public: true,
    metadata: {},
    rank: 0,
    pinned: false,
    state: "active",
    reason: "",
    wantedAt: 0,
    addedAt: 0,
    ...change,
  };
}

function answer(id: number, score = 1, rank = 0): ShardAnswer {
  return {
    repository: {
      id,
      name: `r${id}`,
      url: "",
      rank,
      heads: [{ branch: "main", commit: `c${id}` }],
      indexedAt: 0,
    },
    files: [
      {
        document: 0,
        path: `f${id}`,
        oid: "",
        language: "",
        branches: [],
        score,
        matchCount: 2,
        pathRanges: [],
        lines: [],
      },
    ],
    counts: { files: 1, lines: 2, matches: 2, documents: 5, documentsScanned: 3, bytesScanned: 10 },
  };
}

async function packed({ files, ...rest }: ShardAnswer): Promise<PackedAnswer> {
  const packer = new FilePacker();
  for (const file of files) await packer.add(file);
  return { ...rest, packed: packer.packed };
}

/** A fleet whose shards answer as told; a string is the code of a failure. */
class Fleet implements Pick<FleetAccess, "call" | "many" | "shards"> {
  readonly asked: { shard: string; method: string; body: unknown }[] = [];
  readonly #rows: readonly Repository[] | string;
  readonly #answers: Readonly<Record<string, ShardAnswer | string>>;
  revision = 1;
  /** What the pages of the list are of, one after another and then the last again; the revision when there are none. */
  pages: number[] = [];
  /** What the catalogue says of those that nobody holds. */
  unheld: Readonly<Record<string, string>> = {};

  constructor(
    rows: readonly Repository[] | string,
    answers: Readonly<Record<string, ShardAnswer | string>> = {},
  ) {
    this.#rows = rows;
    this.#answers = answers;
  }

  async call(request: RouterRequest): Promise<never> {
    const { shard, method, body } = request;
    this.asked.push({ shard, method, body });
    await Promise.resolve();
    const found = shard === "catalogue" ? this.#rows : (this.#answers[shard] ?? answer(Number(shard)));
    if (typeof found === "string")
      throw new RouterError(request, { code: found, text: `r${request.shard}: because`, unknown: false }, 1);
    const listed = (): unknown =>
      method === "unheld" ? this.unheld : this.#page(found as readonly Repository[]);
    const given = "files" in found ? await packed(found) : listed();
    return { body: given, node: "a", replica: 0, tries: 1, epoch: { era: 1, revision: 1 } } as never;
  }

  #page(repositories: readonly Repository[]): unknown {
    const [revision = this.revision] = this.pages.length > 1 ? this.pages.splice(0, 1) : this.pages;
    return { revision, repositories, ...(this.pages.length > 1 ? { next: 1 } : {}) };
  }

  async *many({ shards, service, method, body, timeoutMs }: ManyRequest): AsyncGenerator<Part | MissingPart> {
    for (const shard of shards)
      try {
        const answered: Part = await this.call({ service, shard, method, mode: "read", body, timeoutMs });
        yield { shard, epoch: answered.epoch, body: answered.body };
      } catch (error) {
        const { code, message } = error as RouterError;
        yield { shard, code, why: message };
      }
  }

  shards(): ReturnType<FleetAccess["shards"]> {
    const parameters = { revision: this.revision, shards: 3, replicas: 1, placement: {} };
    return { ids: ["catalogue", "1", "2"], parameters, has: () => true, byHash: () => "" };
  }

  search(query: string, limits: Parameters<typeof gather>[1] = {}): Promise<FleetAnswer> {
    const search = { query: understand(query), options: {}, timeoutMs: 1_000, patienceMs: 10 };
    return gather(searchFleet(this as unknown as FleetAccess, search), limits);
  }
}

describe("a search of the fleet", () => {
  test("gathers every answer, however many come at once", async () => {
    const rows = Array.from({ length: 300 }, (_, i) => row(i + 1));
    const found = await new Fleet(rows).search("x");
    expect([found.files.length, found.counts.files, found.counts.matches, found.counts.asked]).toEqual([
      300, 300, 600, 300,
    ]);
    expect(found.files.map(({ repository }) => repository.id)).toEqual(rows.map(({ id }) => id));
  });

  test("asks only repositories that the query is about", async () => {
    const fleet = new Fleet([row(1), row(2, { archived: true }), row(3)]);
    const found = await fleet.search("x -archived:yes -repo:r3");
    expect(fleet.asked.map(({ shard }) => shard)).toEqual(["catalogue", "1"]);
    expect(found.counts).toMatchObject({ asked: 1, leftOut: 2 });
  });

  test("asks for the list again only when the view says that it changed", async () => {
    const fleet = new Fleet([row(1)]);
    await fleet.search("x");
    await fleet.search("x");
    fleet.revision = 2;
    await fleet.search("x");
    expect(fleet.asked.filter(({ shard }) => shard === "catalogue")).toHaveLength(2);
  });

  test("asks for the list again after it was changed through here, though the view does not say so yet", async () => {
    const rows = [row(1)];
    const fleet = new Fleet(rows);
    await fleet.search("x");
    const call = { access: fleet as unknown as FleetAccess, timeoutMs: 1_000 } as RouteCall;
    if (remove.to.kind !== "custom") throw new Error("a removal is answered by itself");
    await remove.to.handle({ body: { names: ["r2"] } } as Parameters<typeof remove.to.handle>[0], call);
    rows.push(row(2));
    const found = await Promise.all([fleet.search("x"), fleet.search("x")]);
    expect(found.map(({ files }) => files.length)).toEqual([2, 2]);
    expect(fleet.asked.filter(({ method }) => method === "list")).toHaveLength(2);
  });

  test("takes a list for as old as the oldest of its pages, and asks again", async () => {
    const fleet = new Fleet([row(1)]);
    fleet.revision = 3;
    fleet.pages = [3, 2, 3];
    const found = await fleet.search("x");
    expect(fleet.asked.filter(({ shard }) => shard === "catalogue")).toHaveLength(3);
    expect(found.missing).toEqual([]);
  });

  test("says that the list may be old when nobody has seen the newest change", async () => {
    const fleet = new Fleet([row(1)]);
    fleet.revision = 3;
    fleet.pages = [2];
    const found = await fleet.search("x");
    expect([found.files.length, found.missing.map(({ code }) => code)]).toEqual([1, ["LIST_OLD"]]);
    const call = { access: fleet as unknown as FleetAccess, timeoutMs: 1_000 } as RouteCall;
    if (stream.to.kind !== "custom") throw new Error("the stream is answered by itself");
    const items: unknown[] = [];
    const input = { body: { Q: "x" } } as Parameters<typeof stream.to.handle>[0];
    for await (const item of stream.to.handle(input, call) as AsyncIterable<unknown>) items.push(item);
    expect(items.at(-1)).toMatchObject({ kind: "end", Answered: 1, Partial: true });
  });

  test("puts the best first, then the higher ranked repository, and cuts only what is shown", async () => {
    const answers = { 1: answer(1, 5), 2: answer(2, 9), 3: answer(3, 5, 7) };
    const found = await new Fleet([row(1), row(2), row(3)], answers).search("x", { filesMax: 2 });
    expect(found.files.map(({ repository }) => repository.id)).toEqual([2, 3]);
    expect(found.counts.files).toBe(3);
  });

  test("shows the best of many without keeping the rest until the end", async () => {
    const rows = Array.from({ length: 300 }, (_, i) => row(i + 1));
    const answers = Object.fromEntries(rows.map(({ id }) => [id, answer(id, (id * 7) % 300)]));
    const found = await new Fleet(rows, answers).search("x", { filesMax: 3 });
    expect(found.files.map(({ file }) => file.score)).toEqual([299, 298, 297]);
    expect([found.counts.files, found.counts.matches]).toEqual([300, 600]);
  });

  test("keeps no more of an answer than its bound, and says what it left out", async () => {
    const large = (id: number): ShardAnswer => {
      const { files, ...rest } = answer(id, id);
      return { ...rest, files: files.map((file) => ({ ...file, content: Buffer.alloc(1_000) })) };
    };
    const events = async function* (): AsyncGenerator<SearchEvent> {
      await Promise.resolve();
      for (let id = 1; id <= 1_000; id++) yield { kind: "answer", answer: large(id) };
    };
    const found = await gather(events(), {}, 10_000);
    expect(found.files.map(({ file }) => file.score)).toEqual([1_000, 999, 998, 997, 996, 995, 994, 993]);
    expect(found.counts.files).toBe(1_000);
    expect(found.limits).toMatchObject([
      { why: expect.stringContaining("992 files are not shown") as string },
    ]);
    const asked = await gather(events(), { filesMax: 5 }, 10_000);
    expect([asked.files.length, asked.limits]).toEqual([5, []]);
  });

  test("counts every line of a match over many where each will be shown by itself", async () => {
    const { files, ...rest } = answer(1, 1);
    const text = Buffer.from("x\n".repeat(500));
    const range = { start: { offset: 0, line: 1, column: 1 }, end: { offset: 999, line: 500, column: 2 } };
    const crossing = { line: 1, start: 0, end: 1_000, text, score: 1, ranges: [range] };
    const events = async function* (): AsyncGenerator<SearchEvent> {
      await Promise.resolve();
      yield {
        kind: "answer",
        answer: { ...rest, files: files.map((file) => ({ ...file, lines: [crossing] })) },
      };
    };
    expect((await gather(events(), {}, 10_000)).files).toHaveLength(1);
    const apart = await gather(events(), { shownAs: { linesApart: true, contextLines: 0 } }, 10_000);
    expect(apart.files).toEqual([]);
    expect(apart.limits).toMatchObject([{ why: expect.stringContaining("1 files are not shown") as string }]);
  });

  test("lists what did not answer, with the reason, and what was cut short", async () => {
    const answers = { 1: "WARMING", 2: { ...answer(2), partial: "time-cap" as const, stale: "no route" } };
    const found = await new Fleet([row(1), row(2)], answers).search("x");
    expect(found.missing).toEqual([{ repository: "r1", code: "WARMING", why: "because" }]);
    expect(found.limits.map(({ why }) => why)).toEqual([
      "time ran out: allow more time, or ask for less",
      "its commit may be old: no route",
    ]);
    expect(found.counts.files).toBe(1);
  });

  test("says of what nobody holds why that is, when whoever keeps the catalogue knows", async () => {
    const fleet = new Fleet([row(1), row(2), row(3)], { 1: "NO_HOLDER", 2: "NO_HOLDER" });
    fleet.unheld = { 1: "it needs about 90 MB" };
    const found = await fleet.search("x");
    expect(found.missing).toEqual([
      { repository: "r1", code: "NO_HOLDER", why: "it needs about 90 MB" },
      { repository: "r2", code: "NO_HOLDER", why: "because" },
    ]);
    expect(found.counts.files).toBe(1);
  });

  test("says that what rests is not searched, and wakes it when it is named", async () => {
    const rows = [row(1), row(2, { state: "resting", reason: "made room for r1" })];
    const unnamed = new Fleet(rows);
    const found = await unnamed.search("x");
    expect(found.missing).toMatchObject([
      {
        repository: "r2",
        code: "RESTING",
        why: "it is in nobody's memory (made room for r1): ask for it by name to have it loaded",
      },
    ]);
    expect(unnamed.asked.map(({ method }) => method)).toEqual(["list", "search"]);
    const named = new Fleet(rows);
    const { missing } = await named.search("repo:r2 x");
    expect(missing).toMatchObject([
      { repository: "r2", why: "it is in nobody's memory (made room for r1) and is being loaded: try again" },
    ]);
    expect(named.asked.map(({ method, body }) => [method, body])).toContainEqual(["wanted", { ids: [2] }]);
  });

  test("asks every shard of the view when nobody has the list, and says so", async () => {
    const found = await new Fleet("NO_HOLDER").search("x");
    expect(found.files.map(({ repository }) => repository.id)).toEqual([1, 2]);
    expect(found.missing).toMatchObject([{ code: "LIST_OLD" }]);
  });

  test("refuses a query that a node finds too large, instead of telling every repository missing", async () => {
    const fleet = new Fleet([row(1), row(2)], { 1: "PATTERN_TOO_LARGE", 2: "PATTERN_TOO_LARGE" });
    await expect(fleet.search("x")).rejects.toThrow(RangeError);
  });
});

describe("the request of zoekt's clients", () => {
  async function asked(fleet: Fleet, body: unknown): Promise<{ status: number; result: ZoektResult }> {
    if (search.to.kind !== "custom") throw new Error("a search is answered by itself");
    const call = { access: fleet as unknown as FleetAccess, timeoutMs: 1_000 } as RouteCall;
    const input = { body } as Parameters<typeof search.to.handle>[0];
    const given = (await search.to.handle(input, call)) as HttpAnswer;
    if (!(given.body instanceof JsonText)) return { status: given.status ?? 200, result: {} as ZoektResult };
    const text = Buffer.concat(given.body.pieces).toString();
    return { status: given.status ?? 200, result: (JSON.parse(text) as { Result: ZoektResult }).Result };
  }

  interface ZoektResult {
    readonly Files: readonly { readonly Repository: string }[];
    readonly FileCount: number;
    readonly MatchCount: number;
    readonly ShardFilesConsidered: number;
    readonly Partial: boolean;
    readonly Limits: readonly { readonly Why: string }[];
  }

  const rows = [row(1), row(2), row(3)];

  test("a list of repositories is kept to, and an empty one is a list too", async () => {
    const two = await asked(new Fleet(rows), { Q: "x", RepoIDs: [1, 3] });
    expect(two.result.Files.map(({ Repository }) => Repository)).toEqual(["r1", "r3"]);
    const none = await asked(new Fleet(rows), { Q: "x", RepoIDs: [] });
    expect([none.status, none.result.FileCount]).toEqual([200, 0]);
    expect((await asked(new Fleet(rows), { Q: "x", RepoIDs: null })).result.FileCount).toBe(3);
  });

  test("does not send the numbers to those that were chosen by them, unless it does not know who is", async () => {
    const sent = async (list: Repository[] | string): Promise<unknown> => {
      const fleet = new Fleet(list);
      await asked(fleet, { Q: "x", RepoIDs: [1, 2] });
      return fleet.asked.find(({ method }) => method === "search")?.body;
    };
    expect(await sent([row(1), row(2), row(3)])).toMatchObject({ query: understand("x") });
    expect(await sent("NO_HOLDER")).toMatchObject({
      query: { kind: "and", children: [{ kind: "repo-ids", ids: [1, 2] }, understand("x")] },
    });
  });

  test("an estimate counts documents, and shows nothing", async () => {
    const { result } = await asked(new Fleet(rows), { Q: "x", Opts: { EstimateDocCount: true } });
    expect(result).toMatchObject({ ShardFilesConsidered: 15, FileCount: 0, MatchCount: 0, Files: [] });
  });

  test("enough matches in all end the search, and the answer says that it has not all", async () => {
    const { result } = await asked(new Fleet(rows), { Q: "x", Opts: { TotalMaxMatchCount: 3 } });
    expect(result).toMatchObject({ FileCount: 2, MatchCount: 4, Partial: true });
    expect(result.Limits[0]?.Why).toMatch(/1 repositories were not waited for/);
    const all = await asked(new Fleet(rows), { Q: "x", Opts: { TotalMaxMatchCount: 6 } });
    expect(all.result).toMatchObject({ FileCount: 3, MatchCount: 6, Partial: false });
  });
});

test("matches that are shown are counted one by one, not by lines", async () => {
  const place = (offset: number) => ({ offset, line: 1, column: offset + 1 });
  const ranges = [0, 1, 2].map((at) => ({ start: place(at), end: place(at + 1) }));
  const lines = [1, 2].map((line) => ({
    line,
    start: 0,
    end: 4,
    text: Buffer.from("aaa\n"),
    ranges,
    score: 1,
  }));
  const { files, ...rest } = answer(1);
  const answers = { 1: { ...rest, files: files.map((file) => ({ ...file, lines })) } };
  const shown = async (matchesMax: number): Promise<unknown> => {
    const found = await new Fleet([row(1)], answers).search("x", { matchesMax });
    return found.files.map(({ file }) => file.lines.map((line) => line.ranges.length));
  };
  expect(await shown(4)).toEqual([[3, 1]]);
  expect(await shown(3)).toEqual([[3]]);
  expect(await shown(6)).toEqual([[3, 3]]);
});
