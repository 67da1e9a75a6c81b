import type { Store, Watch } from "@keelson/kernel";
import { startPostgres, type TestServer } from "@keelson/testkit/servers";
import { networkStoreContract, storeContract, type StoreHarness } from "@keelson/testkit/store-contract";
import { afterAll, beforeAll } from "vitest";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import { PostgresStore } from "./postgres-store.ts";

const SLAB = 150;
const CALL = { timeoutMs: 5_000 };

let server: TestServer;
let first: PostgresStore;

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  server = await startPostgres();
  first = connect();
}, START_MS);

afterAll(async () => {
  await first.close();
  await server.stop();
});

function connect(port = server.port, schema = "keelson"): PostgresStore {
  return new PostgresStore({
    clock,
    random,
    hosts: [{ host: "127.0.0.1", port }],
    user: "postgres",
    database: "postgres",
    schema,
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

/** What a fact leaves behind is ended with it: it would end by itself, and take a revision, in the middle of another fact. */
function tracked(client: PostgresStore, watches: Watch[], sessions: string[]): Store {
  return {
    range: (prefix, options) => client.range(prefix, options),
    commit: (commit, options) => client.commit(commit, options),
    renew: (ids, options) => client.renew(ids, options),
    revoke: (session, options) => client.revoke(session, options),
    openSession: async (ttlMs, options) => {
      const opened = await client.openSession(ttlMs, options);
      sessions.push(opened.session);
      return opened;
    },
    watch: (prefix, after, sink) => {
      const watch = client.watch(prefix, after, sink);
      watches.push(watch);
      return watch;
    },
    close: () => client.close(),
  };
}

storeContract("postgres store", (): Promise<StoreHarness> => {
  const watches: Watch[] = [];
  const sessions: string[] = [];
  const second = connect();
  // Connections are dear, so all facts share their first client.
  return Promise.resolve({
    store: tracked(first, watches, sessions),
    second: tracked(second, watches, sessions),
    ttlMs: 800,
    graceMs: 100,
    sleep,
    restart: () => server.restart(),
    forget: () => churn(first),
    close: async () => {
      for (const watch of watches) watch.close();
      await second.close();
      await Promise.all(sessions.map((session) => first.revoke(session, CALL)));
    },
  });
});

networkStoreContract("postgres store", () => ({
  port: server.port,
  connect: (port) => connect(port, "network"),
  forget: churn,
}));
