/**
 * Every way in which the address of a store can be wrong though it is well written: nothing is there, somebody else is, the password, the database or TLS is not right. Real
 * processes and real servers: each says what is wrong and what to do, goes on trying, and is a member as soon as the store answers. What is not well written is in mistakes.test.ts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  etcdctl,
  makeCertificates,
  startEtcd,
  startPostgres,
  startRedis,
  type TestServer,
} from "@keelson/testkit/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";

const WITHIN_MS = 60_000;
const SECRET = "hush-secret";
const folder = mkdtempSync(join(tmpdir(), "keelson-wrong-address-"));
let etcd: TestServer;
let redis: TestServer;
let postgres: TestServer;

beforeAll(async () => {
  [etcd, redis, postgres] = await Promise.all([
    startEtcd({ electionMs: 100, args: ["--bcrypt-cost", "4"] }),
    startRedis({ password: "right" }),
    startPostgres(),
  ]);
  await etcdctl(etcd, "user", "add", "root:right");
  await etcdctl(etcd, "user", "grant-role", "root", "root");
  await etcdctl(etcd, "auth", "enable");
}, 120_000);

afterAll(async () => {
  await stopAll();
  await Promise.all([etcd, redis, postgres].map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

const node = (store: string, id = "a"): KeelsonProcess =>
  new KeelsonProcess(["node", "--id", id, "--store", store, "--ttl", "3s"]);

test("what is wrong is said, with what to do, and no password with it", async () => {
  const { ca } = makeCertificates(folder);
  const at = (server: TestServer): string => `127.0.0.1:${server.port}`;
  const cases: [store: string, says: RegExp][] = [
    ["etcd://127.0.0.1:1", /ECONNREFUSED.*check the address, and that etcd runs there/],
    ["redis://127.0.0.1:1", /nothing listens there: check the address, and that Redis runs/],
    ["embedded://127.0.0.1:1", /no connection to 127\.0\.0\.1:1: .*ECONNREFUSED/],
    [`etcd://root:${SECRET}@${at(etcd)}`, /authentication failed, invalid user ID or password/],
    [`redis://:${SECRET}@${at(redis)}`, /the user name or the password is wrong/],
    [`postgres://nobody:${SECRET}@${at(postgres)}/postgres`, /the user name or the password is wrong/],
    [`postgres://postgres@${at(postgres)}/nonesuch`, /there is no database of that name: create it/],
    [`etcd://root:right@${at(etcd)}?ca=${ca}`, /TLS/],
    [`postgres://postgres@${at(postgres)}/postgres?tls`, /check the address, and that it is a Postgres/],
  ];
  const started = cases.map(([store, says]) => ({ process: node(store), says }));
  for (const { process, says } of started) {
    const [line] = await process.says(
      new RegExp(`the store (?:does not answer yet|has not answered for).*(?:${says.source}).*`),
      WITHIN_MS,
    );
    expect(line).not.toContain(SECRET);
    // It has not given up, and what it printed has no password either.
    expect(process.running).toBe(true);
    expect(process.all).not.toContain(SECRET);
  }
  await stopAll();
}, 120_000);

test("a gateway says it too, and as soon as the store is there it is over, by itself", async () => {
  const { port } = postgres;
  await postgres.kill("SIGKILL");
  const waiting = node(`postgres://postgres@127.0.0.1:${port}/postgres`);
  const gateway = new KeelsonProcess([
    "gateway",
    "--store",
    `postgres://postgres@127.0.0.1:${port}/postgres`,
    "--listen",
    "127.0.0.1:0",
  ]);
  await gateway.says(/the store does not answer yet: .*nothing listens there/, WITHIN_MS);
  await waiting.says(/the store does not answer yet: .*nothing listens there/, WITHIN_MS);
  await postgres.restart();
  await waiting.says(/the store answers/, WITHIN_MS);
  await waiting.says(/member of the fleet/, WITHIN_MS);
  await gateway.says(/the store answers/, WITHIN_MS);
  expect([waiting.running, gateway.running]).toEqual([true, true]);
}, 120_000);
