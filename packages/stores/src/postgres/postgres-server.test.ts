/** A Postgres store and the Postgres it is on: what an operator sees there, and what happens when that is locked, replaced, not permitted, or not what it should be. */
import type { Revision, Store, WatchSink, Write } from "@keelson/kernel";
import { makeCertificates, startPostgres, type TestServer } from "@keelson/testkit/servers";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import type { PostgresStoreOptions } from "./options.ts";
import { PostgresStore } from "./postgres-store.ts";
import { SCHEMA_VERSION } from "./schema/migrations.ts";

const CALL = { timeoutMs: 5_000 };
const HOST = "127.0.0.1";

let server: TestServer;
let folder: string;
let ca: string;
let admin: postgres.Sql;
let tests = 0;
let schema: string;
const opened: PostgresStore[] = [];

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-postgres-tls-"));
  const file = (name: string): string => join(folder, name);
  const made = makeCertificates(folder);
  const { cert, key } = made.server;
  ca = readFileSync(made.ca, "utf8");
  writeFileSync(
    file("hba.conf"),
    "host all guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n",
  );
  for (const path of [folder, file("hba.conf"), cert, key]) give(path);
  server = await startPostgres({
    settings: {
      hba_file: file("hba.conf"),
      ssl: "on",
      ssl_cert_file: cert,
      ssl_key_file: key,
      // A server may be set up in ways that would be wrong for us.
      default_transaction_isolation: "serializable",
      default_transaction_read_only: "on",
      synchronous_commit: "off",
    },
  });
  admin = postgres(server.url, {
    max: 1,
    onnotice: () => {},
    connection: { options: "-c default_transaction_read_only=off" },
  });
}, START_MS);

afterAll(async () => {
  await admin.end();
  await server.stop();
  rmSync(folder, { recursive: true });
});

beforeEach(() => {
  tests += 1;
  schema = `test${tests}`;
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

/** Postgres runs as another user when we are root, and wants its key for itself. */
function give(path: string): void {
  chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o600);
  if (process.getuid?.() !== 0) return;
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  chownSync(path, id("-u"), id("-g"));
}

function open(options: Partial<PostgresStoreOptions> = {}): PostgresStore {
  const client = new PostgresStore({
    clock,
    random,
    hosts: [{ host: HOST, port: server.port }],
    user: "postgres",
    database: "postgres",
    schema,
    ...options,
  });
  opened.push(client);
  return client;
}

async function commit(client: Store, ...writes: Write[]): Promise<Revision> {
  const { incarnation } = await client.range("", CALL);
  const outcome = await client.commit({ guards: [], writes }, { ...CALL, incarnation });
  if (outcome.kind !== "committed") throw new Error(`it was ${outcome.kind}`);
  return outcome.revision;
}

const put = (key: string, value: unknown = "v", session?: string): Write => ({
  kind: "put",
  key,
  value: typeof value === "string" ? value : JSON.stringify(value),
  session,
});

const names = async (client: Store): Promise<string[]> =>
  (await client.range("", CALL)).entries.map((entry) => entry.key);

const says = (call: Promise<unknown>): Promise<unknown> =>
  call.then(() => "nothing").catch((error: unknown) => error);

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
      changes: ({ changes }) =>
        void told.push(...changes.map((each) => (each.kind === "put" ? each.entry.key : `-${each.key}`))),
      relist: () => void told.push("relist"),
      closed: () => void told.push("closed"),
    },
  };
}

test("many that start at once make one schema, and all work in it", async () => {
  const clients = Array.from({ length: 6 }, () => open());
  await Promise.all(clients.map((client, n) => commit(client, put(`${n}`))));
  expect(await names(clients[0] as PostgresStore)).toEqual(["0", "1", "2", "3", "4", "5"]);
  expect(await admin`select version from ${admin(schema)}.migrations`).toHaveLength(SCHEMA_VERSION);
});

test("commits that wait for the disk together are one transaction", async () => {
  const store = open();
  await commit(store, put("first"));
  const { incarnation } = await store.range("", CALL);
  const commits = Array.from({ length: 64 }, (_, n) =>
    store.commit(
      { guards: [{ key: "k", revision: 0 }], writes: [put(`${n}`), put("k")] },
      { ...CALL, incarnation },
    ),
  );
  const kinds = (await Promise.all(commits)).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "committed")).toHaveLength(1);
  const more = Array.from({ length: 64 }, (_, n) =>
    store.commit({ guards: [], writes: [put(`many${n}`)] }, { ...CALL, incarnation }),
  );
  const revisions = (await Promise.all(more)).map(({ revision }) => revision);
  expect(new Set(revisions).size).toBe(64);
  const [counted] = await admin<{ transactions: number }[]>`
    select count(distinct xmin::text)::int as transactions from ${admin(schema)}.entries where key like 'many%'`;
  expect(counted?.transactions).toBeLessThan(4);
});

