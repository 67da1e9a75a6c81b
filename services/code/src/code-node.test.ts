import { renameSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { TestFleet } from "@keelson/testkit";
import { afterEach, describe, expect, test, vi } from "vitest";
import { CodeFleet } from "./fixtures/code-fleet.ts";
import type { CodeIndex } from "./engine/index.ts";
import { PlainEngine, PlainIndex } from "./fixtures/plain-engine.ts";
import { parseQuery } from "./query/index.ts";
import type { RepositoryStatus } from "./catalogue-shard.ts";
import type { Repository } from "./repository.ts";
import { unpackFiles } from "./search/packed-files.ts";
import type { PackedAnswer, ShardAnswer } from "./search/search-request.ts";

// Real git and whole fleets, on machines that are not ours alone.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let code: CodeFleet<TestFleet>;
const fleet = (): TestFleet =>
  new TestFleet({ services: [], terms: { ttlMs: 10_000, leaveReadyMs: 10_000 } });
afterEach(() => code.stop());

async function add(
  ...repositories: {
    url: string;
    name?: string;
    pinned?: boolean;
    zones?: string[];
    branches?: string[];
    maxBids?: number;
  }[]
): Promise<Repository[]> {
  return (await code.call("catalogue", "add", { repositories })).body as Repository[];
}

async function search(id: number, query: string): Promise<ShardAnswer> {
  const body = { query: parseQuery(query), options: { timeCapMs: 1_000 } };
  const { packed, ...answer } = (await code.call(String(id), "search", body)).body as PackedAnswer;
  return { ...answer, files: await unpackFiles(packed) };
}

async function status(): Promise<RepositoryStatus[]> {
  const { body } = await code.call("catalogue", "status", null);
  return (body as { repositories: RepositoryStatus[] }).repositories;
}

const holder = (id: number, replica = 0): string | undefined =>
  code.fleet.holders(`code/${id}/${replica}`)[0];

async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  withinMs = 40_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Whatever is built on a node from now on waits to be told to go on. */
function holdBuilds(node: string): { readonly begun: Promise<void>; readonly goOn: () => void } {
  const engine = code.engines.get(node)!;
  const build = engine.build.bind(engine);
  let begin = (): void => undefined;
  let goOn = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const waiting = new Promise<void>((resolve) => (goOn = resolve));
  engine.build = async (...args) => {
    begin();
    await waiting;
    return build(...args);
  };
  return { begun, goOn };
}

describe("what is wrongly asked of the catalogue", () => {
  test("changes nothing, and the fleet goes on", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const url = code.scratch.repository("one", { "a.txt": "a" });
    const metadata = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, "x".repeat(512)]));
    const ask = (method: string, body: unknown): Promise<unknown> => code.call("catalogue", method, body);
    // More than are written at once.
    const many = Array.from({ length: 60 }, (_, i) => ({ url, name: `r${i}` }));
    for (const repositories of [
      [{ url: "https://h/a" }, { url: "ssh://h:22/a" }],
      [...many, { url, name: "r7" }],
      [...many, { url, name: "esc\u001b[31m" }],
      [...many, { url, name: "turned\u202e" }],
      [...many, { url, name: "large", metadata }],
    ])
      await expect(ask("add", { repositories })).rejects.toThrow(/: (add one of them|give)/);
    expect(await status()).toEqual([]);
    await add({ url, name: "one" });
    await expect(ask("set", { names: ["one"], metadata })).rejects.toThrow(/give it less metadata/);
    expect((await ask("set", { names: ["one", "one"], rank: 3 })) as object).toMatchObject({
      body: { changed: 1 },
    });
    expect(await status()).toMatchObject([{ name: "one", rank: 3, metadata: {} }]);
    await ask("remove", { names: ["one", "one"] });
    expect(await status()).toEqual([]);
  });
});

