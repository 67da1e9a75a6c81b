/** Fleets whose memory is smaller than their repositories: what makes room, what stays, and that it comes to rest. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { TestFleet } from "@keelson/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { expectedBytes } from "./budget.ts";
import type { RepositoryStatus } from "./catalogue-shard.ts";
import { CodeFleet } from "./fixtures/code-fleet.ts";
import { eventually } from "./fixtures/eventually.ts";
import { parseQuery } from "./query/index.ts";
import type { ShardAnswer } from "./search/search-request.ts";

// Real git and whole fleets, on machines that are not ours alone.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

let code: CodeFleet<TestFleet>;
const fleet = (): TestFleet =>
  new TestFleet({ services: [], terms: { ttlMs: 10_000, leaveReadyMs: 10_000 } });
let hook: Server | undefined;
afterEach(async () => {
  await code.stop();
  hook?.close();
  hook = undefined;
});

const CONTENT = 300_000;
/** Each repository takes about this much; the reserve is 8 %. */
const SIZE = expectedBytes(CONTENT + 20, 1);
const auction = { emptiesMax: 1, emptyPauseMs: 50 };

function repository(name: string): { url: string; name: string } {
  return { name, url: code.scratch.repository(name, { "x.txt": `needle ${name} ${"x".repeat(CONTENT)}` }) };
}

async function add(
  ...repositories: { url: string; name: string; pinned?: boolean; branches?: string[] }[]
): Promise<void> {
  await code.call("catalogue", "add", { repositories });
}

async function status(): Promise<Record<string, RepositoryStatus>> {
  const { body } = await code.call("catalogue", "status", null);
  return Object.fromEntries(
    (body as { repositories: RepositoryStatus[] }).repositories.map((row) => [row.name, row]),
  );
}

async function search(id: number): Promise<number> {
  const body = { query: parseQuery("needle"), options: { timeCapMs: 1_000 } };
  return ((await code.call(String(id), "search", body)).body as ShardAnswer).counts.files;
}

const isHeld = (id: number): boolean => code.fleet.holders(`code/${id}/0`).length === 1;

test("the repository that was not asked for longest rests and is released; pinned ones stay; one that is named comes back", async () => {
  code = new CodeFleet(fleet(), { guess: SIZE, evictIdleMs: 300, evictResidenceMs: 300, auction });
  // Room for three.
  await code.add("a", 3.4 * SIZE);
  await add({ ...repository("pinned"), pinned: true }, repository("cold"), repository("warm"));
  await eventually("three are held", () => [1, 2, 3].every(isHeld));
  await search(2);
  await new Promise((resolve) => setTimeout(resolve, 400));
  await search(3);
  await add(repository("new"));
  await eventually("the new one is held", () => isHeld(4));
  const after = await status();
  expect([after["cold"]?.state, after["cold"]?.reason]).toEqual(["resting", "made room for new"]);
  expect([after["pinned"]?.state, after["warm"]?.state]).toEqual(["active", "active"]);
  expect(code.engines.get("a")!.memory.usedBytes).toBeLessThanOrEqual(3.4 * SIZE);
  await new Promise((resolve) => setTimeout(resolve, 400));
  await code.call("catalogue", "wanted", { ids: [2] });
  await eventually("the cold one is back", () => isHeld(2));
  expect(await search(2)).toBe(1);
  expect((await status())["pinned"]?.state).toBe("active");
});

test("a fleet that is too small for all comes to rest: nothing is passed round", async () => {
  code = new CodeFleet(fleet(), { guess: SIZE, evictIdleMs: 60_000, evictResidenceMs: 60_000, auction });
  await Promise.all([code.add("a", 2.4 * SIZE), code.add("b", 2.4 * SIZE)]);
  await add(...["p", "q", "r", "s", "t", "u"].map(repository));
  const held = (): number[] => [1, 2, 3, 4, 5, 6].filter(isHeld);
  const builds = (): number => [...code.engines.values()].reduce((sum, engine) => sum + engine.builds, 0);
  await eventually("four are held", () => held().length === 4);
  // More than fit may have been granted at once, before anybody knew how large they are; those are let go of again.
  await eventually("nothing changes for two seconds", async () => {
    const before = `${held().join()} ${builds()}`;
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    return `${held().join()} ${builds()}` === before;
  });
  expect(held()).toHaveLength(4);
  // But what was found not to fit beside the others was not built; one more if a busy machine made a node look lost.
  expect(builds()).toBeLessThanOrEqual(5);
  await eventually(
    "the others are demanded",
    async () => Object.values(await status()).filter(({ demanded }) => demanded).length === 2,
  );
});