test("commits of many clients at once take revisions without gaps, and a watch is told them in order", async () => {
  const clients = Array.from({ length: 4 }, () => open());
  const { incarnation } = await open().range("", CALL);
  await Promise.all(clients.map((client) => client.range("", CALL)));
  const told: Revision[] = [];
  clients[0]?.watch("", 0, {
    changes: ({ revision }) => void told.push(revision),
    relist: () => void told.push(-1),
    closed: () => void told.push(-2),
  });
  const run = async (client: PostgresStore, name: number): Promise<void> => {
    for (let n = 0; n < 25; n += 1) {
      const outcome = await client.commit(
        { guards: [], writes: [put(`${name}/${n}`)] },
        { ...CALL, incarnation },
      );
      expect(outcome.kind).toBe("committed");
    }
  };
  await Promise.all(clients.map(run));
  await until("all are told", () => told.length >= 100);
  expect(told).toEqual(Array.from({ length: 100 }, (_, n) => n + 1));
});

test("while somebody holds the lock commits end in time as not done, and renewals go on", async () => {
  const store = open();
  const { session } = await store.openSession(60_000, CALL);
  await commit(store, put("a"));
  const { incarnation } = await store.range("", CALL);
  await admin.begin(async (sql) => {
    await sql`select * from ${sql(schema)}.store for update`;
    const late = store.commit({ guards: [], writes: [put("late")] }, { timeoutMs: 1_200, incarnation });
    await expect(late).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect((await store.renew([session], CALL)).alive).toEqual([session]);
    expect(await names(store)).toEqual(["a"]);
  });
  await sleep(50);
  expect(await names(store)).toEqual(["a"]);
  expect(await commit(store, put("b"))).toBe(2);
});

test("a schema that was dropped is made anew, as another incarnation", async () => {
  const store = open();
  const revision = await commit(store, put("a"));
  const { incarnation } = await store.range("", CALL);
  const { told, sink } = listener();
  store.watch("", revision, sink);
  await sleep(50);
  await admin`drop schema ${admin(schema)} cascade`;
  expect(await names(store)).toEqual([]);
  expect((await store.range("", CALL)).incarnation).not.toBe(incarnation);
  expect(told).toEqual(["relist"]);
  const outcome = await store.commit({ guards: [], writes: [put("late")] }, { ...CALL, incarnation });
  expect(outcome.kind).toBe("incarnation");
});

test("another server with the same data is another incarnation, and the same one started again is not", async () => {
  const store = open();
  const { session } = await store.openSession(60_000, CALL);
  await commit(store, put("a", "v", session));
  const before = await store.range("", CALL);
  const past = new Date(0);
  await admin`update ${admin(schema)}.store set started = ${past}`;
  await admin`update ${admin(schema)}.sessions set deadline = ${past}`;
  expect(await store.range("", CALL)).toMatchObject({
    entries: before.entries,
    incarnation: before.incarnation,
  });
  await admin`update ${admin(schema)}.store set started = ${past}, identity = 'the system and timeline of another'`;
  const after = await store.range("", CALL);
  expect(after).toMatchObject({ entries: before.entries, revision: before.revision });
  expect(after.incarnation).not.toBe(before.incarnation);
  expect((await store.renew([session], CALL)).alive).toEqual([session]);
});

test("a server that may not say which it is counts as another one whenever it was started", async () => {
  await admin.unsafe("revoke execute on function pg_control_system() from public");
  await admin.unsafe(`create role plain login; grant create on database postgres to plain`);
  const store = open({ user: "plain" });
  await commit(store, put("a"));
  const before = await store.range("", CALL);
  await admin`update ${admin(schema)}.store set started = ${new Date(0)}`;
  expect((await store.range("", CALL)).incarnation).not.toBe(before.incarnation);
  expect((await store.range("", CALL)).entries).toEqual(before.entries);
});

