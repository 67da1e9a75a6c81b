/** What only etcd can do to its clients: forget, be made anew, be restored, be shared, and have several endpoints. On a real etcd. */
import type { Change, ChangeBatch, Revision, Store } from "@keelson/kernel";
import { TcpProxy } from "@keelson/testkit";
import { etcdctl, startEtcd, type TestServer } from "@keelson/testkit/servers";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import { EtcdStore } from "./etcd-store.ts";

const CALL = { timeoutMs: 5_000 };

let etcd: TestServer;
let proxy: TcpProxy;
let store: EtcdStore;
let direct: EtcdStore;
let tests = 0;
let prefix = "";
const opened: EtcdStore[] = [];

beforeAll(async () => {
  etcd = await startEtcd({ electionMs: 100 });
});

afterAll(() => etcd.stop());

beforeEach(async () => {
  tests += 1;
  prefix = `/faults/${tests}/`;
  proxy = await TcpProxy.open(etcd.port);
  store = open([proxy.port]);
  direct = open([etcd.port]);
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await proxy.close();
});

function open(ports: readonly number[], first = 0): EtcdStore {
  const endpoints = ports.map((port) => ({ host: "127.0.0.1", port }));
  // The first endpoint is drawn at random: here it is chosen, and later draws are real.
  let draws = 0;
  const draw = (): number => (draws++ === 0 ? first / ports.length : random());
  const client = new EtcdStore({ clock, random: draw, endpoints });
  opened.push(client);
  return client;
}

async function incarnationOf(client: Store): Promise<string> {
  return (await client.range(prefix, CALL)).incarnation;
}

async function put(client: Store, name: string, value: string, timeoutMs = 5_000): Promise<Revision> {
  const incarnation = await incarnationOf(direct);
  const commit = { guards: [], writes: [{ kind: "put", key: prefix + name, value }] } as const;
  const outcome = await client.commit(commit, { timeoutMs, incarnation });
  if (outcome.kind !== "committed") throw new Error(`it was ${outcome.kind}`);
  return outcome.revision;
}

