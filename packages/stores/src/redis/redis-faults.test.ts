/** A Redis store on a bad network, and on a Redis that is not what it was. */
import { startRedis, type TestServer } from "@keelson/testkit/servers";
import { networkStoreContract } from "@keelson/testkit/store-contract";
import { afterAll, beforeAll } from "vitest";
import { clock, random } from "../fixtures/real-clock.ts";
import { RedisStore } from "./redis-store.ts";

let redis: TestServer;

beforeAll(async () => {
  redis = await startRedis();
});

afterAll(() => redis.stop());

networkStoreContract("redis store", () => ({
  port: redis.port,
  connect: (port) => new RedisStore({ clock, random, host: "127.0.0.1", port, namespace: "network" }),
}));
