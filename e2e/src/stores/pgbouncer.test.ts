/** A fleet whose nodes reach their Postgres through a real PgBouncer in transaction mode: more clients than sessions, and no notifications. */
import { systemRandom, SystemClock } from "@keelson/runtime";
import { PostgresStore } from "@keelson/stores/postgres";
import { startPgBouncer, startPostgres, type TestServer } from "@keelson/testkit/servers";
import { afterAll, beforeAll } from "vitest";
import { fleetFacts } from "./fleet-facts.ts";

let server: TestServer;
let pooler: TestServer;
let fleets = 0;

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

fleetFacts("postgres behind a pooler", () => {
  fleets += 1;
  const schema = `fleet${fleets}`;
  return {
    ttlMs: 1_000,
    port: pooler.port,
    connect: (port) =>
      new PostgresStore({
        clock: new SystemClock(),
        random: systemRandom,
        hosts: [{ host: "127.0.0.1", port }],
        user: "postgres",
        database: "postgres",
        schema,
        listen: false,
      }),
  };
});
