import { Keys, ring, terms, type Shard, type Trouble } from "@keelson/kernel";
import { TestFleet } from "@keelson/testkit";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { fleetMirror } from "../mirror/fleet-mirror.ts";
import type { Mirror } from "../mirror/mirror.ts";
import { defineService } from "../service/service.ts";
import { LocalAdmin } from "./local-admin.ts";
import { NodeReporter } from "./node-report.ts";

const echo = defineService({
  name: "echo",
  parameters: { shards: 12, replicas: 1, placement: {} },
  placement: ring({ service: "echo" }),
  open: (): Promise<Shard> => Promise.resolve({ handle: ({ body }) => Promise.resolve(body) }),
});
const keys = new Keys("test");
const me = { by: "ann", reason: "new disk" };

let fleet: TestFleet;
let mirror: Mirror;
let admin: LocalAdmin;

beforeAll(async () => {
  fleet = await TestFleet.start({ services: [echo] });
  const { clock } = fleet;
  const store = fleet.store.connect();
  mirror = fleetMirror("test", { store, clock, random: Math.random }, terms());
  const reporter = (address: string): NodeReporter => {
    const node = fleet.nodes.get(address);
    if (!node) throw new Error(`no node ${address}`);
    const figures = (): { pid: number; uptimeMs: number; cpuMs: number; rssBytes: number } => ({
      pid: 1,
      uptimeMs: 5,
      cpuMs: 3,
      rssBytes: 100,
    });
    return new NodeReporter({ node, name: address, figures, wall: () => clock.wall() });
  };
  admin = new LocalAdmin({
    fleet: "test",
    mirror,
    store,
    clock,
    random: Math.random,
    ask: {
      report: async (address) => reporter(address).report(),
      decisions: async (address, replica) => reporter(address).decisions(replica),
    },
  });
  mirror.start();
});

afterAll(async () => {
  admin.close();
  mirror.stop();
  await fleet.stop();
});