describe("a fleet of code nodes", () => {
  test("goes on with the branches that are there when one is deleted, says so, and looks at once when others are wanted", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const path = code.scratch.repository("one", { "a.txt": "first" });
    code.scratch.git(path, "branch", "dev");
    const [row] = await add({ url: path, branches: ["main", "dev"] });
    const id = row!.id;
    expect((await search(id, "first")).files.map(({ branches }) => branches)).toEqual([["main", "dev"]]);
    code.scratch.git(path, "branch", "-D", "dev");
    code.scratch.commit(path, { "a.txt": "second" });
    await code.call("catalogue", "poke", { name: row!.name });
    await eventually("the push is served", async () => (await search(id, "second")).files.length === 1);
    const answer = await search(id, "first or second");
    expect(answer.files.map(({ branches }) => branches)).toEqual([["main"]]);
    expect(answer.stale).toMatch(/no branch "dev"/);
    await eventually(
      "the status says so",
      async () => (await status())[0]?.replicas[0]?.index?.problem?.code === "NO_BRANCH",
    );
    await code.call("catalogue", "set", { names: [row!.name], branches: ["main"] });
    await eventually("nothing is missing", async () => (await search(id, "second")).stale === undefined);
  });

  test("takes a repository in, holds it by auction, and searches it at a commit", async () => {
    code = new CodeFleet(fleet());
    await Promise.all([code.add("a"), code.add("b")]);
    const path = code.scratch.repository("one", { "main.go": "package main\nfunc main() {}\n" });
    const [row] = await add({ url: path });
    const answer = await search(row!.id, "func.main");
    expect(answer.repository).toMatchObject({ id: 1, name: expect.stringMatching(/\/one$/) as string });
    expect(answer.repository.heads).toEqual([
      { branch: "main", commit: code.scratch.git(path, "rev-parse", "HEAD").trim() },
    ]);
    expect(answer.files.map(({ path: file, lines }) => [file, lines[0]?.line])).toEqual([["main.go", 2]]);
    await eventually(
      "the catalogue knows",
      async () => (await status())[0]?.replicas[0]?.index?.documents === 1,
    );
    await code.call("catalogue", "remove", { names: [row!.name] });
    await eventually("it is gone", () => holder(1) === undefined);
    expect([...code.engines.values()].map(({ memory }) => memory.usedBytes)).toEqual([0, 0]);
  });

  test("servers that take connections and say nothing keep nobody else waiting", async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    try {
      code = new CodeFleet(fleet(), { gitTimeoutMs: 20_000 });
      await code.add("a");
      const { port } = silent.address() as AddressInfo;
      await add(...[1, 2, 3, 4, 5, 6].map((n) => ({ url: `http://127.0.0.1:${port}/${n}.git` })));
      const [row] = await add({ url: code.scratch.repository("one", { "a.txt": "first" }) });
      expect((await search(row!.id, "first")).files).toHaveLength(1);
      code.scratch.commit(`${code.scratch.folder}/one`, { "a.txt": "second" });
      await code.call("catalogue", "poke", { name: row!.name });
      await eventually("a push", async () => (await search(row!.id, "second")).files.length === 1, 10_000);
      await expect(search(1, "x")).rejects.toThrow(/loading|longer than/);
    } finally {
      silent.close();
    }
  });

  test("counts searches, and shows the memory of what it holds, but not of what has left", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const shown = (): Promise<string> => code.metrics.get("a")!.registry.metrics();
    for (const name of ["one", "two"])
      await add({ url: code.scratch.repository(name, { "a.txt": name }), name });
    for (const id of [1, 2, 2]) await search(id, "o");
    expect(await shown()).toMatch(/^code_searches_total 3$/m);
    expect(await shown()).toMatch(/^memory_bytes\{repository="one"\} [1-9]/m);
    await code.call("catalogue", "remove", { names: ["one"] });
    await eventually("it is gone", async () => !(await shown()).includes('repository="one"'));
    expect(await shown()).toMatch(/^last_served_at\{repository="two"\} [1-9]/m);
  });

  test("exports what its auctions did, and how long a new commit took against the objective", async () => {
    code = new CodeFleet(fleet(), { reindexObjectiveMs: 7_000 });
    await Promise.all([code.add("a"), code.add("b")]);
    const path = code.scratch.repository("one", { "a.txt": "needle" });
    await add({ url: path, name: "one" });
    await search(1, "needle");
    code.scratch.commit(path, { "a.txt": "thimble" });
    await code.call("catalogue", "poke", { name: "one" });
    await eventually("it is served", async () => (await search(1, "thimble")).files.length === 1);
    const shown = async (): Promise<string> =>
      (await Promise.all([...code.metrics.values()].map(({ registry }) => registry.metrics()))).join("\n");
    /** Of both nodes together. */
    const sum = (text: string, name: string): number =>
      [...text.matchAll(new RegExp(`^${name} (\\S+)$`, "gm"))].reduce(
        (all, [, value]) => all + Number(value),
        0,
      );
    // They are brought into the metrics once a second: the catalogue's auction, and the repository's.
    await eventually("auctions are counted", async () => sum(await shown(), "auctions_won") === 2);
    await eventually("each knows of both nodes", async () => sum(await shown(), "live_bidders") === 4);
    const text = await shown();
    expect(
      ["auctions_started", "auctions_no_winner", "auctions_short_circuited", "auctions_timed_out"].map(
        (name) => sum(text, name),
      ),
    ).toEqual([2, 0, 2, 0]);
    const [placed, received] = [sum(text, "bids_placed"), sum(text, "bids_received")];
    expect([placed > 0, received > 0, received <= placed]).toEqual([true, true, true]);
    expect([sum(text, "bid_window_ms_count"), sum(text, "claim_latency_count")]).toEqual([2, 2]);
    expect(sum(text, "configured_max_bids")).toBe(0);
    expect(text).toMatch(/^bids_rejected_already_pending \d+$/m);
    expect(text).toMatch(/^index_time_ms_count\{how="updated"\} 1$/m);
    expect([sum(text, "code_reindex_ms_count"), sum(text, "code_reindex_objective_ms")]).toEqual([1, 14_000]);
  });

  test("shows for how long each repository that it holds has had no index, or one that may be old", async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    try {
      code = new CodeFleet(fleet(), { gitTimeoutMs: 20_000, pollMs: 100 });
      await code.add("a");
      const lag = async (name: string): Promise<number> => {
        const shown = await code.metrics.get("a")!.registry.metrics();
        return Number(
          new RegExp(`^code_index_lag_ms\\{repository="${name}"\\} (\\S+)$`, "m").exec(shown)?.[1],
        );
      };
      const path = code.scratch.repository("one", { "a.txt": "first" });
      await add({ url: path, name: "one" });
      expect((await search(1, "first")).files).toHaveLength(1);
      await eventually("it is up to date", async () => (await lag("one")) === 0);
      // Its first build hangs: there is nothing to serve.
      const { port } = silent.address() as AddressInfo;
      await add({ url: `http://127.0.0.1:${port}/silent.git`, name: "silent" });
      await eventually("a build that hangs is seen", async () => (await lag("silent")) > 1_000);
      // Its looks fail, one after the other.
      renameSync(path, `${path}-away`);
      await eventually("looks that fail are seen", async () => (await lag("one")) > 2_500);
      renameSync(`${path}-away`, path);
      await eventually("it is up to date again", async () => (await lag("one")) < 1_000);
      // An update hangs.
      const update = holdBuilds("a");
      code.scratch.commit(path, { "a.txt": "second" });
      await update.begun;
      await eventually("an update that hangs is seen", async () => (await lag("one")) > 1_000);
      update.goOn();
      await eventually("it is served", async () => (await search(1, "second")).files.length === 1);
      await eventually("it is up to date once more", async () => (await lag("one")) < 1_000);
      expect(await lag("silent")).toBeGreaterThan(4_000);
    } finally {
      silent.close();
    }
  });

  test("auctions close at as many answers as were set while the fleet runs, which follows its size", async () => {
    code = new CodeFleet(fleet(), { auction: { windowMs: 1_500 } });
    await Promise.all([code.add("a"), code.add("b")]);
    const change = async (body: unknown): Promise<unknown> =>
      ((await code.call("catalogue", "auctions", body)).body as { maxBids: unknown }).maxBids;
    expect(await change({})).toBeNull();
    // There is nothing to raise while live nodes are counted.
    expect(await change({ joining: 2 })).toBeNull();
    expect(await change({ maxBids: 2 })).toBe(2);
    expect(await change({ joining: 3 })).toBe(5);
    const shown = async (): Promise<string> =>
      (await Promise.all([...code.metrics.values()].map(({ registry }) => registry.metrics()))).join("\n");
    await add({ url: code.scratch.repository("one", { "a.txt": "needle" }), name: "one" });
    // Five are never there: the window ends it.
    await eventually("it is held", () => holder(1) !== undefined);
    await eventually("it is told", async () => /^auctions_timed_out 1$/m.test(await shown()));
    expect((await shown()).match(/^configured_max_bids 5$/gm)).toHaveLength(2);
    expect(await change({ gone: 9 })).toBe(1);
    expect(await change({ maxBids: null })).toBeNull();
    // What is said of one repository counts for it alone.
    const [two, three] = ["two", "three"].map((name) => code.scratch.repository(name, { "a.txt": name }));
    await add({ url: two!, name: "two", maxBids: 9 }, { url: three!, name: "three" });
    await eventually("both are held", () => [2, 3].every((id) => holder(id) !== undefined));
    await eventually("all are told", async () => /^auctions_won [4-9]$/m.test(await shown()));
    expect(await shown()).toMatch(/^auctions_timed_out 2$/m);
    await code.call("catalogue", "set", { names: ["two", "three"], maxBids: 4 });
    await code.call("catalogue", "set", { names: ["three"], rank: 1 });
    expect((await status()).map(({ maxBids }) => maxBids)).toEqual([undefined, 4, 4]);
    await code.call("catalogue", "set", { names: ["two"], maxBids: null });
    expect((await status()).map(({ maxBids }) => maxBids)).toEqual([undefined, undefined, 4]);
    const override = (id: number): unknown =>
      code.fleet.nodes.get("a")?.auctions.of("code")?.market.board.overrides.get(`code/${id}`)?.value.maxBids;
    await eventually("auctions know", () => override(2) === undefined);
    expect(override(3)).toBe(4);
  });

  test("builds no more at once than it may", async () => {
    let [running, most] = [0, 0];
    class Watched extends PlainEngine {
      override async build(...args: Parameters<PlainEngine["build"]>): Promise<CodeIndex> {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 50));
        return super.build(...args).finally(() => running--);
      }
    }
    code = new CodeFleet(fleet(), { buildsMax: 2 }, { open: (bytes) => new Watched(bytes) });
    await code.add("a");
    const names = ["one", "two", "three", "four", "five"];
    await add(...names.map((name) => ({ url: code.scratch.repository(name, { "a.txt": name }), name })));
    await eventually("all are held", () => names.every((_, i) => holder(i + 1) !== undefined));
    for (const id of [1, 2, 3, 4, 5]) await search(id, "o");
    expect(most).toBe(2);
  });

  test("serves a new commit whole, reading only what changed, when it is poked", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const path = code.scratch.repository("one", {
      "a.txt": "needle one",
      "b.txt": "needle one",
      "c.txt": "c",
    });
    const [row] = await add({ url: path });
    await search(1, "needle");
    const commit = code.scratch.commit(path, { "b.txt": "needle two" });
    await code.call("catalogue", "poke", { name: row!.name });
    await eventually(
      "the new commit is served",
      async () => (await search(1, "x or needle")).repository.heads[0]?.commit === commit,
    );
    expect((await search(1, "two")).files.map((file) => file.path)).toEqual(["b.txt"]);
    expect(code.engines.get("a")!.contentsRead).toBe(4);
  });

  test("a push that is told of while its repository is built for the first time is served right after", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const { begun, goOn } = holdBuilds("a");
    const path = code.scratch.repository("one", { "a.txt": "first" });
    const [row] = await add({ url: path });
    await begun;
    code.scratch.commit(path, { "a.txt": "second" });
    await code.call("catalogue", "poke", { name: row!.name });
    goOn();
    await eventually("the push is served", async () => (await search(1, "second")).files.length === 1);
    expect((await search(1, "first")).files).toEqual([]);
  });

  test("a drained node sends its indexes on: nothing is built again", async () => {
    code = new CodeFleet(fleet());
    await Promise.all([code.add("a"), code.add("b")]);
    for (const name of ["one", "two", "three"]) code.scratch.repository(name, { "x.txt": `needle ${name}` });
    await add(...["one", "two", "three"].map((name) => ({ url: `${code.scratch.folder}/${name}`, name })));
    await eventually("all are held", () => [1, 2, 3].every((id) => holder(id) !== undefined));
    const builds = (): number => [...code.engines.values()].reduce((sum, { builds: n }) => sum + n, 0);
    expect(builds()).toBe(3);
    const moved = [1, 2, 3].filter((id) => holder(id) === "a");
    await code.fleet.leave("a");
    for (const id of [1, 2, 3]) expect((await search(id, "needle")).files).toHaveLength(1);
    expect(builds()).toBe(3);
    // One that did not arrive whole on a busy machine is asked for again.
    expect(code.engines.get("b")!.loads).toBeGreaterThanOrEqual(moved.length);
  });

  test("says how many submodules of a repository are not searched, and still does after it has moved", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const inner = code.scratch.repository("inner", { "i.txt": "needle" });
    const path = code.scratch.repository("outer", { "x.txt": "needle" });
    for (const place of ["mod", "other"]) code.scratch.git(path, "submodule", "--quiet", "add", inner, place);
    code.scratch.commit(path, {});
    await add({ url: path }, { url: inner });
    for (const id of [1, 2]) expect((await search(id, "needle")).files).toHaveLength(1);
    const told = async (): Promise<unknown[][]> =>
      (await status()).map(({ replicas: [replica] }) => [
        replica?.node,
        replica?.index?.submodules,
        replica?.index?.note,
      ]);
    const note = "2 submodules are not searched: add them as repositories of their own";
    await eventually("it is told", async () => (await told())[0]?.[2] === note);
    expect((await told())[1]).toEqual(["a", undefined, undefined]);
    await code.add("b");
    await code.fleet.leave("a");
    await eventually("it has moved", async () => String((await told())[0]) === `b,2,${note}`);
    expect(code.engines.get("b")!.builds).toBe(0);
    code.scratch.git(path, "rm", "--quiet", "mod");
    code.scratch.commit(path, {});
    await code.call("catalogue", "poke", { name: (await status())[0]!.name });
    await eventually("one is gone", async () =>
      String((await told())[0]?.[2]).startsWith("1 submodule is not"),
    );
  });

  test("a node that is drained while it builds is waited for: nothing is built again", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    const { begun, goOn } = holdBuilds("a");
    await add({ url: code.scratch.repository("one", { "x.txt": "needle one" }) });
    await begun;
    await code.add("b");
    const left = code.fleet.leave("a");
    left.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    goOn();
    await left;
    expect((await search(1, "needle")).files).toHaveLength(1);
    expect([holder(1), code.engines.get("b")!.builds, code.engines.get("b")!.loads]).toEqual(["b", 0, 1]);
  });

  test("a drained node that is sending as much as it can is waited for: nothing is built again", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    await add({ url: code.scratch.repository("one", { "x.txt": "needle one" }) });
    await search(1, "needle");
    const begun = await Promise.all(
      Array.from(
        { length: 8 },
        async () => (await code.call("1", "send", null)).body as { transfer: string },
      ),
    );
    await expect(code.call("1", "send", null)).rejects.toMatchObject({ code: "TRANSFER_BUSY" });
    await code.add("b");
    const left = code.fleet.leave("a");
    left.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(holder(1)).toBe("a");
    await code.call("1", "piece", begun[0]!.transfer);
    await left;
    expect((await search(1, "needle")).files).toHaveLength(1);
    expect([holder(1), code.engines.get("b")!.builds, code.engines.get("b")!.loads]).toEqual(["b", 0, 1]);
  });

  test("with two replicas the second gets its index from the first, and answers when the first is gone", async () => {
    code = new CodeFleet(fleet(), { replicas: 2 });
    await Promise.all([code.add("a"), code.add("b"), code.add("c")]);
    const url = code.scratch.repository("one", { "x.txt": "needle" });
    await add({ url });
    await eventually("both are held", () => holder(1, 0) !== undefined && holder(1, 1) !== undefined);
    expect(holder(1, 0)).not.toBe(holder(1, 1));
    code.fleet.kill(holder(1, 0)!);
    expect((await search(1, "needle")).files).toHaveLength(1);
  });

  test("what cannot be fetched is held, says why, and comes once it can be", async () => {
    code = new CodeFleet(fleet(), { pollMs: 100 });
    await code.add("a");
    await add(
      { url: `${code.scratch.folder}/later`, name: "later" },
      { url: code.scratch.repository("good", { x: "needle" }) },
    );
    await expect(search(1, "needle")).rejects.toMatchObject({
      code: "REPOSITORY_UNAVAILABLE",
      message: /no folder/,
    });
    expect((await search(2, "needle")).files).toHaveLength(1);
    expect((await status())[0]?.replicas[0]?.index?.problem?.code).toBe("NOT_A_REPOSITORY");
    code.scratch.repository("later", { y: "needle" });
    await eventually("it is there", () =>
      search(1, "needle").then(
        ({ files }) => files.length === 1,
        () => false,
      ),
    );
  });

  test("refuses addresses that are none, and names that are taken, and goes on", async () => {
    code = new CodeFleet(fleet());
    await code.add("a");
    await expect(add({ url: "https://me:secret@host/x" })).rejects.toMatchObject({ code: "BAD_URL" });
    await expect(add({ url: "ext::sh -c x" })).rejects.toMatchObject({ code: "BAD_URL" });
    await add({ url: "/x/one", name: "same" });
    await expect(add({ url: "/x/two", name: "same" })).rejects.toMatchObject({ code: "NAME_TAKEN" });
    await expect(code.call("catalogue", "remove", { names: ["none"] })).rejects.toMatchObject({
      code: "REPOSITORY_UNKNOWN",
    });
    expect(await status()).toHaveLength(1);
  });

  test("goes to the zone that is named for it, though others have more room, and moves when another is named", async () => {
    code = new CodeFleet(fleet(), { zones: ["eu"] });
    await code.add("far", 40_000_000, {}, "us");
    await code.add("near", 10_000_000, {}, "eu");
    const rows = ["p", "q"].map((name) => ({ name, url: code.scratch.repository(name, { x: name }) }));
    const [p, q] = await add(rows[0]!, { ...rows[1]!, zones: ["us", "eu"] });
    await eventually(
      "both are held where they should be",
      () => holder(p!.id) === "near" && holder(q!.id) === "far",
    );
    await code.call("catalogue", "set", { names: ["p"], zones: ["us"] });
    await eventually("it has moved", () => holder(p!.id) === "far");
    expect((await search(p!.id, "p")).files).toHaveLength(1);
  });

  test("an index that no longer holds what was built is found, and built again", async () => {
    code = new CodeFleet(fleet(), { verifyMs: 1, pollMs: 100 });
    await code.add("a");
    const engine = code.engines.get("a")!;
    const built: PlainIndex[] = [];
    const build = engine.build.bind(engine);
    engine.build = async (...args) => {
      const index = await build(...args);
      if (index instanceof PlainIndex) built.push(index);
      return index;
    };
    await add({ url: code.scratch.repository("one", { "x.txt": "needle" }) });
    await search(1, "needle");
    const { begun, goOn } = holdBuilds("a");
    built[0]!.damaged = true;
    await begun;
    await eventually("it is seen that there is none", async () => {
      const shown = await code.metrics.get("a")!.registry.metrics();
      return Number(/^code_index_lag_ms\{\S+\} (\S+)$/m.exec(shown)?.[1]) > 500;
    });
    goOn();
    await eventually("it is built again", () => built.length === 2);
    await eventually("it is served", () =>
      search(1, "needle").then(
        () => true,
        () => false,
      ),
    );
    expect(built[1]!.damaged).toBe(false);
  });
});