test("repositories that were wanted at the same time do not take turns, though nobody knew how large they are", async () => {
  code = new CodeFleet(fleet(), { guess: Math.ceil(SIZE / 4), evictIdleMs: 0, evictResidenceMs: 0, auction });
  // Room for two, or for all by the guess.
  await code.add("a", 2.4 * SIZE);
  await add(...["p", "q", "r"].map(repository));
  const demanded = async (): Promise<number> =>
    Object.values(await status()).filter((row) => row.demanded).length;
  await eventually(
    "two are held, and one is demanded",
    async () => [1, 2, 3].filter(isHeld).length === 2 && (await demanded()) === 1,
  );
  const held = [1, 2, 3].filter(isHeld);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect([1, 2, 3].filter(isHeld)).toEqual(held);
  expect(Object.values(await status()).map(({ state }) => state)).toEqual(["active", "active", "active"]);
});

test("what rests is woken when there is room again", async () => {
  code = new CodeFleet(fleet(), { guess: SIZE, evictIdleMs: 0, evictResidenceMs: 0, auction });
  await code.add("a", 1.6 * SIZE);
  await add(repository("one"));
  await eventually("it is held", () => isHeld(1));
  await add({ ...repository("two"), pinned: true });
  await eventually("the pinned one has taken its place", () => isHeld(2) && !isHeld(1));
  await code.add("b", 2 * SIZE);
  await eventually("both are held", () => isHeld(1) && isHeld(2));
  expect((await status())["one"]?.reason).toBe("there is room again");
});

interface Wish {
  readonly wish: string;
  readonly reasons: readonly string[];
}

/** A server that hears of wishes, and its address. */
async function listen(): Promise<{ told: Wish[]; webhook: string }> {
  const told: Wish[] = [];
  hook = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      told.push(JSON.parse(text) as Wish);
      response.end();
    });
  });
  await new Promise<void>((resolve) => hook!.listen(0, "127.0.0.1", resolve));
  return { told, webhook: `http://127.0.0.1:${(hook.address() as AddressInfo).port}/scale` };
}

test("a quiet fleet asks for fewer nodes through the webhook, and draining one then builds nothing", async () => {
  const { told, webhook } = await listen();
  const scale = { webhook, sustainMs: 500, saturationLow: 0.9 };
  code = new CodeFleet(fleet(), { guess: SIZE, auction, scale }, { cpuMicros: () => 0 });
  await Promise.all([code.add("a", 4 * SIZE), code.add("b", 4 * SIZE)]);
  await add(repository("one"), repository("two"));
  await eventually("both are held", () => isHeld(1) && isHeld(2));
  await eventually("fewer are wished for", () => told.some(({ wish }) => wish === "down"));
  const { reasons } = told.findLast(({ wish }) => wish === "down")!;
  expect(reasons.join()).toMatch(/no claims.*: drain a node, then end it/);
  const builds = (): number => [...code.engines.values()].reduce((sum, engine) => sum + engine.builds, 0);
  const before = builds();
  await code.fleet.leave("a");
  expect([await search(1), await search(2), builds()]).toEqual([1, 1, before]);
  // The last one is not one too many: the wish is taken back.
  await eventually("it is taken back", () => told.at(-1)?.wish === "none");
});

test("a repository that is larger than any node says so, and asks for more nodes through the webhook", async () => {
  const { told, webhook } = await listen();
  code = new CodeFleet(fleet(), { guess: 1_000, auction, scale: { webhook } });
  await code.add("a", 1.2 * SIZE);
  await add(repository("small"), {
    name: "huge",
    url: code.scratch.repository("huge", { x: "y".repeat(1_900_000) }),
  });
  await eventually("it is demanded", async () => (await status())["huge"]?.demanded === true);
  const asked = /1 repositories fit on no node; they need \d+ bytes/;
  await eventually("the webhook was called", () => told.some(({ reasons }) => asked.test(reasons.join())));
  expect(told.map(({ wish }) => wish)).toContain("up");
  expect((await status())["huge"]?.unheld).toMatch(
    /it needs about 3 MB, and the largest node has 1 MB for indexes: give a node more memory/,
  );
  expect(await search(1)).toBe(1);
  const scale = (await code.metrics.get("a")!.registry.metrics()).match(/^code_scale_wish (\S+)$/m)?.[1];
  expect(scale).toBe("1");
});

