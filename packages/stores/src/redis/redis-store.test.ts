import type { Store } from "@keelson/kernel";
import { startRedis, type TestServer } from "@keelson/testkit/servers";
import { networkStoreContract, storeContract, type StoreHarness } from "@keelson/testkit/store-contract";
import { afterAll, beforeAll } from "vitest";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import { RedisStore } from "./redis-store.ts";

const SLAB = 150;
const CALL = { timeoutMs: 5_000 };

let redis: TestServer;
let opened = 0;

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  redis = await startRedis();
}, START_MS);

afterAll(() => redis.stop());

function connect(namespace: string, port = redis.port): RedisStore {
  return new RedisStore({ clock, random, host: "127.0.0.1", port, namespace, log: { slabRevisions: SLAB } });
}

/** Makes enough revisions for the log to drop what came before them. */
async function churn(store: Store): Promise<void> {
  const { incarnation } = await store.range("", CALL);
  const commit = { guards: [], writes: [{ kind: "put", key: "/churn", value: "" }] } as const;
  const commits = Array.from({ length: 2 * SLAB }, () => store.commit(commit, { ...CALL, incarnation }));
  await Promise.all(commits);
}

/** Each fact has a namespace for itself. */
// Redis may have lost what it acknowledged, so every process of it is another incarnation.
storeContract(
  "redis store",
  (): Promise<StoreHarness> => {
    opened += 1;
    const [store, second] = [connect(`fact${opened}`), connect(`fact${opened}`)];
    return Promise.resolve({
      store,
      second,
      ttlMs: 400,
      graceMs: 100,
      sleep,
      restart: () => redis.restart(),
      forget: () => churn(store),
      close: async () => {
        await store.close();
        await second.close();
      },
    });
  },
  ["sameAfterRestart"],
);

networkStoreContract("redis store", () => ({
  port: redis.port,
  connect: (port) => connect("network", port),
  forget: churn,
}));
