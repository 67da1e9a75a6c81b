import { ring, terms, type Shard } from "@keelson/kernel";
import { TestFleet } from "@keelson/testkit";
import { afterEach, expect, test } from "vitest";
import { fleetMirror } from "../../mirror/fleet-mirror.ts";
import type { Mirror } from "../../mirror/mirror.ts";
import { defineService } from "../../service/service.ts";
import { LocalAdmin } from "../local-admin.ts";
import { feedFrameSchema } from "./feed-schema.ts";
import type { FeedChanges, FeedFrame, FeedNode, FeedQuery, FeedService } from "./frames.ts";

/** What a page keeps of the frames, in the simplest way. */
class Replay {
  readonly nodes = new Map<number, FeedNode>();
  readonly services = new Map<number, FeedService>();
  readonly names = new Map<number, string>();
  readonly rows = new Map<number, { holder: string | undefined; state: string; epoch: string }>();
  readonly held = new Map<string, number>();
  resets = 0;
  cursor: string | undefined;

  apply(frame: FeedFrame): void {
    feedFrameSchema.parse(JSON.parse(JSON.stringify(frame)));
    if (frame.kind === "reset") {
      this.resets++;
      for (const map of [this.nodes, this.services, this.names, this.rows, this.held]) map.clear();
    } else if (frame.kind === "live") this.cursor = frame.cursor;
    else if (frame.kind === "changes") this.#changes(frame);
  }

  #changes({
    nodes = [],
    services = [],
    added = [],
    removed = [],
    rows,
    counts = [],
    cursor,
  }: FeedChanges): void {
    this.cursor = cursor ?? this.cursor;
    for (const node of nodes) this.nodes.set(node.i, node);
    for (const service of services) this.services.set(service.i, service);
    for (const { service, from, replicas, shards } of added) {
      const ids =
        "count" in shards ? Array.from({ length: shards.count }, (_, n) => String(shards.from + n)) : shards;
      for (const [at, id] of ids.entries())
        for (let replica = 0; replica < replicas; replica++)
          this.names.set(from + at * replicas + replica, `${service} ${id} ${replica}`);
    }
    for (const i of removed) {
      this.names.delete(i);
      this.rows.delete(i);
    }
    for (const [at, i] of (rows?.i ?? []).entries())
      this.rows.set(i, {
        holder: this.nodes.get(rows!.holder[at]!)?.node,
        state: rows!.state[at]!,
        epoch: `${rows!.era[at]}.${rows!.revision[at]}`,
      });
    for (const [i, held] of counts) this.held.set(this.nodes.get(i)!.node, held);
  }

  get picture(): unknown {
    return Object.fromEntries([...this.names].map(([i, name]) => [name, this.rows.get(i)]));
  }
}

const endings: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function start(shards = 12): Promise<{ fleet: TestFleet; admin: LocalAdmin; mirror: Mirror }> {
  const echo = defineService({
    name: "echo",
    parameters: { shards, replicas: 2, placement: {} },
    placement: ring({ service: "echo" }),
    open: (): Promise<Shard> => Promise.resolve({ handle: ({ body }) => Promise.resolve(body) }),
  });
  const fleet = await TestFleet.start({ services: [echo], nodes: 3 });
  const { clock } = fleet;
  const store = fleet.store.connect();
  const mirror = fleetMirror("test", { store, clock, random: Math.random }, terms());
  const admin = new LocalAdmin({ fleet: "test", mirror, store, clock, random: Math.random });
  mirror.start();
  endings.push(async () => {
    admin.close();
    mirror.stop();
    await fleet.stop();
  });
  return { fleet, admin, mirror };
}

/** Reads into the replay until told to stop. */
function follow(admin: LocalAdmin, replay: Replay, query: Partial<FeedQuery> = {}): () => Promise<void> {
  const controller = new AbortController();
  const reading = (async () => {
    for await (const frame of admin.feed({ replicas: true, ...query }, controller.signal))
      replay.apply(frame);
  })();
  const ended = reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  const stop = async (): Promise<void> => {
    controller.abort();
    expect(await ended).toBeUndefined();
  };
  endings.push(stop);
  return stop;
}

async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 15_000;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