test("a repository that grows beyond its node is served at the commit before, which says why", async () => {
  code = new CodeFleet(fleet(), { guess: SIZE, auction, pollMs: 100 });
  await code.add("a", 2.2 * SIZE);
  const grown = repository("grown");
  await add(grown, repository("other"));
  await eventually("both are held", () => isHeld(1) && isHeld(2));
  const commit = code.scratch.commit(grown.url, { "y.txt": `needle ${"y".repeat(4 * CONTENT)}` });
  const answer = async (): Promise<ShardAnswer> => {
    const body = { query: parseQuery("needle"), options: { timeCapMs: 1_000 } };
    return (await code.call("1", "search", body)).body as ShardAnswer;
  };
  await eventually("it says why", async () => (await answer()).stale !== undefined);
  const { stale, counts, repository: about } = await answer();
  expect(stale).toMatch(/^grown needs about \d+ MB, and this node has \d+ MB: add a node with more memory/);
  expect([counts.files, about.heads.length]).toEqual([1, 1]);
  expect(about.heads[0]?.commit).not.toBe(commit);
  expect(await search(2)).toBe(1);
});

test("a repository whose new commit does not fit beside the one before comes back after its node was started anew", async () => {
  code = new CodeFleet(fleet(), { guess: SIZE, auction, pollMs: 100 });
  // Room for the new commit, or for the old one, and not for both.
  await code.add("a", 1.9 * SIZE);
  const changed = repository("changed");
  await add(changed);
  await eventually("it is held", () => isHeld(1));
  const commit = code.scratch.commit(changed.url, { "x.txt": `needle ${"z".repeat(1.1 * CONTENT)}` });
  const index = async (): Promise<RepositoryStatus["replicas"][number]["index"]> =>
    (await status())["changed"]?.replicas[0]?.index;
  await eventually("it says why", async () => (await index())?.problem !== undefined);
  await code.fleet.leave("a");
  await code.add("b", 1.9 * SIZE);
  await eventually("it is at the new commit", async () => (await index())?.heads[0]?.commit === commit);
  expect(await search(1)).toBe(1);
});

test("what a repository was thought to need counts no longer once it is held, even if one of its branches is missing", async () => {
  code = new CodeFleet(fleet(), { guess: 1_000, auction });
  const small = await code.add("a", 0.6 * SIZE);
  const size = (): unknown => small.catalogue("code").get("size/1");
  await add({ ...repository("one"), branches: ["main", "gone"] });
  await eventually("it does not fit", () => size() !== undefined);
  await code.add("b", 3 * SIZE);
  await eventually("it is held", () => isHeld(1));
  await eventually("its size is what it takes", () => size() === undefined);
  await eventually(
    "it says what is missing",
    async () => (await status())["one"]?.replicas[0]?.index?.problem?.code === "NO_BRANCH",
  );
  expect(code.fleet.holders("code/1/0")).toEqual(["b"]);
});

test("a repository that grows beyond its node moves to one that has room for it", async () => {
  code = new CodeFleet(fleet(), { guess: SIZE, auction, pollMs: 100 });
  await code.add("a", 1.2 * SIZE);
  const grown = repository("grown");
  await add(grown);
  await eventually("it is held", () => isHeld(1));
  await code.add("b", 9 * SIZE);
  const commit = code.scratch.commit(grown.url, { "y.txt": `needle ${"y".repeat(4 * CONTENT)}` });
  const heads = async (): Promise<unknown> => (await status())["grown"]?.replicas[0]?.index?.heads[0]?.commit;
  await eventually("it is at the new commit", async () => (await heads()) === commit);
  expect(code.fleet.holders("code/1/0")).toEqual(["b"]);
  expect(await search(1)).toBe(2);
});
