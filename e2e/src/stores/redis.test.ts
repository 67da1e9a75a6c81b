import { systemRandom, SystemClock } from "@keelson/runtime";
import { RedisStore } from "@keelson/stores/redis";
import { startRedis, type TestServer } from "@keelson/testkit/servers";
import { afterAll, beforeAll } from "vitest";
import { fleetFacts } from "./fleet-facts.ts";

let redis: TestServer;
let fleets = 0;

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  redis = await startRedis();
}, START_MS);

afterAll(() => redis.stop());

fleetFacts("redis", () => {
  fleets += 1;
  const namespace = `fleet${fleets}`;
  return {
    ttlMs: 1_000,
    port: redis.port,
    connect: (port) =>
      new RedisStore({ clock: new SystemClock(), random: systemRandom, host: "127.0.0.1", port, namespace }),
  };
});
