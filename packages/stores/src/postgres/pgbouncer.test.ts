/** The store contract through a real PgBouncer in transaction mode, whose few sessions all clients share: nothing that a call needs may be left in one. */
import type { Store } from "@keelson/kernel";
import { startPgBouncer, startPostgres, type TestServer } from "@keelson/testkit/servers";
import { storeContract, type StoreHarness } from "@keelson/testkit/store-contract";
import { afterAll, beforeAll, expect, test } from "vitest";
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

test("clients that leave while they are answered leave their answers to nobody", async () => {
  const names = ["a", "b", "c", "d"];
  const stores = names.map((name) => connect(`mixed_${name}`));
  const firsts = await Promise.all(stores.map((store) => store.range("", CALL)));
  for (let round = 0; round < 20; round += 1) {
    const leaver = connect("mixed_a");
    await leaver.range("", CALL);
    // Some of them are answered, and the rest fail.
    const asked = Array.from({ length: 20 }, (_, n) => leaver.range(`/${n}`, CALL).catch(() => undefined));
    await sleep(1 + (round % 5));
    await leaver.close();
    await Promise.all(asked);
    const answers = stores.map(async (store, at) => {
      const value = names[at] as string;
      const incarnation = firsts[at]?.incarnation as string;
      const writes = [{ kind: "put", key: `/${round}`, value }] as const;
      await store.commit({ guards: [], writes }, { ...CALL, incarnation });
      const page = await store.range("/", CALL);
      return [page.incarnation === incarnation, ...page.entries.map((entry) => entry.value === value)];
    });
    expect((await Promise.all(answers)).flat()).not.toContain(false);
  }
  await Promise.all(stores.map((store) => store.close()));
}, 60_000);

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
