/** The catalogue of repositories as an operator reads it with SQL. What the code service itself writes there is seen in e2e/src/stores/catalogue.test.ts. */
import type { Revision, Store, Write } from "@keelson/kernel";
import { startPostgres, type TestServer } from "@keelson/testkit/servers";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { clock, random } from "../../fixtures/real-clock.ts";
import { PostgresStore } from "../postgres-store.ts";
import { migration } from "./migrations.ts";

const CALL = { timeoutMs: 5_000 };

let server: TestServer;
let admin: postgres.Sql;
let tests = 0;
let schema: string;
const opened: PostgresStore[] = [];

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  server = await startPostgres();
  admin = postgres(server.url, { max: 1, onnotice: () => {} });
}, START_MS);

afterAll(async () => {
  await admin.end();
  await server.stop();
});

beforeEach(() => {
  tests += 1;
  schema = `test${tests}`;
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

function open(): PostgresStore {
  const hosts = [{ host: "127.0.0.1", port: server.port }];
  const client = new PostgresStore({ clock, random, hosts, user: "postgres", database: "postgres", schema });
  opened.push(client);
  return client;
}

async function commit(client: Store, ...writes: Write[]): Promise<Revision> {
  const { incarnation } = await client.range("", CALL);
  const outcome = await client.commit({ guards: [], writes }, { ...CALL, incarnation });
  if (outcome.kind !== "committed") throw new Error(`it was ${outcome.kind}`);
  return outcome.revision;
}

const put = (key: string, value: unknown, session?: string): Write => ({
  kind: "put",
  key,
  value: JSON.stringify(value),
  session,
});

const indexed = (node: string, commit: string, at: number): object => ({
  v: 1,
  node,
  heads: commit === "" ? [] : [{ branch: "main", commit }],
  indexedAt: at,
  memoryBytes: at === 0 ? 0 : 5_000,
});
const catalogue = (): Promise<postgres.RowList<postgres.Row[]>> =>
  admin`select * from ${admin(schema)}.catalogue order by fleet, repo_id, replica`;
const at = Date.UTC(2026, 0, 1);

test("has a row for each replica of each repository, held or not, and none for the shard that edits it", async () => {
  const store = open();
  const { session } = await store.openSession(60_000, CALL);
  const tenure = { v: 1, node: "node-a", session };
  const of = (fleet: string, key: string): string => `/keelson/${fleet}/catalogue/code/${key}`;
  await commit(
    store,
    put(of("main", "head"), { v: 1, n: 1, replicas: 2 }),
    put(of("main", "repo/7"), { v: 1, name: "acme/seven", state: "active", reason: "added" }),
    put(of("main", "repo/8"), { v: 1, name: "acme/eight", state: "resting", reason: "made room" }),
    put(of("main", "size/8"), { v: 1, bytes: 70 }),
    put("/keelson/main/tenure/code/7/1", tenure, session),
    put("/keelson/main/tenure/code/catalogue/0", tenure, session),
    put("/keelson/main/auction/code/footprint/7", { v: 1, bytes: 4096 }),
    put("/keelson/main/tenure/logs/other/0", tenure, session),
    put("/keelson/next/contender/code/a%2Fb%20%C3%A9/0/node-a", { v: 1, phase: "preparing" }, session),
  );
  const rows = await catalogue();
  expect(Object.keys(rows[0] ?? {})).toEqual(
    "repo_id owner_id lease_expires commit_hash ready last_indexed_at size_bytes fleet replica name state reason".split(
      " ",
    ),
  );
  const nothing = { commit_hash: null, ready: false, last_indexed_at: null };
  const free = { owner_id: null, lease_expires: null };
  const seven = { repo_id: "7", fleet: "main", name: "acme/seven", state: "active", size_bytes: "4096" };
  const eight = { repo_id: "8", fleet: "main", name: "acme/eight", state: "resting", size_bytes: "70" };
  expect(rows).toMatchObject([
    { ...seven, replica: 0, ...free, ...nothing },
    { ...seven, replica: 1, owner_id: "node-a", ...nothing },
    { ...eight, replica: 0, ...free, ...nothing, reason: "made room" },
    { ...eight, replica: 1, ...free, ...nothing },
    { repo_id: "a/b é", fleet: "next", replica: 0, name: null, size_bytes: null, ...free, ...nothing },
  ]);
  const [lease] = await admin`select lease_expires - clock_timestamp() between '0 s' and '60 s' as running
    from ${admin(schema)}.catalogue where owner_id is not null`;
  expect(lease).toEqual({ running: true });
});

test("calls ready what its present holder has indexed, and no other's work", async () => {
  const store = open();
  const { session } = await store.openSession(60_000, CALL);
  const tenure = (node: string): Write =>
    put("/keelson/main/tenure/code/7/0", { v: 1, node, session }, session);
  const record = (...args: Parameters<typeof indexed>): Write =>
    put("/keelson/main/catalogue/code/indexed/7/0", indexed(...args));
  const row = async (): Promise<unknown> => {
    const [found] = await catalogue();
    return [found?.["owner_id"], found?.["ready"], found?.["commit_hash"]];
  };
  await commit(store, put("/keelson/main/catalogue/code/repo/7", { v: 1, name: "seven" }), tenure("a"));
  expect(await row()).toEqual(["a", false, null]);
  // It is held, and could not be fetched.
  await commit(store, record("a", "", 0));
  expect(await row()).toEqual(["a", false, null]);
  await commit(store, record("a", "c1", at));
  expect(await row()).toEqual(["a", true, "c1"]);
  expect((await catalogue())[0]).toMatchObject({ last_indexed_at: new Date(at), size_bytes: "5000" });
  // The same node may hold it again and not have it: a record is good for one tenure.
  await commit(store, tenure("a"));
  expect(await row()).toEqual(["a", false, "c1"]);
  await commit(store, tenure("b"));
  await commit(store, record("b", "c2", at));
  expect(await row()).toEqual(["b", true, "c2"]);
  // Nobody has swept yet: the lease has run out all the same.
  await admin`update ${admin(schema)}.sessions set deadline = clock_timestamp() - interval '1 s'`;
  expect(await row()).toEqual(["b", false, "c2"]);
  await store.revoke(session, CALL);
  expect(await row()).toEqual([null, false, "c2"]);
});

test("is in a schema that an earlier release made, beside what was in it", async () => {
  await admin.unsafe(migration(schema, { slabRevisions: 9, slabBytes: 9 }, 1));
  await admin.unsafe(`create view ${schema}.mine as select repo_id, ready from ${schema}.catalogue`);
  expect(await admin`select version from ${admin(schema)}.migrations`).toHaveLength(1);
  await commit(open(), put("/keelson/main/catalogue/code/repo/7", { v: 1, name: "seven" }));
  expect(await admin`select * from ${admin(schema)}.mine`).toEqual([{ repo_id: "7", ready: false }]);
  expect(
    await admin`select max(version) as at, max(oldest) as oldest from ${admin(schema)}.migrations`,
  ).toEqual([{ at: 2, oldest: 1 }]);
});
