import { TcpProxy } from "@keelson/testkit";
import { afterEach, expect, test } from "vitest";
import { WireClient, WireServer, parseAddress } from "@keelson/wire";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import { MemoryStore } from "../memory/memory-store.ts";
import { RemoteStore } from "./remote-store.ts";
import { StoreServer } from "./store-server.ts";

const LOOPBACK = { host: "127.0.0.1", port: 0 };
const call = { timeoutMs: 5_000 };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) {
    // oxlint-disable-next-line no-await-in-loop -- in order: clients before servers.
    await close();
  }
});

async function serve(): Promise<{ memory: MemoryStore; server: StoreServer; incarnation: string }> {
  const memory = new MemoryStore({ clock, random });
  const server = new StoreServer({ store: memory, clock });
  await server.listen(LOOPBACK);
  closers.push(
    () => memory.close(),
    () => server.close({ graceMs: 0 }),
  );
  const { incarnation } = await memory.range("", call);
  return { memory, server, incarnation };
}

function connect(address: string): RemoteStore {
  const store = new RemoteStore({ address, clock, random });
  closers.push(() => store.close());
  return store;
}

async function proxyTo(address: string): Promise<{ proxy: TcpProxy; address: string }> {
  const proxy = await TcpProxy.open(parseAddress(address).port);
  closers.push(() => proxy.close());
  return { proxy, address: `${proxy.host}:${proxy.port}` };
}

const putA = { guards: [], writes: [{ kind: "put", key: "/a", value: "v" }] } as const;

test("where nobody listens, nothing was sent", async () => {
  const { server, incarnation } = await serve();
  const { address } = server;
  await server.close({ graceMs: 0 });
  const store = connect(address);
  const unavailable = { name: "StoreError", code: "STORE_UNAVAILABLE" };
  await expect(store.commit(putA, { ...call, incarnation })).rejects.toMatchObject(unavailable);
  await expect(store.openSession(1000, call)).rejects.toMatchObject(unavailable);
  await expect(store.range("", call)).rejects.toMatchObject(unavailable);
  const ends: string[] = [];
  store.watch("", 0, {
    changes: () => void ends.push("changes"),
    relist: () => void ends.push("relist"),
    closed: () => void ends.push("closed"),
  });
  await sleep(20);
  expect(ends).toEqual(["closed"]);
});

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "answered",
    (error: unknown) => (error as { code: string }).code,
  );

test("a write whose answer is lost is unknown, and may have been carried out; a read is unavailable", async () => {
  const { server, memory, incarnation } = await serve();
  const { proxy, address } = await proxyTo(server.address);
  const store = connect(address);
  await store.range("", call);
  proxy.set({ kind: "swallow" }, "down");
  const lost = { timeoutMs: 100 };
  const codes = await Promise.all([
    code(store.commit(putA, { ...lost, incarnation })),
    code(store.openSession(1000, lost)),
    code(store.renew([], lost)),
    code(store.revoke("x", lost)),
    code(store.range("", lost)),
  ]);
  expect(codes).toEqual([
    "STORE_UNKNOWN",
    "STORE_UNKNOWN",
    "STORE_UNKNOWN",
    "STORE_UNKNOWN",
    "STORE_UNAVAILABLE",
  ]);
  expect((await memory.range("", call)).revision).toBe(1);
});

