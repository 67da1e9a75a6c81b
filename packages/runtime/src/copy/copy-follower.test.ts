import { Keys, type StoreReply } from "@keelson/kernel";
import { ManualClock, TestFleet } from "@keelson/testkit";
import { WirePool, WireServer } from "@keelson/wire";
import { afterEach, expect, test } from "vitest";
import { SystemClock } from "../clock/system.ts";
import { Mirror } from "../mirror/mirror.ts";
import { CopyFollower } from "./copy-follower.ts";
import { serveCopy } from "./serve-copy.ts";

const keys = new Keys("test");
const clock = new SystemClock();
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A store, and nodes that serve their copy of it on loopback. */
class Scene {
  readonly store = new TestFleet({ services: [] }).store;
  readonly pool = new WirePool({ clock, random: Math.random, name: "gateway" });
  readonly mirrors: Mirror[] = [];
  readonly servers: WireServer[] = [];

  constructor() {
    ends.push(
      () => this.pool.close(),
      () => this.store.close(),
    );
  }

  mirror(): Mirror {
    return new Mirror({
      store: this.store.connect(),
      prefix: keys.prefix,
      canary: keys.era,
      clock,
      random: Math.random,
      timeoutMs: 1_000,
      relistMs: 60_000,
    });
  }

  async node(): Promise<string> {
    const mirror = this.mirror();
    const server = new WireServer({ clock, name: "node" });
    serveCopy(server, mirror, clock);
    await server.listen({ host: "127.0.0.1", port: 0 });
    mirror.start();
    this.mirrors.push(mirror);
    this.servers.push(server);
    ends.push(
      () => mirror.stop(),
      () => server.close({ graceMs: 0 }),
    );
    return server.address;
  }

  async put(key: string, value: unknown): Promise<StoreReply> {
    const { incarnation } = await this.store.range(key, { timeoutMs: 1_000 });
    const writes = [{ kind: "put" as const, key, value: JSON.stringify(value) }];
    return this.store.commit({ guards: [], writes }, { incarnation, timeoutMs: 1_000 });
  }

  follower(nodes: readonly string[], withStore = false): CopyFollower {
    const follower = new CopyFollower({
      fleet: "test",
      clock,
      random: Math.random,
      nodes,
      open: (address, method, body, sink) => this.pool.stream(address, method, body, sink),
      ...(withStore ? { store: () => this.mirror() } : {}),
    });
    ends.push(() => follower.stop());
    return follower;
  }
}