async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 5_000): Promise<void> {
  const deadline = clock.now() + withinMs;
  while (!(await holds())) {
    if (clock.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await sleep(5);
  }
}

function answers(client: Store): Promise<boolean> {
  return client.range(prefix, { timeoutMs: 1_000 }).then(
    () => true,
    () => false,
  );
}

/** What a watch was told, as `+name=value`, `-name`, and how it ended. */
function record(client: Store, after: Revision): { lines: string[]; ends: string[]; batches: ChangeBatch[] } {
  const told = { lines: [] as string[], ends: [] as string[], batches: [] as ChangeBatch[] };
  const word = (change: Change): string =>
    change.kind === "put"
      ? `+${change.entry.key.slice(prefix.length)}=${change.entry.value}`
      : `-${change.key.slice(prefix.length)}`;
  client.watch(prefix, after, {
    changes: (batch) => {
      told.batches.push(batch);
      told.lines.push(...batch.changes.map(word));
    },
    relist: () => void told.ends.push("relist"),
    closed: () => void told.ends.push("closed"),
  });
  return told;
}

test("a deletion at the very revision that etcd's history begins with is told, or the watch must list again", async () => {
  const after = await put(direct, "a", "1");
  const incarnation = await incarnationOf(direct);
  const erased = await direct.commit(
    { guards: [], writes: [{ kind: "delete", key: `${prefix}a` }] },
    { ...CALL, incarnation },
  );
  await etcdctl(etcd, "compact", `${erased.revision}`);
  const watch = record(direct, after);
  await put(direct, "b", "2");
  await until("something is told", () => watch.lines.length + watch.ends.length > 0);
  expect(watch.lines.includes("-a") || watch.ends.includes("relist")).toBe(true);
  const resumed = record(direct, erased.revision);
  await until("the change since is told", () => resumed.lines.length > 0);
  expect([resumed.lines, resumed.ends]).toEqual([["+b=2"], []]);
});

test("a watch hears how far it is while only others' keys change", async () => {
  const watch = record(store, await put(direct, "a", "1"));
  const own = prefix;
  prefix = "/somebody-else/";
  const theirs = await put(direct, "b", "2");
  prefix = own;
  // What shows this store that the revision rose: as a node's renewals do.
  await store.renew(["1234"], CALL);
  await until("the watch reaches it", () => (watch.batches.at(-1)?.revision ?? 0) >= theirs);
  expect([watch.lines, watch.ends]).toEqual([[], []]);
  await put(direct, "c", "3");
  await until("a change arrives", () => watch.lines.length > 0);
  expect(watch.lines).toEqual(["+c=3"]);
});

test("the next endpoint is used when one is dead, silent, or dies later", async () => {
  const dead = proxy.port;
  await proxy.close();
  const refused = open([dead, etcd.port]);
  await refused.range(prefix, { timeoutMs: 500 });
  proxy = await TcpProxy.open(etcd.port);
  proxy.blackHole();
  const silent = open([proxy.port, etcd.port]);
  await silent.range(prefix, { timeoutMs: 1_500 });
  proxy.heal();
  const later = open([proxy.port, etcd.port]);
  await later.range(prefix, CALL);
  expect(proxy.connections).toBe(1);
  proxy.refuse();
  await until("it is found again", () => answers(later));
});

test("when no endpoint can be used, the error names each with its reason", async () => {
  const web = createServer((_request, response) => response.end("hello")).listen(0, "127.0.0.1");
  await until("it listens", () => web.listening);
  const lost = open([1, (web.address() as AddressInfo).port]);
  await expect(lost.range(prefix, { timeoutMs: 3_000 })).rejects.toThrow(
    /127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:\d+: /,
  );
  web.close();
});

test("an etcd that was made anew in the same place is another incarnation, and refuses what was meant for the old one", async () => {
  const { incarnation, revision } = await direct.range(prefix, CALL);
  const { session } = await direct.openSession(60_000, CALL);
  const watch = record(direct, revision);
  await etcd.kill("SIGKILL");
  rmSync(join(etcd.folder, "data"), { recursive: true });
  await etcd.restart();
  const write = { kind: "put", key: `${prefix}stale`, value: "1" } as const;
  await until("it is found again", async () => {
    const outcome = await direct
      .commit({ guards: [], writes: [write] }, { ...CALL, incarnation })
      .catch(() => undefined);
    if (outcome === undefined) return false;
    expect(outcome.kind).toBe("incarnation");
    expect(outcome.incarnation).not.toBe(incarnation);
    // It is the cluster's id, made from the same configuration, that did not change.
    expect(outcome.incarnation.split("-")[0]).toBe(incarnation.split("-")[0]);
    return true;
  });
  const page = await direct.range(prefix, CALL);
  expect([page.entries, page.revision < revision]).toEqual([[], true]);
  expect((await direct.renew([session], CALL)).gone).toEqual([session]);
  expect(watch.ends).toEqual(["closed"]);
  const late = record(direct, revision);
  await until("the watch must list again", () => late.ends.length > 0);
  expect(late.ends).toEqual(["relist"]);
});

test("a restored snapshot keeps the incarnation, and shows by a revision that fell", async () => {
  await put(direct, "a", "1");
  const before = await direct.range(prefix, CALL);
  const file = join(etcd.folder, "snapshot");
  await etcdctl(etcd, "snapshot", "save", file);
  const lost = await put(direct, "b", "2");
  await etcd.kill("SIGKILL");
  const data = join(etcd.folder, "data");
  rmSync(data, { recursive: true });
  const peer = /--initial-cluster test=(\S+)/.exec(etcd.commandLine)?.[1] as string;
  const same = ["--name", "test", "--initial-cluster", `test=${peer}`, "--initial-advertise-peer-urls", peer];
  await etcdctl(etcd, "snapshot", "restore", file, "--data-dir", data, ...same);
  await etcd.restart();
  const after = await open([etcd.port]).range(prefix, CALL);
  expect([after.incarnation, after.entries.length]).toEqual([before.incarnation, 1]);
  expect(after.revision).toBeLessThan(lost);
});

test("who deletes the mark makes another incarnation of etcd, for every client alike", async () => {
  const incarnation = await incarnationOf(store);
  await incarnationOf(direct);
  await etcdctl(etcd, "del", "/keelson-incarnation");
  const write = { kind: "put", key: `${prefix}stale`, value: "1" } as const;
  const outcome = await store.commit({ guards: [], writes: [write] }, { ...CALL, incarnation });
  expect(outcome.kind).toBe("incarnation");
  expect(outcome.incarnation).not.toBe(incarnation);
  const page = await direct.range(prefix, CALL);
  expect([page.entries, page.incarnation]).toEqual([[], outcome.incarnation]);
  expect(
    (await store.commit({ guards: [], writes: [write] }, { ...CALL, incarnation: page.incarnation })).kind,
  ).toBe("committed");
});

test("two namespaces on one etcd do not see each other", async () => {
  const inside = (namespace: string): EtcdStore => {
    const client = new EtcdStore({
      clock,
      random,
      namespace,
      endpoints: [{ host: "127.0.0.1", port: etcd.port }],
    });
    opened.push(client);
    return client;
  };
  const [one, two] = [inside("/one"), inside("/two")];
  const { incarnation, revision } = await one.range("", CALL);
  const heard = record(two, revision);
  const write = { kind: "put", key: `${prefix}a`, value: "1" } as const;
  await one.commit(
    { guards: [{ key: `${prefix}a`, revision: 0 }], writes: [write] },
    { ...CALL, incarnation },
  );
  expect((await one.range(prefix, CALL)).entries).toMatchObject([{ key: `${prefix}a`, value: "1" }]);
  expect((await two.range("", CALL)).entries.map(({ key }) => key)).toEqual(["/keelson-incarnation"]);
  expect(heard.lines).toEqual([]);
  expect(await etcdctl(etcd, "get", `/one${prefix}a`, "--print-value-only")).toBe("1\n");
});

test("what is larger than etcd takes is rejected, and nothing of it applied", async () => {
  const incarnation = await incarnationOf(direct);
  const writes = Array.from(
    { length: 30 },
    (_, n) => ({ kind: "put", key: `${prefix}${n}`, value: "x".repeat(64 * 1024) }) as const,
  );
  await expect(direct.commit({ guards: [], writes }, { ...CALL, incarnation })).rejects.toMatchObject({
    code: "STORE_REJECTED",
    message: expect.stringMatching(/too large/) as string,
  });
  expect((await direct.range(prefix, CALL)).entries).toEqual([]);
});

test("doctor is told how the member is", async () => {
  const status = await direct.status(CALL);
  expect(status).toMatchObject({ errors: [], leaderId: status.header.memberId });
  expect(status.version).toMatch(/^3\.\d+\.\d+$/);
});
