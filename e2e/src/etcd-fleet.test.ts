/** Nodes of one process on a real etcd, each with a network of its own that can go bad. */
import {
  Keys,
  TransportError,
  ring,
  type NodeReply,
  type NodeRequest,
  type ReplicaKey,
  type Shard,
  type Store,
} from "@keelson/kernel";
import { KeelsonNode, ServerTimeEras, SystemClock, defineService } from "@keelson/runtime";
import { EtcdStore } from "@keelson/stores/etcd";
import { TcpProxy } from "@keelson/testkit";
import { startEtcd, type TestServer } from "@keelson/testkit/servers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";

/** The shortest that etcd grants when it is set up as it comes. */
const TTL_MS = 2_000;
/** etcd looks for expired leases twice a second. */
const EXPIRY_LAG_MS = 600;
const SHARDS = 60;

const clock = new SystemClock();
const echo = defineService({
  name: "echo",
  parameters: { shards: SHARDS, replicas: 1, placement: {} },
  placement: ring({ service: "echo" }),
  open: ({ shard }): Promise<Shard> =>
    Promise.resolve({ handle: ({ body }) => Promise.resolve(`${shard}: ${String(body)}`) }),
});
const replicas: ReplicaKey[] = Array.from({ length: SHARDS }, (_, n): ReplicaKey => `echo/${n}/0`);

interface Member {
  readonly node: KeelsonNode;
  readonly store: EtcdStore;
  readonly proxy: TcpProxy;
}

let etcd: TestServer;
let fleets = 0;
let fleet = "";
const members = new Map<string, Member>();
let direct: Store;

beforeAll(async () => {
  etcd = await startEtcd({ electionMs: 100 });
});

afterAll(() => etcd.stop());

afterEach(async () => {
  for (const name of members.keys()) await kill(name);
  await direct.close();
});

function connect(port: number): EtcdStore {
  return new EtcdStore({ clock, random: Math.random, endpoints: [{ host: "127.0.0.1", port }] });
}

async function add(name: string): Promise<void> {
  const proxy = await TcpProxy.open(etcd.port);
  const store = connect(proxy.port);
  const call = (address: string, request: NodeRequest): Promise<NodeReply> => {
    const to = members.get(address)?.node;
    return to?.handle(request) ?? Promise.reject(new TransportError("UNREACHABLE", `no node ${address}`));
  };
  const node = new KeelsonNode(
    { fleet, node: name, address: name, services: [echo], terms: { ttlMs: TTL_MS } },
    { store, clock, random: Math.random, transport: { call }, eras: new ServerTimeEras({ fresh: true }) },
  );
  members.set(name, { node, store, proxy });
  await node.start();
}

/** As `kill -9`: nothing is told to anybody. */
async function kill(name: string): Promise<void> {
  const member = members.get(name);
  members.delete(name);
  member?.node.abandon();
  await member?.store.close();
  await member?.proxy.close();
}

async function startFleet(): Promise<void> {
  fleets += 1;
  fleet = `fleet${fleets}`;
  direct = connect(etcd.port);
  await Promise.all(["a", "b", "c"].map(add));
  await until(
    "all is held, by all three",
    () => allHeld() && [...members.keys()].every((name) => heldBy(name) > 5),
  );
}

const holders = (replica: ReplicaKey): string[] =>
  [...members].filter(([, { node }]) => node.check(replica)).map(([name]) => name);
const heldBy = (name: string): number =>
  replicas.filter((replica) => members.get(name)?.node.check(replica)).length;
const allHeld = (): boolean => replicas.every((replica) => holders(replica).length === 1);

/** Looks every few milliseconds; two holders of one replica at any look fail the test. */
async function until(what: string, holds: () => boolean, withinMs = 15_000): Promise<void> {
  const deadline = clock.now() + withinMs;
  while (!holds()) {
    expect(replicas.filter((replica) => holders(replica).length > 1)).toEqual([]);
    if (clock.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(3);
  }
}

test("three nodes hold sixty shards, and those of one that is killed are held again within a second of its lease's end", async () => {
  await startFleet();
  await kill("b");
  const killedAt = clock.now();
  await until("all is held again", allHeld);
  expect(clock.now() - killedAt).toBeLessThan(TTL_MS + EXPIRY_LAG_MS + 1_000);
});

test("a node in a black hole stops admitting before etcd ends its lease, and comes back with another one", async () => {
  await startFleet();
  const victim = members.get("a") as Member;
  const held = replicas.filter((replica) => victim.node.check(replica));
  const tenures = `${new Keys(fleet).prefix}tenure/`;
  const { revision } = await direct.range(tenures, { timeoutMs: 2_000 });
  let expiredAt: number | undefined;
  const watch = direct.watch(tenures, revision, {
    changes: ({ changes }) => {
      if (changes.some(({ kind }) => kind === "delete")) expiredAt ??= clock.now();
    },
    relist: () => {},
    closed: () => {},
  });
  victim.proxy.blackHole();
  const cutAt = clock.now();
  await until("it stops admitting", () => heldBy("a") === 0);
  const stoppedAt = clock.now();
  expect(expiredAt).toBeUndefined();
  expect(stoppedAt - cutAt).toBeLessThan(TTL_MS);
  await until("the others hold what it held", () => held.every((replica) => holders(replica).length === 1));
  expect(expiredAt).toBeGreaterThan(stoppedAt);
  watch.close();
  victim.proxy.heal();
  await until("it holds again", () => heldBy("a") > 0);
  await until("all is held", allHeld);
});

test("a restart of etcd costs nobody a shard that is held, and no shard a holder", async () => {
  await startFleet();
  const before = replicas.map(holders);
  await etcd.restart();
  await sleep(TTL_MS * 1.5);
  await until("all is held", allHeld);
  expect(replicas.map(holders)).toEqual(before);
});