async function until(what: string, done: () => boolean): Promise<void> {
  const deadline = clock.now() + 15_000;
  while (!done()) {
    if (clock.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("has what the node has: what was there, and every change after it", async () => {
  const scene = new Scene();
  for (let i = 0; i < 2_500; i++) await scene.put(`${keys.prefix}tenure/echo/${i}/0`, { i });
  const follower = scene.follower([await scene.node()]);
  const told: string[] = [];
  follower.subscribe({
    changed: (changes) => told.push(...changes.map(({ key }) => key)),
    listed: () => undefined,
  });
  follower.start();
  await until("the listing", () => follower.live);
  expect(follower.image.size).toBe(2_500);
  expect(told).toHaveLength(2_500);
  await scene.put(keys.view("echo"), { n: 1 });
  await until("the change", () => follower.image.get(keys.view("echo")) !== undefined);
  expect(told.at(-1)).toBe(keys.view("echo"));
});

test("goes to another node that it learnt of when its own is gone, and tells only what differs", async () => {
  const scene = new Scene();
  const first = await scene.node();
  const second = await scene.node();
  await scene.put(keys.member("a"), { address: first });
  await scene.put(keys.member("b"), { address: second });
  const follower = scene.follower([first]);
  follower.start();
  await until("the listing", () => follower.live && follower.image.size === 2);
  const told: string[] = [];
  follower.subscribe({
    changed: (changes) => told.push(...changes.map(({ key }) => key)),
    listed: () => undefined,
  });
  told.length = 0;
  await scene.servers[0]!.close({ graceMs: 0 });
  await until("it noticed", () => !follower.live);
  await scene.put(keys.view("echo"), { n: 1 });
  await until("the other node", () => follower.source === second);
  await until("the change", () => told.length > 0);
  expect(told).toEqual([keys.view("echo")]);
});

test("follows the store when no node gives its copy, and a node again once one does", async () => {
  const scene = new Scene();
  await scene.put(keys.view("echo"), { n: 1 });
  const follower = scene.follower(["127.0.0.1:1"], true);
  follower.start();
  await until("the store", () => follower.source === "store");
  expect(follower.image.get(keys.view("echo"))?.value).toBe('{"n":1}');
  await scene.put(keys.view("echo"), { n: 2 });
  await until("the change", () => follower.image.get(keys.view("echo"))?.value === '{"n":2}');
});

test("keeps what it knew, and says for how long it has heard nothing", async () => {
  const manual = new ManualClock();
  const sinks: { fail(): void; item(body: unknown): void }[] = [];
  const follower = new CopyFollower({
    fleet: "test",
    clock: manual,
    random: () => 0.5,
    nodes: ["a:1"],
    open: (_address, _method, _body, sink) => {
      sinks.push(sink as never);
      return { close: () => undefined };
    },
  });
  follower.start();
  expect(follower.staleMs).toBe(Infinity);
  sinks[0]!.item(["page", "i", 7, [[keys.view("echo"), "{}", 5]], false]);
  sinks[0]!.item(["live", true]);
  expect(follower.staleMs).toBe(0);
  sinks[0]!.fail();
  await manual.advance(600_000);
  expect(follower.live).toBe(false);
  expect(follower.staleMs).toBeGreaterThan(599_000);
  expect(follower.image.get(keys.view("echo"))).toBeDefined();
  expect(sinks.length).toBeLessThan(700);
  follower.stop();
});

test("does not take a copy that is behind what it knows until that one has caught up", async () => {
  const manual = new ManualClock();
  const sinks: { fail(): void; item(body: unknown): void }[] = [];
  const follower = new CopyFollower({
    fleet: "test",
    clock: manual,
    random: () => 0.5,
    nodes: ["a:1"],
    open: (_address, _method, _body, sink) => {
      sinks.push(sink as never);
      return { close: () => undefined };
    },
  });
  follower.start();
  sinks[0]!.item(["page", "i", 9, [[keys.view("echo"), "new", 9]], false]);
  sinks[0]!.fail();
  await manual.advance(3_000);
  const late = sinks.at(-1)!;
  late.item(["page", "i", 7, [], false]);
  late.item(["live", true]);
  expect(follower.live).toBe(false);
  expect(follower.image.get(keys.view("echo"))?.value).toBe("new");
  late.item(["changes", "i", 9, [[keys.view("echo"), "new", 9]]]);
  expect(follower.live).toBe(true);
  expect(follower.image.get(keys.view("echo"))?.value).toBe("new");
  follower.stop();
});

test("leaves a node that does not follow the store for another before a TTL is over, and waits longer when that one does not either", async () => {
  const manual = new ManualClock();
  const opened: { readonly address: string; readonly item: (body: unknown) => void }[] = [];
  const follower = new CopyFollower({
    fleet: "test",
    clock: manual,
    random: () => 0.5,
    nodes: ["a:1", "b:1"],
    open: (address, _method, _body, sink) => {
      opened.push({ address, item: (body) => void sink.item(body) });
      return { close: () => undefined };
    },
  });
  follower.start();
  const deaf = async (ms: number): Promise<void> => {
    opened.at(-1)!.item(["page", "i", 7, [[keys.view("echo"), "{}", 5]], false]);
    opened.at(-1)!.item(["live", false]);
    await manual.advance(ms);
  };
  await deaf(5_000);
  expect(new Set(opened.map(({ address }) => address))).toEqual(new Set(["a:1", "b:1"]));
  await deaf(5_000);
  expect(opened).toHaveLength(2);
  await manual.advance(5_000);
  expect(opened).toHaveLength(3);
  follower.stop();
});

/** A follower of nodes that say what a test has them say. */
function scripted(nodes: readonly string[]): {
  readonly clock: ManualClock;
  readonly follower: CopyFollower;
  readonly opened: { readonly address: string; readonly item: (body: unknown) => void }[];
} {
  const manual = new ManualClock();
  const opened: { readonly address: string; readonly item: (body: unknown) => void }[] = [];
  const follower = new CopyFollower({
    fleet: "test",
    clock: manual,
    random: () => 0,
    nodes,
    open: (address, _method, _body, sink) => {
      opened.push({ address, item: (body) => void sink.item(body) });
      return { close: () => undefined };
    },
  });
  ends.push(() => follower.stop());
  follower.start();
  return { clock: manual, follower, opened };
}

test("does not go back to an older copy of a node that does not follow the store, however long that takes", async () => {
  const { clock: manual, follower, opened } = scripted(["a:1", "b:1"]);
  opened[0]!.item(["page", "i", 9, [[keys.view("echo"), "new", 9]], false]);
  opened[0]!.item(["live", false]);
  await manual.advance(4_500);
  expect(opened).toHaveLength(2);
  const older = opened[1]!;
  older.item(["page", "i", 7, [[keys.view("echo"), "old", 7]], false]);
  for (let second = 0; second < 7; second++) {
    older.item(["live", false]);
    await manual.advance(1_000);
  }
  expect(opened).toHaveLength(2);
  expect(follower.image.get(keys.view("echo"))?.value).toBe("new");
});

test("believes a node that follows the store again that it went back, once it had the time to catch up", async () => {
  const { clock: manual, follower, opened } = scripted(["a:1", "b:1"]);
  opened[0]!.item(["page", "i", 9, [[keys.view("echo"), "new", 9]], false]);
  opened[0]!.item(["live", false]);
  await manual.advance(4_500);
  const older = opened[1]!;
  older.item(["page", "i", 7, [[keys.view("echo"), "old", 7]], false]);
  const say = async (live: boolean, seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      older.item(["live", live]);
      await manual.advance(1_000);
    }
  };
  await say(false, 6);
  await say(true, 4);
  expect(follower.image.get(keys.view("echo"))?.value).toBe("new");
  await say(true, 2);
  expect(follower.image.get(keys.view("echo"))?.value).toBe("old");
  expect(follower.live).toBe(true);
});

test("tries every node before it comes back to one that did not follow the store", async () => {
  const { clock: manual, opened } = scripted(["a:1", "b:1", "c:1"]);
  for (const waitMs of [5_000, 10_000]) {
    opened.at(-1)!.item(["page", "i", 7, [[keys.view("echo"), "{}", 5]], false]);
    for (let ms = 0; ms < waitMs; ms += 1_000) {
      opened.at(-1)!.item(["live", false]);
      await manual.advance(1_000);
    }
  }
  expect(new Set(opened.map(({ address }) => address)).size).toBe(3);
});
