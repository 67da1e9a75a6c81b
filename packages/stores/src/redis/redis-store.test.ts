import { startRedis, type TestServer } from "@keelson/testkit/servers";
import { storeContract, type StoreHarness } from "@keelson/testkit/store-contract";
import { afterAll, beforeAll } from "vitest";
import { clock, random, sleep } from "../fixtures/real-clock.ts";
import { RedisStore } from "./redis-store.ts";

const SLAB = 500;

let redis: TestServer;
let opened = 0;

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  redis = await startRedis();
}, START_MS);

afterAll(() => redis.stop());

/** Each fact has a namespace for itself. */
storeContract("redis store", async (): Promise<StoreHarness> => {
  opened += 1;
  const connect = (): RedisStore =>
    new RedisStore({
      clock,
      random,
      host: "127.0.0.1",
      port: redis.port,
      namespace: `fact${opened}`,
      log: { slabRevisions: SLAB },
    });
  const [store, second] = [connect(), connect()];
  return {
    store,
    second,
    ttlMs: 300,
    graceMs: 100,
    sleep,
    restart: () => redis.restart(),
    forget: async () => {
      const { incarnation } = await store.range("", { timeoutMs: 1_000 });
      const churn = { guards: [], writes: [{ kind: "put", key: "/churn", value: "" }] } as const;
      const commits = Array.from({ length: 2 * SLAB }, () =>
        store.commit(churn, { timeoutMs: 5_000, incarnation }),
      );
      await Promise.all(commits);
    },
    lacks: {
      sameAfterRestart: "Redis may have lost what it acknowledged, so every process is another incarnation",
    },
    close: async () => {
      await store.close();
      await second.close();
    },
  };
});
