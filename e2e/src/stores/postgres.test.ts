import { systemRandom, SystemClock } from "@keelson/runtime";
import { PostgresStore } from "@keelson/stores/postgres";
import { startPostgres, type TestServer } from "@keelson/testkit/servers";
import { afterAll, beforeAll } from "vitest";
import { fleetFacts } from "./fleet-facts.ts";

let server: TestServer;
let fleets = 0;

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  server = await startPostgres();
}, START_MS);

afterAll(() => server.stop());

fleetFacts("postgres", () => {
  fleets += 1;
  const schema = `fleet${fleets}`;
  return {
    ttlMs: 1_000,
    port: server.port,
    connect: (port) =>
      new PostgresStore({
        clock: new SystemClock(),
        random: systemRandom,
        hosts: [{ host: "127.0.0.1", port }],
        user: "postgres",
        database: "postgres",
        schema,
      }),
  };
});