test("a clock that was set back does not let sessions outlive their TTL", async () => {
  const store = open();
  const { session } = await store.openSession(300, CALL);
  await commit(store, put("a", "v", session));
  await admin`update ${admin(schema)}.sessions set deadline = clock_timestamp() + interval '1 hour'`;
  expect(await names(store)).toEqual(["a"]);
  await sleep(400);
  expect(await names(store)).toEqual([]);
});

test("watches work without notifications, told so or finding out, as behind a pooler", async () => {
  const [writer, deaf, hopeful] = [open(), open({ listen: false }), open()];
  const revision = await commit(writer, put("a"));
  const body =
    "begin update store set revision = _now.revision, log_mark = _now.log_mark, log_bytes = _now.log_bytes; end";
  await admin.unsafe(`create or replace function ${schema}.keep(_now ${schema}.state) returns void language plpgsql
    set search_path = ${schema} as $$ ${body} $$`);
  const heard = [deaf, hopeful].map((client) => {
    const { told, sink } = listener();
    client.watch("", revision, sink);
    return told;
  });
  await sleep(100);
  await commit(writer, put("b"));
  await until("both are told", () => heard.every((told) => told.includes("b")));
  const from = clock.now();
  await commit(writer, put("c"));
  await until("both are told", () => heard.every((told) => told.includes("c")));
  expect(clock.now() - from).toBeLessThan(1_500);
});

test("a schema of a newer release is refused, unless it says that we can use it", async () => {
  await commit(open(), put("a"));
  await admin`insert into ${admin(schema)}.migrations (version, oldest) values (99, 1)`;
  expect(await names(open())).toEqual(["a"]);
  await admin`update ${admin(schema)}.migrations set oldest = 99 where version = 99`;
  expect(await says(open().range("", CALL))).toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining(`schema ${schema} was made by a newer release`) as string,
  });
});

test("of several hosts the one that answers is used", async () => {
  const hosts = [
    { host: HOST, port: 1 },
    { host: HOST, port: server.port },
  ];
  expect(await commit(open({ hosts }), put("a"))).toBe(1);
  expect(await says(open({ hosts: hosts.slice(0, 1) }).range("", CALL))).toMatchObject({
    message: `postgres ${HOST}:1: nothing listens there: check the address, and that Postgres runs`,
  });
});

test("users and passwords are told from wrong ones, and no message shows a password", async () => {
  await admin.unsafe(
    "create role guarded login password 'hush&secret'; grant create on database postgres to guarded",
  );
  await commit(open({ user: "guarded", password: "hush&secret" }), put("a"));
  const error = (await says(open({ user: "guarded", password: "hush&wrong" }).range("", CALL))) as Error;
  expect(error.message).toContain("the user name or the password is wrong");
  expect(error.message).not.toContain("hush");
  await admin.unsafe("create role powerless login");
  expect(await says(open({ user: "powerless", schema: "nowhere" }).range("", CALL))).toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringContaining("the user may not do this") as string,
  });
  expect(await says(open({ database: "nonesuch" }).range("", CALL))).toMatchObject({
    message: expect.stringContaining("there is no database of that name") as string,
  });
});

test("TLS is spoken, and a certificate that is not trusted or of another name is refused", async () => {
  const client = open({ tls: { ca, servername: "localhost" } });
  await commit(client, put("a"));
  const [counted] = await admin<{ count: number }[]>`
    select count(*)::int as count from pg_stat_ssl join pg_stat_activity using (pid) where ssl and application_name = 'keelson'`;
  expect(counted?.count).toBeGreaterThan(0);
  await commit(open({ tls: { verify: false } }), put("b"));
  const message = async (tls: PostgresStoreOptions["tls"]): Promise<string> =>
    ((await says(open({ tls }).range("", CALL))) as Error).message;
  expect(await message({ servername: "localhost" })).toMatch(/not one that we trust/);
  expect(await message({ ca, servername: "a.test" })).toMatch(/another host name/);
});

test("what Postgres cannot keep is rejected before anything is sent", async () => {
  const store = open();
  const rejected = { code: "STORE_REJECTED" };
  const { incarnation } = await store.range("", CALL);
  const zero = { guards: [], writes: [put("a", "\0")] };
  await expect(store.commit(zero, { ...CALL, incarnation })).rejects.toMatchObject(rejected);
  await expect(store.range("\0", CALL)).rejects.toMatchObject(rejected);
  expect(() => open({ schema: 'a"b' })).toThrow(RangeError);
});
