/** A Redis store and the Redis it is on: what it asks of it, and what happens when that is emptied, full, replaced, or not what it should be. */
import type { Revision, Store, WatchSink } from "@keelson/kernel";
import { makeCertificates, startRedis, type TestServer } from "@keelson/testkit/servers";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import { RedisConnection } from "./connection.ts";
import type { RedisStoreOptions } from "./options.ts";
import { RedisStore } from "./redis-store.ts";

const CALL = { timeoutMs: 5_000 };
const HOST = "127.0.0.1";

let redis: TestServer;
let tlsPort: number;
let folder: string;
let ca: string;
let tests = 0;
let store: RedisStore;
let admin: RedisConnection;
const opened: RedisStore[] = [];

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-redis-tls-"));
  const made = makeCertificates(folder);
  const { cert, key } = made.server;
  ca = readFileSync(made.ca, "utf8");
  tlsPort = await freePort();
  const tls = ["--tls-port", `${tlsPort}`, "--tls-cert-file", cert, "--tls-key-file", key];
  redis = await startRedis({ args: [...tls, "--tls-ca-cert-file", made.ca, "--tls-auth-clients", "no"] });
}, START_MS);

afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true });
});

beforeEach(async () => {
  tests += 1;
  store = open();
  admin = await RedisConnection.open({ clock, random, host: HOST, port: redis.port }, 5_000, () => {});
});

