/** A Redis store on a bad network. */
import { startRedis, type TestServer } from "@keelson/testkit/servers";
import { networkStoreContract } from "@keelson/testkit/store-contract";
import { afterAll, beforeAll } from "vitest";
import { clock, random } from "../fixtures/real-clock.ts";
import { RedisStore } from "./redis-store.ts";

let redis: TestServer;

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  redis = await startRedis();
}, START_MS);

afterAll(() => redis.stop());

const log = { slabRevisions: 100 };

networkStoreContract("redis store", () => ({
  port: redis.port,
  connect: (port) => new RedisStore({ clock, random, host: "127.0.0.1", port, namespace: "network", log }),
  forget: async (store) => {
    const { incarnation } = await store.range("", { timeoutMs: 1_000 });
    const churn = { guards: [], writes: [{ kind: "put", key: "/churn", value: "" }] } as const;
    const options = { timeoutMs: 5_000, incarnation };
    const commits = Array.from({ length: 2 * log.slabRevisions }, () => store.commit(churn, options));
    await Promise.all(commits);
  },
}));
