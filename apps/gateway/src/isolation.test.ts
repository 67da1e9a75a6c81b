/** A gateway that is cut off from the store and from every node's copy for ten minutes, in simulated time; the nodes themselves go on. */
import { counterPlugin, counterService } from "@keelson/examples";
import {
  CopyFollower,
  FleetClient,
  fleetMirror,
  giveCopy,
  type CopyStream,
  type FleetLink,
} from "@keelson/runtime";
import { FaultyStore, ManualClock, TestFleet } from "@keelson/testkit";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startGateway, type Gateway } from "./gateway.ts";

const SHARDS = 12;
const TEN_MINUTES_MS = 600_000;

let clock: ManualClock;
let fleet: TestFleet;
let gateway: Gateway;
let folder: string;
let moves: { readonly replica?: string }[];
/** While true, nothing that nodes or the store say of the fleet's state reaches the gateway. */
let cut: boolean;
let follower: CopyFollower;
let faulty: FaultyStore;
/** Keys that the gateway was told had changed. */
let told: string[];

/** Lets simulated time pass until the promise is settled. */
async function during<T>(promise: Promise<T>, mostMs = 120_000): Promise<T> {
  let done = false;
  void promise.finally(() => (done = true)).catch(() => undefined);
  for (let passed = 0; !done && passed < mostMs; passed += 50) await clock.advance(50);
  return promise;
}

/** A node's copy, given in this process; once it is cut off it is silent, as a network is that drops everything. */
function openCopy(
  address: string,
  sink: Parameters<Exclude<CopyFollowerOpen, undefined>>[3],
): { close(): void } {
  const mirror = fleet.nodes.get(address)?.mirror;
  const abort = new AbortController();
  if (!mirror || cut) {
    queueMicrotask(() => sink.fail(new Error("nobody answers")));
    return { close: () => undefined };
  }
  const { signal } = abort;
  const stream: CopyStream = {
    get aborted() {
      return signal.aborted;
    },
    addEventListener: (type, listener, options) => signal.addEventListener(type, listener, options),
    removeEventListener: (type, listener) => signal.removeEventListener(type, listener),
    write: (item) => {
      if (!cut && !signal.aborted) void sink.item(structuredClone(item));
      return true;
    },
    ready: () => Promise.resolve(!signal.aborted),
  };
  void giveCopy(stream, mirror, clock);
  return { close: () => abort.abort() };
}
type CopyFollowerOpen = ConstructorParameters<typeof CopyFollower>[0]["open"];

function link(): FleetLink {
  faulty = new FaultyStore(fleet.store.connect(), clock);
  const ports = { store: faulty, clock, random: Math.random };
  follower = new CopyFollower({
    fleet: "test",
    clock,
    random: Math.random,
    nodes: ["a"],
    open: (address, _method, _body, sink) => openCopy(address, sink),
    store: () => fleetMirror("test", ports, fleet.nodes.get("a")!.terms),
  });
  const client = new FleetClient({
    fleet: "test",
    copy: follower,
    transport: fleet,
    clock,
    random: Math.random,
  });
  follower.subscribe({
    changed: (changes) => told.push(...changes.map(({ key }) => key)),
    listed: () => undefined,
  });
  return {
    fleet: client,
    copy: follower,
    start: () => client.start(),
    stop: () => client.stop(),
    askNode: () => Promise.reject(new Error("not here")),
  };
}

beforeEach(async () => {
  clock = new ManualClock();
  folder = mkdtempSync(join(tmpdir(), "keelson-isolation-"));
  [cut, moves, told] = [false, [], []];
  fleet = new TestFleet({
    clock,
    services: [counterService({ folder, shards: SHARDS })],
    terms: { ttlMs: 10_000 },
    onDecision: (decision) => {
      if (decision.kind === "handed-over" || decision.kind === "granted") moves.push(decision);
    },
  });
  await during(Promise.all(["a", "b", "c"].map((name) => fleet.add(name))));
  await during(fleet.settled(60_000));
  gateway = await startGateway({
    fleet: "test",
    plugins: [counterPlugin],
    listen: { host: "127.0.0.1", port: 0 },
    link,
    clock,
    random: Math.random,
    log: pino({ level: "silent" }),
  });
  await during(gateway.ready(10_000));
});

afterEach(async () => {
  await during(gateway.stop({ graceMs: 0 }));
  await fleet.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(
  path: string,
  init?: RequestInit,
): Promise<{ status: number; stale: string | null; body: string }> {
  const answer = await fetch(gateway.url + path, init);
  return { status: answer.status, stale: answer.headers.get("keelson-stale-ms"), body: await answer.text() };
}

test("goes on routing for ten minutes from what it knew, says so, and recovers by the difference alone", async () => {
  expect(gateway.health()).toMatchObject({ status: "ok", ready: true });
  expect((await ask("/v1/counter/1")).stale).toBeNull();
  cut = true;
  const everything = ["range", "watch", "deliver", "commit", "openSession", "renew", "revoke"] as const;
  faulty.inject({ calls: everything, fault: { kind: "fail", side: "before" } });
  await clock.advance(60_000);
  expect(gateway.health()).toMatchObject({ status: "stale", ready: true, follows: null });
  // Meanwhile a node joins: some shards move there, and the gateway is not told.
  moves.length = 0;
  told.length = 0;
  await during(fleet.add("d"));
  await during(fleet.settled(60_000));
  await clock.advance(TEN_MINUTES_MS - 60_000);
  expect(told).toEqual([]);
  const statuses = new Set<number>();
  for (let shard = 0; shard < SHARDS; shard++) {
    const answer = await during(ask(`/v1/counter/${shard}`));
    statuses.add(answer.status);
    expect(Number(answer.stale)).toBeGreaterThan(500_000);
  }
  expect([...statuses]).toEqual([200]);
  expect((await ask("/readyz")).status).toBe(200);
  const metrics = (await ask("/metrics")).body;
  expect(metrics).toContain("keelson_gateway_copy_live 0");
  expect(Number(/^keelson_gateway_copy_stale_seconds (\S+)/m.exec(metrics)?.[1])).toBeGreaterThan(500);
  const movedMeanwhile = new Set(moves.map(({ replica }) => replica));
  expect(movedMeanwhile.size).toBeGreaterThan(0);
  // The way is free again.
  moves.length = 0;
  cut = false;
  faulty.heal();
  await clock.advance(60_000);
  expect(gateway.health()).toMatchObject({ status: "ok" });
  expect((await ask("/v1/counter/1")).stale).toBeNull();
  // Nothing moved because of it, and it was told of what had moved, not of everything.
  expect(moves).toEqual([]);
  const tenures = new Set(
    told.filter((key) => key.includes("/tenure/")).map((key) => key.split("/tenure/")[1]),
  );
  expect(tenures).toEqual(movedMeanwhile);
  expect(tenures.size).toBeLessThan(SHARDS);
}, 60_000);