test("what is under way when a silent connection is left may still be answered there", async () => {
  const { server, incarnation } = await serve();
  const { proxy, address } = await proxyTo(server.address);
  const store = connect(address);
  await store.range("", call);
  proxy.set({ kind: "hold" });
  const patient = store.commit(putA, { ...call, incarnation });
  await expect(store.range("", { timeoutMs: 100 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  proxy.heal();
  expect(await patient).toMatchObject({ kind: "committed" });
});

test("a connection that was silent for a whole call is replaced before the next", async () => {
  const { server, incarnation } = await serve();
  const { proxy, address } = await proxyTo(server.address);
  const store = connect(address);
  const ends: string[] = [];
  store.watch("", 0, {
    changes: () => void ends.push("changes"),
    relist: () => void ends.push("relist"),
    closed: () => void ends.push("closed"),
  });
  await store.range("", call);
  proxy.blackHole();
  const twice = [store.range("", { timeoutMs: 50 }), store.range("", { timeoutMs: 50 })];
  expect(await Promise.all(twice.map(code))).toEqual(["STORE_UNAVAILABLE", "STORE_UNAVAILABLE"]);
  expect(ends).toEqual(["closed"]);
  expect(await code(store.commit(putA, { timeoutMs: 50, incarnation }))).toBe("STORE_UNAVAILABLE");
  expect(proxy.accepted).toBe(2);
  proxy.heal();
  let answer = "";
  for (let tries = 0; tries < 100 && answer !== "answered"; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- until the back-off has passed.
    await sleep(20);
    // oxlint-disable-next-line no-await-in-loop -- the same.
    answer = await code(store.commit(putA, { ...call, incarnation }));
  }
  expect(answer).toBe("answered");
});

test("a call that is slow on a connection that is heard does not cost the connection", async () => {
  const server = new WireServer({ clock, name: "slow" })
    .method("store.revoke", () => sleep(1_000))
    .method("store.range", () => ({
      entries: [],
      more: false,
      revision: 0,
      incarnation: "i",
      serverTimeMs: 0,
    }));
  await server.listen(LOOPBACK);
  closers.push(() => server.close({ graceMs: 0 }));
  const { proxy, address } = await proxyTo(server.address);
  const store = connect(address);
  await store.range("", call);
  const slow = code(store.revoke("x", { timeoutMs: 100 }));
  await store.range("", call);
  expect(await slow).toBe("STORE_UNKNOWN");
  await store.range("", call);
  expect(proxy.accepted).toBe(1);
});

test("a lost connection ends watches as closed, and one that resumes misses nothing", async () => {
  const { server, memory, incarnation } = await serve();
  const { proxy, address } = await proxyTo(server.address);
  const store = connect(address);
  const seen: number[] = [];
  const ends: string[] = [];
  const watch = (): void =>
    void store.watch("/", seen.at(-1) ?? 0, {
      changes: ({ revision }) => void seen.push(revision),
      relist: () => void ends.push("relist"),
      closed: () => void ends.push("closed"),
    });
  watch();
  for (let n = 0; n < 10; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other.
    await memory.commit(putA, { ...call, incarnation });
    // oxlint-disable-next-line no-await-in-loop -- the same.
    await sleep(5);
    if (n === 4) proxy.cut();
    if (n === 6) watch();
  }
  await sleep(50);
  expect(ends).toEqual(["closed"]);
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test("a page of large values comes in pieces that fit", async () => {
  const { server, memory, incarnation } = await serve();
  const value = "x".repeat(64 * 1024);
  const keys = Array.from({ length: 400 }, (_, n) => `/${String(n).padStart(3, "0")}`);
  for (let at = 0; at < 400; at += 100) {
    const writes = keys.slice(at, at + 100).map((key) => ({ kind: "put", key, value }) as const);
    // oxlint-disable-next-line no-await-in-loop -- a hundred at a time.
    await memory.commit({ guards: [], writes }, { ...call, incarnation });
  }
  const store = connect(server.address);
  const seen: string[] = [];
  let pages = 0;
  for (let more = true; more; pages += 1) {
    const after = seen.at(-1);
    // oxlint-disable-next-line no-await-in-loop -- page after page.
    const page = await store.range("/", after === undefined ? call : { ...call, after });
    seen.push(...page.entries.map(({ key }) => key));
    more = page.more;
  }
  expect(seen).toEqual(keys);
  expect(pages).toBeGreaterThan(5);
});

test("a long backlog reaches a watch whole, and many small changes travel together", async () => {
  const { server, memory, incarnation } = await serve();
  await Promise.all(Array.from({ length: 5000 }, () => memory.commit(putA, { ...call, incarnation })));
  const store = connect(server.address);
  const seen: number[] = [];
  const ends: string[] = [];
  store.watch("", 0, {
    changes: ({ revision }) => void seen.push(revision),
    relist: (reason) => void ends.push(reason),
    closed: (reason) => void ends.push(reason),
  });
  for (let waited = 0; waited < 2000 && seen.length < 5000; waited += 5) {
    // oxlint-disable-next-line no-await-in-loop -- until it is there.
    await sleep(5);
  }
  expect(ends).toEqual([]);
  expect(seen).toEqual(Array.from({ length: 5000 }, (_, n) => n + 1));
});

test("an end of a session with more keys than a frame can name makes watches list again", async () => {
  const { server, memory, incarnation } = await serve();
  const { session } = await memory.openSession(60_000, call);
  const tail = "k".repeat(1000);
  const keys = Array.from({ length: 18_000 }, (_, n) => `/${n}/${tail}`);
  for (let at = 0; at < keys.length; at += 100) {
    const writes = keys.slice(at, at + 100).map((key) => ({ kind: "put", key, value: "", session }) as const);
    // oxlint-disable-next-line no-await-in-loop -- a hundred at a time.
    await memory.commit({ guards: [], writes }, { ...call, incarnation });
  }
  const store = connect(server.address);
  const { revision } = await store.range("/none", call);
  const ends: string[] = [];
  store.watch("", revision, {
    changes: () => void ends.push("changes"),
    relist: (reason) => void ends.push(reason),
    closed: (reason) => void ends.push(reason),
  });
  await sleep(10);
  await memory.revoke(session, call);
  for (let waited = 0; waited < 2000 && ends.length === 0; waited += 5) {
    // oxlint-disable-next-line no-await-in-loop -- until it is told.
    await sleep(5);
  }
  expect(ends).toEqual(["a batch of changes is too large to send"]);
});

test("a watch that is closed by its reader is closed on the server too", async () => {
  const { server, memory, incarnation } = await serve();
  let watching = 0;
  const watch = memory.watch.bind(memory);
  memory.watch = (...args) => {
    watching += 1;
    const inner = watch(...args);
    return {
      close: () => {
        watching -= 1;
        inner.close();
      },
    };
  };
  const store = connect(server.address);
  const silent = { changes: () => {}, relist: () => {}, closed: () => {} };
  const first = store.watch("/", 0, silent);
  store.watch("/", 0, silent);
  await store.commit(putA, { ...call, incarnation });
  await sleep(10);
  expect(watching).toBe(2);
  first.close();
  await sleep(20);
  expect(watching).toBe(1);
  await store.close();
  await sleep(20);
  expect(watching).toBe(0);
});

test("a server that is no store says so, and one that cannot listen too", async () => {
  const other = new WireServer({ clock, name: "other" });
  await other.listen(LOOPBACK);
  closers.push(() => other.close({ graceMs: 0 }));
  await expect(connect(other.address).range("", call)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: `${other.address} does not serve a store: name the address of one`,
  });
  const { memory } = await serve();
  const second = new StoreServer({ store: memory, clock });
  await expect(second.listen(parseAddress(other.address))).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("EADDRINUSE") as unknown,
  });
});

test.each([
  ["store.range", { prefix: 1 }, "prefix must be a text"],
  ["store.commit", "x", "body must be an object"],
  ["store.commit", { guards: {}, writes: [], incarnation: "i" }, "guards must be a list"],
  [
    "store.commit",
    { guards: [], writes: [{ kind: "drop", key: "a" }], incarnation: "i" },
    "kind must be put or delete",
  ],
  [
    "store.commit",
    { guards: [{ key: "a", revision: "1" }], writes: [], incarnation: "i" },
    "revision must be a number",
  ],
  ["store.renew", { sessions: [1] }, "session must be a text"],
])("%s of %j is refused by name", async (method, body, message) => {
  const { server } = await serve();
  const client = new WireClient(server.address, { clock, random, name: "hostile" });
  closers.push(() => client.close());
  await expect(client.call(method, body, call)).rejects.toMatchObject({ code: "BAD_REQUEST", message });
});
