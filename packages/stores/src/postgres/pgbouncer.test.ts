/** The store contract through a real PgBouncer in transaction mode, whose few sessions all clients share: nothing that a call needs may be left in one. */
import type { Store } from "@keelson/kernel";
import { startPgBouncer, startPostgres, type TestServer } from "@keelson/testkit/servers";
import { storeContract, type StoreHarness } from "@keelson/testkit/store-contract";
import { afterAll, beforeAll } from "vitest";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import { PostgresStore } from "./postgres-store.ts";

const SLAB = 150;
const CALL = { timeoutMs: 5_000 };

let server: TestServer;
let pooler: TestServer;

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  server = await startPostgres();
  pooler = await startPgBouncer(server);
}, START_MS);

afterAll(async () => {
  await pooler.stop();
  await server.stop();
});

function connect(schema: string): PostgresStore {
  return new PostgresStore({
    clock,
    random,
    hosts: [{ host: "127.0.0.1", port: pooler.port }],
    user: "postgres",
    database: "postgres",
    schema,
    listen: false,
    log: { slabRevisions: SLAB },
  });
}

/** Makes enough revisions for the log to drop what came before them. */
async function churn(store: Store): Promise<void> {
  const { incarnation } = await store.range("", CALL);
  const commit = { guards: [], writes: [{ kind: "put", key: "/churn", value: "" }] } as const;
  const commits = Array.from({ length: 2 * SLAB }, () => store.commit(commit, { ...CALL, incarnation }));
  await Promise.all(commits);
}

let facts = 0;

const harness = (): Promise<StoreHarness> => {
  facts += 1;
  const schema = `fact${facts}`;
  const [store, second] = [connect(schema), connect(schema)];
  return Promise.resolve({
    store,
    second,
    ttlMs: 800,
    graceMs: 100,
    sleep,
    restart: () => server.restart(),
    forget: () => churn(store),
    close: async () => {
      await Promise.all([store.close(), second.close()]);
    },
  });
};

storeContract("postgres store behind a pooler", harness, ["cutByRestart"]);
