import { createServer, type AddressInfo } from "node:net";
import { renameSync } from "node:fs";
import { TestFleet } from "@keelson/testkit";
import { afterEach, expect, test, vi } from "vitest";
import type { CodeIndex } from "./engine/index.ts";
import { CodeFleet } from "./fixtures/code-fleet.ts";
import { eventually } from "./fixtures/eventually.ts";
import { PlainEngine } from "./fixtures/plain-engine.ts";

// Real git and whole fleets, on machines that are not ours alone.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let code: CodeFleet<TestFleet>;
const fleet = (): TestFleet =>
  new TestFleet({ services: [], terms: { ttlMs: 10_000, leaveReadyMs: 10_000 } });
afterEach(() => code.stop());
const holder = (id: number): string | undefined => code.fleet.holders(`code/${id}/0`)[0];

test("counts searches, and shows the memory of what it holds, but not of what has left", async () => {
  code = new CodeFleet(fleet());
  await code.add("a");
  const shown = (): Promise<string> => code.metrics.get("a")!.registry.metrics();
  for (const name of ["one", "two"])
    await code.take({ url: code.scratch.repository(name, { "a.txt": name }), name });
  for (const id of [1, 2, 2]) await code.search(id, "o");
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
  await code.take({ url: path, name: "one" });
  await code.search(1, "needle");
  code.scratch.commit(path, { "a.txt": "thimble" });
  await code.call("catalogue", "poke", { name: "one" });
  await eventually("it is served", async () => (await code.search(1, "thimble")).files.length === 1);
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
    ["auctions_started", "auctions_no_winner", "auctions_short_circuited", "auctions_timed_out"].map((name) =>
      sum(text, name),
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
      return Number(new RegExp(`^code_index_lag_ms\\{repository="${name}"\\} (\\S+)$`, "m").exec(shown)?.[1]);
    };
    const path = code.scratch.repository("one", { "a.txt": "first" });
    await code.take({ url: path, name: "one" });
    expect((await code.search(1, "first")).files).toHaveLength(1);
    await eventually("it is up to date", async () => (await lag("one")) === 0);
    // Its first build hangs: there is nothing to serve.
    const { port } = silent.address() as AddressInfo;
    await code.take({ url: `http://127.0.0.1:${port}/silent.git`, name: "silent" });
    await eventually("a build that hangs is seen", async () => (await lag("silent")) > 1_000);
    // Its looks fail, one after the other.
    renameSync(path, `${path}-away`);
    await eventually("looks that fail are seen", async () => (await lag("one")) > 2_500);
    renameSync(`${path}-away`, path);
    await eventually("it is up to date again", async () => (await lag("one")) < 1_000);
    // An update hangs.
    const update = code.holdBuilds("a");
    code.scratch.commit(path, { "a.txt": "second" });
    await update.begun;
    await eventually("an update that hangs is seen", async () => (await lag("one")) > 1_000);
    update.goOn();
    await eventually("it is served", async () => (await code.search(1, "second")).files.length === 1);
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
  await code.take({ url: code.scratch.repository("one", { "a.txt": "needle" }), name: "one" });
  // Five are never there: the window ends it.
  await eventually("it is held", () => holder(1) !== undefined);
  await eventually("it is told", async () => /^auctions_timed_out 1$/m.test(await shown()));
  expect((await shown()).match(/^configured_max_bids 5$/gm)).toHaveLength(2);
  expect(await change({ gone: 9 })).toBe(1);
  expect(await change({ maxBids: null })).toBeNull();
  // What is said of one repository counts for it alone.
  const [two, three] = ["two", "three"].map((name) => code.scratch.repository(name, { "a.txt": name }));
  await code.take({ url: two!, name: "two", maxBids: 9 }, { url: three!, name: "three" });
  await eventually("both are held", () => [2, 3].every((id) => holder(id) !== undefined));
  await eventually("all are told", async () => /^auctions_won [4-9]$/m.test(await shown()));
  expect(await shown()).toMatch(/^auctions_timed_out 2$/m);
  await code.call("catalogue", "set", { names: ["two", "three"], maxBids: 4 });
  await code.call("catalogue", "set", { names: ["three"], rank: 1 });
  expect((await code.status()).map(({ maxBids }) => maxBids)).toEqual([undefined, 4, 4]);
  await code.call("catalogue", "set", { names: ["two"], maxBids: null });
  expect((await code.status()).map(({ maxBids }) => maxBids)).toEqual([undefined, undefined, 4]);
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
  await code.take(...names.map((name) => ({ url: code.scratch.repository(name, { "a.txt": name }), name })));
  await eventually("all are held", () => names.every((_, i) => holder(i + 1) !== undefined));
  for (const id of [1, 2, 3, 4, 5]) await code.search(id, "o");
  expect(most).toBe(2);
});