afterEach(async () => {
  admin.close();
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

function open(options: Partial<RedisStoreOptions> = {}): RedisStore {
  const client = new RedisStore({
    clock,
    random,
    host: HOST,
    port: redis.port,
    namespace: `test${tests}`,
    ...options,
  });
  opened.push(client);
  return client;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await new Promise((resolve) => {
    server.once("listening", resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

const say = (...command: string[]): Promise<unknown> => admin.send(command, 5_000);
const key = (part: string): string => `{test${tests}}:${part}`;

async function put(client: Store, name: string, session?: string): Promise<Revision> {
  const { incarnation } = await client.range("", CALL);
  const write = { kind: "put", key: name, value: "v", session } as const;
  const outcome = await client.commit({ guards: [], writes: [write] }, { ...CALL, incarnation });
  if (outcome.kind !== "committed") throw new Error(`it was ${outcome.kind}`);
  return outcome.revision;
}

const names = async (client: Store): Promise<string[]> =>
  (await client.range("", CALL)).entries.map((entry) => entry.key);

async function until(what: string, holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 5) {
    if (waited > 5_000) throw new Error(`not in time: ${what}`);
    await sleep(5);
  }
}

function listener(): { told: string[]; sink: WatchSink } {
  const told: string[] = [];
  return {
    told,
    sink: {
      changes: ({ changes }) => void told.push(`${changes.length} changes`),
      relist: () => void told.push("relist"),
      closed: () => void told.push("closed"),
    },
  };
}

test("what is stored can be read with redis-cli", async () => {
  const { session } = await store.openSession(60_000, CALL);
  await put(store, "/keelson/main/fleet/era");
  await put(store, "/keelson/main/tenure/a", session);
  expect(await say("HGET", key("entries"), "/keelson/main/fleet/era")).toBe("1 - v");
  expect(await say("HGET", key("entries"), "/keelson/main/tenure/a")).toBe(`2 ${session} v`);
  expect(await say("ZRANGE", key("index"), "0", "-1")).toEqual([
    "/keelson/main/fleet/era",
    "/keelson/main/tenure/a",
  ]);
  expect(await say("HGET", key("ttls"), session)).toBe("60000");
  const { incarnation } = await store.range("", CALL);
  expect(await say("XRANGE", key("log"), "2", "2")).toEqual([
    ["2-0", ["incarnation", incarnation, "+/keelson/main/tenure/a", `${session} v`]],
  ]);
});

test("a Redis that was emptied is another incarnation, and watches must list again", async () => {
  const revision = await put(store, "a");
  const before = await store.range("", CALL);
  const { told, sink } = listener();
  store.watch("", revision, sink);
  await sleep(20);
  await say("FLUSHALL");
  const late = { guards: [], writes: [{ kind: "put", key: "late", value: "" }] } as const;
  const outcome = await store.commit(late, { ...CALL, incarnation: before.incarnation });
  expect(outcome.kind).toBe("incarnation");
  await until("the watch ends", () => told.length > 0);
  expect([told, await names(store)]).toEqual([["relist"], []]);
  expect((await store.range("", CALL)).incarnation).not.toBe(before.incarnation);
});

test.each(["meta", "index", "bound", "sessions"])(
  "a store whose %s was deleted or evicted is whole again, as another incarnation",
  async (part) => {
    const { session } = await store.openSession(60_000, CALL);
    await put(store, "free");
    const revision = await put(store, "bound", session);
    const before = await store.range("", CALL);
    await say("DEL", key(part));
    const page = await store.range("", CALL);
    expect(page.entries).toEqual(before.entries);
    expect(page.incarnation).not.toBe(before.incarnation);
    expect(await put(store, "more")).toBe(revision + 1);
    expect((await store.renew([session], CALL)).alive).toEqual([session]);
    await store.revoke(session, CALL);
    expect(await names(store)).toEqual(["free", "more"]);
  },
);

test("keys of sessions that were deleted or evicted go, as another incarnation", async () => {
  const { session } = await store.openSession(60_000, CALL);
  await put(store, "free");
  await put(store, "bound", session);
  const { incarnation } = await store.range("", CALL);
  await say("DEL", key("ttls"));
  expect(await names(store)).toEqual(["free"]);
  expect((await store.range("", CALL)).incarnation).not.toBe(incarnation);
  expect((await store.renew([session], CALL)).gone).toEqual([session]);
});

test("a Redis that forgot its scripts is given them again", async () => {
  await put(store, "a");
  await say("SCRIPT", "FLUSH");
  expect(await put(store, "b")).toBe(2);
});

test("a full Redis refuses writes as not done, and still renews, ends sessions and reads", async () => {
  const { session } = await store.openSession(60_000, CALL);
  await put(store, "a", session);
  await say("CONFIG", "SET", "maxmemory", "1");
  try {
    await expect(put(store, "b")).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: `redis ${HOST}:${redis.port}: it is out of memory: raise maxmemory`,
    });
    expect((await store.renew([session], CALL)).alive).toEqual([session]);
    await store.revoke(session, CALL);
    expect(await names(store)).toEqual([]);
  } finally {
    await say("CONFIG", "SET", "maxmemory", "0");
  }
});

test("a clock that was set back does not let sessions outlive their TTL", async () => {
  const { session } = await store.openSession(300, CALL);
  await put(store, "a", session);
  const hourAhead = `${Date.now() + 3_600_000}`;
  await say("HSET", key("meta"), "time", hourAhead);
  await say("ZADD", key("sessions"), hourAhead, session);
  expect(await names(store)).toEqual(["a"]);
  await sleep(350);
  expect(await names(store)).toEqual([]);
});

test("a session with more keys than Lua's stack takes ends in one batch", async () => {
  const { session, incarnation } = await store.openSession(60_000, CALL);
  const commits = Array.from({ length: 90 }, (_, at) => ({
    guards: [],
    writes: Array.from(
      { length: 100 },
      (__, n) => ({ kind: "put", key: `${at}/${n}`, value: "", session }) as const,
    ),
  }));
  await Promise.all(commits.map((commit) => store.commit(commit, { ...CALL, incarnation })));
  const { told, sink } = listener();
  store.watch("", 90, sink);
  await store.revoke(session, CALL);
  await until("the batch arrives", () => told.length > 0);
  expect([told, await names(store)]).toEqual([["9000 changes"], []]);
});

test("a log of large values is trimmed by its bytes", async () => {
  const client = open({ log: { slabBytes: 100_000 } });
  const { incarnation } = await client.range("", CALL);
  const large = { guards: [], writes: [{ kind: "put", key: "a", value: "x".repeat(30_000) }] } as const;
  for (let n = 0; n < 12; n += 1) await client.commit(large, { ...CALL, incarnation });
  expect(Number(await say("XLEN", key("log")))).toBeLessThan(8);
  expect(Number(await say("XLEN", key("log")))).toBeGreaterThanOrEqual(4);
});

test("namespaces and databases of one Redis know nothing of each other", async () => {
  const [other, second] = [open({ namespace: `other${tests}` }), open({ database: 1 })];
  await put(store, "a");
  await put(store, "b");
  await put(other, "c");
  expect([await names(store), await names(other), await names(second)]).toEqual([["a", "b"], ["c"], []]);
  expect(await put(other, "d")).toBe(2);
});

test("users and passwords are told from wrong ones, and no message shows a password", async () => {
  await say("ACL", "SETUSER", "fleet", "on", ">hush&secret", "~{test*", "+@all");
  await put(open({ user: "fleet", password: "hush&secret" }), "a");
  const wrong = open({ user: "fleet", password: "hush&wrong" });
  await expect(wrong.range("", CALL)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: `redis ${HOST}:${redis.port}: the user name or the password is wrong`,
  });
  const elsewhere = open({ user: "fleet", password: "hush&secret", namespace: "elsewhere" });
  await expect(elsewhere.range("", CALL)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("the user may not do this") as string,
  });
});

test("TLS is spoken, and a certificate that is not trusted or of another name is refused", async () => {
  await put(open({ port: tlsPort, tls: { ca, servername: "localhost" } }), "a");
  const says = async (client: RedisStore): Promise<string> =>
    client.range("", { timeoutMs: 500 }).then(
      () => "nothing",
      (error: unknown) => (error as Error).message,
    );
  expect(await says(open({ port: tlsPort, tls: { servername: "localhost" } }))).toMatch(
    /not one that we trust/,
  );
  expect(await says(open({ port: tlsPort, tls: { ca, servername: "a.test" } }))).toMatch(/another host name/);
  expect(await says(open({ tls: { ca } }))).toMatch(/that it speaks TLS there/);
  expect(await says(open({ port: tlsPort }))).toMatch(/whether it wants TLS|check the address/);
});

test("a replica is refused, and so is a Redis that may evict our keys", async () => {
  const says = async (): Promise<unknown> =>
    open()
      .range("", CALL)
      .catch((error: unknown) => error);
  await say("CONFIG", "SET", "maxmemory", "1gb", "maxmemory-policy", "allkeys-lru");
  expect(await says()).toMatchObject({ message: expect.stringContaining("set it to noeviction") as string });
  await say("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction");
  await put(store, "a");
  await say("REPLICAOF", HOST, "1");
  const refused = {
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("it is a replica") as string,
  };
  try {
    expect(await says()).toMatchObject(refused);
    await expect(put(store, "b")).rejects.toMatchObject(refused);
  } finally {
    await say("REPLICAOF", "NO", "ONE");
  }
});

test("a Redis that kept nothing is another incarnation after its restart", async () => {
  const forgetful = await startRedis({ appendOnly: "no" });
  try {
    const client = open({ port: forgetful.port });
    await put(client, "a");
    const { incarnation } = await client.range("", CALL);
    await forgetful.kill("SIGKILL");
    await forgetful.restart();
    const page = await client.range("", CALL);
    expect(page.entries).toEqual([]);
    expect(page.incarnation).not.toBe(incarnation);
  } finally {
    await forgetful.stop();
  }
});
