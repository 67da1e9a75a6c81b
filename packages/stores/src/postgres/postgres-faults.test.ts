/** A Postgres store on a bad network. */
import { startPostgres, type TestServer } from "@keelson/testkit/servers";
import { networkStoreContract } from "@keelson/testkit/store-contract";
import { afterAll, beforeAll } from "vitest";
import { clock, random } from "../fixtures/real-clock.ts";
import { PostgresStore } from "./postgres-store.ts";

let server: TestServer;

/** A busy machine takes its time. */
const START_MS = 60_000;

beforeAll(async () => {
  server = await startPostgres();
}, START_MS);

afterAll(() => server.stop());

const log = { slabRevisions: 100 };

networkStoreContract("postgres store", () => ({
  port: server.port,
  connect: (port) =>
    new PostgresStore({
      clock,
      random,
      hosts: [{ host: "127.0.0.1", port }],
      user: "postgres",
      database: "postgres",
      log,
    }),
  forget: async (store) => {
    const { incarnation } = await store.range("", { timeoutMs: 1_000 });
    const churn = { guards: [], writes: [{ kind: "put", key: "/churn", value: "" }] } as const;
    const options = { timeoutMs: 5_000, incarnation };
    const commits = Array.from({ length: 2 * log.slabRevisions }, () => store.commit(churn, options));
    await Promise.all(commits);
  },
}));