/** Looks again until it is so; the copy follows the store a moment later. */
async function until(done: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error("it never was so");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("tells who is there, what is held, and by which placement", async () => {
  const status = await admin.status();
  expect(status).toMatchObject({ fleet: "test", members: 3, era: { era: 1, phase: "open" }, drains: [] });
  expect(status.services).toMatchObject([
    { service: "echo", placement: "ring/1", shards: 12, held: 12, misplaced: 0, quarantined: 0 },
  ]);
  const nodes = await admin.nodes({ reports: true });
  expect(nodes.map(({ node }) => node)).toEqual(["a", "b", "c"]);
  expect(nodes.reduce((sum, { held }) => sum + held, 0)).toBe(12);
  expect(nodes[0]?.report).toMatchObject({ node: "a", rssBytes: 100, phases: { live: nodes[0]?.held } });
});

test("lists shards in pages, and those of one node", async () => {
  const first = await admin.shards({ limit: 5 });
  const second = await admin.shards({ limit: 100, after: first.next });
  const shards = [...first.replicas, ...second.replicas].map(({ shard }) => shard);
  expect(shards).toEqual(Array.from({ length: 12 }, (_, n) => String(n)));
  expect(second.next).toBeUndefined();
  const { replicas } = await admin.shards({ node: "a" });
  expect(replicas.length).toBe((await admin.nodes())[0]?.held);
  await expect(admin.shards({ service: "ecko" })).rejects.toMatchObject({
    code: "NO_SUCH_SERVICE",
    message: "there is no service ecko (did you mean echo?): there is echo",
  });
});

test("explains a shard: holder, epoch, reason, plan, and what its node decided", async () => {
  const { replicas, placement } = await admin.explain("echo", "7");
  const [holder] = fleet.holders("echo/7/0");
  expect(placement).toBe("ring/1");
  expect(replicas[0]).toMatchObject({ holder: { node: holder, how: "grant" }, contenders: [] });
  expect(replicas[0]?.candidates[0]).toBe(holder);
  expect(replicas[0]?.decisions.map(({ kind }) => kind)).toContain("live");
  await expect(admin.explain("echo", "12")).rejects.toMatchObject({
    code: "NO_SUCH_SHARD",
    message: "echo has no shard 12: its shards are 0 to 11",
  });
});

test("forecasts what a node's end would move: what it holds, and nothing that it does not", async () => {
  const [now] = await admin.forecast({});
  expect(now).toMatchObject({ service: "echo", moves: [], movesTotal: 0 });
  const [gone] = await admin.forecast({ without: ["a"] });
  const held = (await admin.nodes())[0]?.held ?? 0;
  expect(gone?.moves.filter(({ from }) => from === "a")).toHaveLength(held);
  expect(gone?.nodes.find(({ node }) => node === "a")).toEqual({ node: "a", before: held, after: 0 });
  expect(gone?.nodes.reduce((sum, { after }) => sum + after, 0)).toBe(12);
  await expect(admin.forecast({ without: ["z"] })).rejects.toMatchObject({ code: "NO_SUCH_NODE" });
});

test("a drained node gives away what it holds, stays a member, and takes its share again", async () => {
  const { cursor } = await admin.events({});
  expect(await admin.drain("b", me)).toMatchObject({ done: "b gives away what it holds", already: false });
  expect((await admin.drain("b", me)).already).toBe(true);
  await until(
    async () => (await admin.nodes())[1]?.held === 0 && (await admin.status()).services[0]?.held === 12,
  );
  const [, b] = await admin.nodes();
  expect(b).toMatchObject({ node: "b", drained: true, member: true, capacity: 0 });
  expect((await admin.status()).drains).toMatchObject([
    { node: "b", by: "ann", reason: "new disk", held: 0 },
  ]);
  await admin.undrain("b");
  await until(async () => ((await admin.nodes())[1]?.held ?? 0) > 0);
  const kinds = (await admin.events({ after: cursor })).events.map(({ kind }) => kind);
  expect(kinds).toEqual(expect.arrayContaining(["operator", "changed", "view", "handed-over"]));
  await expect(admin.drain("bb", me)).rejects.toMatchObject({ code: "NO_SUCH_NODE" });
});

test("a placement that takes no wishes for single shards refuses them, and says what to do instead", async () => {
  for (const refused of [
    admin.pin({ service: "echo", shard: "1", node: "a" }, me),
    admin.move({ service: "echo", shard: "1", node: "a" }, me),
  ])
    await expect(refused).rejects.toThrow(
      /ring\/1, which takes no wishes for single shards: drain a node instead/,
    );
});

test("a shard that is left alone is tried again when an operator says so", async () => {
  const trouble: Trouble = {
    v: 1,
    strikes: 5,
    last: { node: "a", what: "open failed", message: "no disk" },
  };
  const { incarnation } = await fleet.store.range(keys.era, { limit: 1, timeoutMs: 1_000 });
  const write = { kind: "put", key: keys.trouble("echo/3"), value: JSON.stringify(trouble) } as const;
  await fleet.store.commit({ guards: [], writes: [write] }, { incarnation, timeoutMs: 1_000 });
  await until(async () => (await admin.explain("echo", "3")).trouble?.quarantined === true);
  expect(await admin.retry("echo", "3")).toMatchObject({ already: false });
  await until(async () => (await admin.explain("echo", "3")).trouble === undefined);
  expect(await admin.retry("echo", "3")).toEqual({ done: "nothing is held against echo/3", already: true });
});

test("events wait for something to happen, and a reader that fell behind is told", async () => {
  const { cursor } = await admin.events({});
  const waiting = admin.events({ after: cursor, waitMs: 5_000 });
  await admin.drain("c", me);
  expect((await waiting).events[0]).toMatchObject({
    kind: "operator",
    node: "c",
    text: "c is to be drained, says ann (new disk)",
  });
  await admin.undrain("c");
  expect((await admin.events({ after: "other-1" })).missed).toBe(true);
  expect((await admin.events({ after: cursor })).missed).toBe(false);
});

test("the doctor finds a healthy fleet healthy, and tells of what is not", async () => {
  await fleet.settled();
  // A manager is elected a moment after the first shards are held.
  const healthy = await vi.waitFor(async () => {
    const found = await admin.doctor();
    expect(found.filter(({ level }) => level !== "ok")).toEqual([]);
    return found;
  }, 10_000);
  expect(new Set(healthy.map(({ check }) => check))).toEqual(
    new Set(["store", "clock", "era", "manager", "versions", "nodes", "shards"]),
  );
  await admin.drain("a", me);
  const findings = await admin.doctor();
  expect(findings.filter(({ check }) => check === "wishes")).toHaveLength(1);
  await admin.undrain("a");
});
