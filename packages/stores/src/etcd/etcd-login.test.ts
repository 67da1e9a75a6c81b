/** An etcd store that must say who it is: by user and password, and over TLS, on a real etcd. */
import type { Store } from "@keelson/kernel";
import {
  etcdctl,
  makeCertificates,
  startEtcd,
  type TestCertificates,
  type TestServer,
} from "@keelson/testkit/servers";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { clock, random } from "../fixtures/real-clock.ts";
import { openEtcd, parseEtcdUrl } from "./url.ts";

const CALL = { timeoutMs: 5_000 };

/** An etcd that lets nobody in without a password. */
let guarded: TestServer;
let folder: string;
let files: TestCertificates;
const servers: TestServer[] = [];
const stores: Store[] = [];

beforeAll(async () => {
  guarded = await startWithUsers();
  folder = mkdtempSync(join(tmpdir(), "keelson-tls-"));
  files = makeCertificates(folder);
});

afterAll(async () => {
  await guarded.stop();
  rmSync(folder, { recursive: true });
});

afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(options: Parameters<typeof startEtcd>[0] = {}): Promise<TestServer> {
  const server = await startEtcd({ electionMs: 100, ...options });
  servers.push(server);
  return server;
}

function open(rest: string): Store {
  const store = openEtcd(parseEtcdUrl(rest), { clock, random });
  stores.push(store);
  return store;
}

async function put(store: Store, key: string): Promise<string> {
  const { incarnation } = await store.range(key, CALL);
  const writes = [{ kind: "put", key, value: "1" }] as const;
  return (await store.commit({ guards: [], writes }, { ...CALL, incarnation })).kind;
}

/** With a user for the fleet who may do what a fleet needs, and nothing else. */
async function startWithUsers(): Promise<TestServer> {
  // Checking a password is meant to be slow, and would take most of the time of these tests.
  const etcd = await startEtcd({ electionMs: 100, args: ["--bcrypt-cost", "4"] });
  await etcdctl(etcd, "user", "add", "root:r");
  await etcdctl(etcd, "user", "grant-role", "root", "root");
  await etcdctl(etcd, "role", "add", "fleet");
  await etcdctl(etcd, "role", "grant-permission", "fleet", "readwrite", "/keelson", "--prefix");
  await etcdctl(etcd, "user", "add", "keel:p@ss word");
  await etcdctl(etcd, "user", "grant-role", "keel", "fleet");
  await etcdctl(etcd, "auth", "enable");
  return etcd;
}

const root = (...args: string[]): Promise<string> => etcdctl(guarded, "--user", "root:r", ...args);

test("a user whose role covers /keelson may do all that a store does", async () => {
  const store = open(`//keel:p%40ss%20word@127.0.0.1:${guarded.port}`);
  expect(await put(store, "/keelson/f/a")).toBe("committed");
  const { session } = await store.openSession(2_000, CALL);
  expect((await store.renew([session], CALL)).alive).toEqual([session]);
  const { revision } = await store.range("/keelson/f/", CALL);
  const told = new Promise<string>((resolve) => {
    store.watch("/keelson/f/", revision, {
      changes: ({ changes }) => resolve(`${changes.length} changes`),
      relist: resolve,
      closed: resolve,
    });
  });
  await put(store, "/keelson/f/b");
  expect(await told).toBe("1 changes");
  await store.revoke(session, CALL);
});

test("a wrong password is told as one, and not shown", async () => {
  const store = open(`//keel:hush@127.0.0.1:${guarded.port}`);
  const error = await store.range("/keelson/", CALL).catch((reason: unknown) => reason as Error);
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect((error as Error).message).toMatch(/authentication failed, invalid user ID or password/);
  expect((error as Error).message).not.toMatch(/hush/);
});

test("without a user, and where a role does not reach, the error says so and nothing is applied", async () => {
  await expect(open(`//127.0.0.1:${guarded.port}`).range("/keelson/", CALL)).rejects.toThrow(
    /user name is empty/,
  );
  const store = open(`//keel:p%40ss%20word@127.0.0.1:${guarded.port}`);
  const { incarnation } = await store.range("/keelson/", CALL);
  const writes = [{ kind: "put", key: "/elsewhere", value: "1" }] as const;
  await expect(store.commit({ guards: [], writes }, { ...CALL, incarnation })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringMatching(/permission denied/) as string,
  });
  expect(await root("get", "/elsewhere")).toBe("");
});

test("a token that etcd no longer takes is replaced, and the call made again", async () => {
  const store = open(`//keel:p%40ss%20word@127.0.0.1:${guarded.port}`);
  const { session } = await store.openSession(60_000, CALL);
  for (let round = 0; round < 3; round += 1) {
    // A change of the user's roles makes his tokens void.
    await root("role", "add", `extra${round}`);
    await root("user", "grant-role", "keel", `extra${round}`);
    const kinds = await Promise.all(["a", "b", "c"].map((name) => put(store, `/keelson/f/${name}`)));
    expect(kinds).toEqual(["committed", "committed", "committed"]);
  }
  expect((await store.renew([session], CALL)).alive).toEqual([session]);
});

test("over TLS it believes only the authority it was given", async () => {
  const etcd = await start({ tls: files.server });
  expect(await put(open(`//127.0.0.1:${etcd.port}?ca=${files.ca}`), "/keelson/a")).toBe("committed");
  expect(await put(open(`//localhost:${etcd.port}?ca=${files.ca}&servername=localhost`), "/keelson/a")).toBe(
    "committed",
  );
  await expect(open(`//127.0.0.1:${etcd.port}?tls`).range("", CALL)).rejects.toThrow(
    /self-signed|unable to verify|issuer/,
  );
  await expect(open(`//127.0.0.1:${etcd.port}`).range("", { timeoutMs: 1_000 })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
});

test("it shows its own certificate where etcd asks for one", async () => {
  const etcd = await start({ tls: { ...files.server, clientCa: files.ca } });
  const { cert, key } = files.client;
  const known = open(`//127.0.0.1:${etcd.port}?ca=${files.ca}&cert=${cert}&key=${key}`);
  expect(await put(known, "/keelson/a")).toBe("committed");
  const unknown = open(`//127.0.0.1:${etcd.port}?ca=${files.ca}`);
  await expect(unknown.range("", { timeoutMs: 2_000 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});