/** The same picture, from the admin's pages. */
async function picture(admin: LocalAdmin): Promise<unknown> {
  const { replicas } = await admin.shards({ limit: 1_000 });
  return Object.fromEntries(
    replicas.map(({ shard, replica, node, state, epoch }) => [
      `0 ${shard} ${replica}`,
      { holder: node, state: state[0], epoch: `${epoch?.era ?? 0}.${epoch?.revision ?? 0}` },
    ]),
  );
}

async function agrees(admin: LocalAdmin, replay: Replay): Promise<boolean> {
  return JSON.stringify(replay.picture) === JSON.stringify(await picture(admin));
}

test("tells everything, then what changes, until a reader knows what the admin knows", async () => {
  const { fleet, admin } = await start();
  const replay = new Replay();
  follow(admin, replay);
  await until("the snapshot", () => replay.cursor !== undefined);
  expect(replay.picture).toEqual(await picture(admin));
  expect([...replay.nodes.values()].map(({ node, member }) => ({ node, member }))).toEqual([
    { node: "a", member: true },
    { node: "b", member: true },
    { node: "c", member: true },
  ]);
  expect(replay.services.get(0)).toMatchObject({ service: "echo", states: { held: 24, unheld: 0 } });

  await admin.drain("a", { by: "test", reason: "to see it" });
  await until("a to be drained", async () => (await admin.nodes())[0]?.held === 0);
  await until("the reader to know it", () => agrees(admin, replay));
  await until("the counts to know it", () => replay.held.get("a") === 0);
  expect([...replay.nodes.values()].find(({ node }) => node === "a")).toMatchObject({ drained: true });

  fleet.kill("b");
  await until("b to be lost", async () => (await admin.nodes()).every(({ node }) => node !== "b"));
  await until("the reader to know it too", () => agrees(admin, replay));
  await until("b to be no member", () =>
    [...replay.nodes.values()].some(({ node, member }) => node === "b" && !member),
  );
  expect(replay.resets).toBe(1);
}, 60_000);

test("goes on where a reader was, and begins anew for a cursor that it does not know", async () => {
  const { admin } = await start();
  const replay = new Replay();
  const stop = follow(admin, replay);
  await until("the snapshot", () => replay.cursor !== undefined);
  await stop();
  await admin.drain("a", { by: "test", reason: "" });
  const again = follow(admin, replay, { after: replay.cursor });
  await until("the reader to know what it missed", () => agrees(admin, replay));
  expect(replay.resets).toBe(1);
  await again();
  follow(admin, replay, { after: "another.1-7" });
  await until("a second snapshot", () => replay.resets === 2);
  await until("the reader to know it all", () => agrees(admin, replay));
}, 60_000);

test("leaves out replicas for a reader that wants none, and asks the node that is named", async () => {
  const { admin } = await start();
  const frames: FeedFrame[] = [];
  const controller = new AbortController();
  endings.push(() => controller.abort());
  for await (const frame of admin.feed({ replicas: false, node: "a" }, controller.signal)) {
    frames.push(frame);
    if (frame.kind === "report") controller.abort();
  }
  expect(frames.some((frame) => "rows" in frame || "added" in frame)).toBe(false);
  expect(frames.at(-1)).toEqual({ kind: "report", node: "a", report: "there is no such node to ask" });
  expect(frames.some((frame) => frame.kind === "changes" && frame.services !== undefined)).toBe(true);
}, 60_000);

test("says that a service has replicas without a holder, and that it is over", async () => {
  const { fleet, admin } = await start(4);
  const alerts: string[][] = [];
  const controller = new AbortController();
  endings.push(() => controller.abort());
  const reading = (async () => {
    for await (const frame of admin.feed({ replicas: false }, controller.signal))
      if (frame.kind === "changes" && frame.alerts) alerts.push(frame.alerts.map(({ id }) => id));
  })();
  const ended = reading.catch((error: unknown) => error);
  await until("the first alerts", () => alerts.length > 0);
  for (const node of ["a", "b"]) fleet.kill(node);
  await until("somebody to say it", () => alerts.some((ids) => ids.includes("unheld echo")));
  controller.abort();
  expect(await ended).toBeUndefined();
}, 60_000);
