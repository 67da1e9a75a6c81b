/**
 * The Postgres of a fleet is lost, and its streaming standby is promoted: two real servers, and nodes that know both. The standby has another timeline, so it is another
 * incarnation and begins an era; until that is open nobody is granted anything, and no shard ever has two holders.
 */
import { ring, type Epoch, type Shard } from "@keelson/kernel";
import { defineService, systemRandom, SystemClock } from "@keelson/runtime";
import { PostgresStore } from "@keelson/stores/postgres";
import { TestFleet } from "@keelson/testkit";
import {
  startPostgres,
  startPostgresStandby,
  type PostgresStandby,
  type TestServer,
} from "@keelson/testkit/servers";
import { afterAll, beforeAll, expect, test } from "vitest";

const TTL_MS = 1_500;
const START_MS = 60_000;
const CALL = { timeoutMs: 5_000 };

let primary: TestServer;
let standby: PostgresStandby;
let fleet: TestFleet | undefined;

beforeAll(async () => {
  primary = await startPostgres();
  standby = await startPostgresStandby(primary);
}, START_MS);

afterAll(async () => {
  await fleet?.stop();
  await standby.stop();
  await primary.stop();
});

const connect = (...ports: number[]): PostgresStore =>
  new PostgresStore({
    clock: new SystemClock(),
    random: systemRandom,
    hosts: ports.map((port) => ({ host: "127.0.0.1", port })),
    user: "postgres",
    database: "postgres",
  });

/** The epochs that each shard was opened with, in order. */
const opened = new Map<string, Epoch[]>();

const service = defineService({
  name: "echo",
  parameters: { shards: 30, replicas: 1, placement: {} },
  placement: ring({ service: "echo" }),
  open: ({ shard, epoch }): Promise<Shard> => {
    opened.set(shard, [...(opened.get(shard) ?? []), epoch]);
    return Promise.resolve({ handle: ({ body }) => Promise.resolve(body) });
  },
});

test("a promoted standby is another incarnation: an era begins, every epoch rises, and nothing is held twice", async () => {
  fleet = await TestFleet.start({
    services: [service],
    terms: { ttlMs: TTL_MS },
    connect: () => connect(standby.port, primary.port),
  });
  const running = fleet;
  const replicas = running.replicas();
  const before = await incarnationOf(primary.port);
  // A standby takes no writes: nodes pass it over, though they were told of it first.
  await expect(incarnationOf(standby.port)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  const first = new Map([...opened].map(([shard, epochs]) => [shard, epochs.length]));
  const later = (shard: string): Epoch[] => (opened.get(shard) ?? []).slice(first.get(shard));
  let twice = 0;
  const watch = setInterval(() => {
    if (replicas.some((replica) => running.holders(replica).length > 1)) twice += 1;
  }, 5);
  try {
    await primary.kill("SIGKILL");
    await standby.promote();
    await running.until(
      () =>
        [...opened.keys()].every((shard) => later(shard).length > 0) &&
        replicas.every((replica) => running.holders(replica).length === 1),
      START_MS,
      () => "not all are held again",
    );
  } finally {
    clearInterval(watch);
  }
  expect(twice).toBe(0);
  expect(await incarnationOf(standby.port)).not.toBe(before);
  for (const [shard, epochs] of opened) {
    const former = epochs[(first.get(shard) ?? 0) - 1]?.era ?? Infinity;
    expect(Math.min(...later(shard).map(({ era }) => era))).toBeGreaterThan(former);
  }
}, 120_000);

async function incarnationOf(port: number): Promise<string> {
  const store = connect(port);
  try {
    return (await store.range("", CALL)).incarnation;
  } finally {
    await store.close();
  }
}
