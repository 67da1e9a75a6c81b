/**
 * The job queue on a real S3 (Ceph's RGW) over a bad network: connections break, answers are held, PUTs take long, the S3 server is restarted, a node is killed, and a
 * shard is split meanwhile. Nothing that was acknowledged is lost, nothing runs twice at once, and limits hold.
 */
import type { JobsClient } from "@keelson/jobs";
import { TcpProxy } from "@keelson/testkit";
import { startCephRgw, type S3TestServer } from "@keelson/testkit/servers";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { FaultScene, LONG_MS } from "./fault-scene.ts";
import { SHARDS } from "./jobs-processes.ts";
import { Load, pause } from "./load.ts";
import { Witness } from "./witness.ts";

const LIMIT = 2;

let server: S3TestServer;
let proxy: TcpProxy;
let scene: FaultScene | undefined;
let fleets = 0;
// One server for all tests, because it takes long to start; each has a place of its own there.
beforeAll(async () => {
  server = await startCephRgw();
  await server.createBucket("jobs");
}, 120_000);
afterAll(() => server.stop(), 60_000);
beforeEach(async () => {
  proxy = await TcpProxy.open(server.port);
});
afterEach(async () => {
  await scene?.stop();
  scene = undefined;
  await proxy.close();
}, 60_000);

function startOnS3(nodes: readonly string[]): Promise<FaultScene> {
  fleets += 1;
  return FaultScene.start("embedded", nodes, {
    objects: `s3://jobs/fleet-${fleets}?endpoint=http://127.0.0.1:${proxy.port}&region=us-east-1`,
    environment: {
      AWS_ACCESS_KEY_ID: server.accessKeyId,
      AWS_SECRET_ACCESS_KEY: server.secretAccessKey,
    },
    // What takes longer is given up: longer than any trouble that a node should live through here.
    config: ["journalTimeoutMs = 6000"],
  });
}

/** A node that cannot write its journal for too long gives its shards up, and takes them again by itself. */
const TROUBLES: readonly (() => Promise<void>)[] = [
  () => {
    proxy.cut();
    return pause(300);
  },
  async () => {
    proxy.set({ kind: "delay", delayMs: 400 });
    await pause(1_500);
    proxy.heal();
  },
  async () => {
    proxy.set({ kind: "hold" }, "down");
    await pause(1_500);
    proxy.heal();
  },
  async () => {
    proxy.set({ kind: "cut-after", bytes: 20_000 });
    await pause(1_000);
    proxy.heal();
  },
  async () => {
    await server.kill("SIGKILL");
    await server.restart();
  },
];

const PATIENCE_MS = 120_000;

async function until(what: string, { fleet }: FaultScene, isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !isSo(); await pause(200))
    if (performance.now() > end) throw new Error(`${what} did not happen:\n${fleet.all}`);
}

function allSay({ fleet }: FaultScene, pattern: RegExp): boolean {
  return [...fleet.running.values()].every(({ all }) => pattern.test(all));
}

test("nodes that cannot reach S3 give their shards up, and take them again when they can, with nobody's help", async () => {
  const started = await startOnS3(["a", "b"]);
  scene = started;
  const witness = new Witness(LIMIT);
  (await started.connect()).worker("work", witness.handler, { concurrency: 20 });
  const load = new Load(await started.connect(2 * PATIENCE_MS), { lanes: 4, tenants: 12, limit: LIMIT });
  await until("the first jobs", started, () => load.acknowledged.length > 20);
  proxy.refuse();
  await until("giving up", started, () => allSay(started, /gives its shards of the job queue up/));
  // They go on trying while there is nothing to reach.
  await until("another try", started, () => allSay(started, /the journal still cannot be written/));
  proxy.heal();
  await until("coming back", started, () => allSay(started, /can be written again/));
  const before = load.acknowledged.length;
  await until("more jobs", started, () => load.acknowledged.length > before + 20);
  await load.stop();
  expect(await load.results()).toEqual(load.expected);
  expect(witness.broken).toEqual([]);
}, 480_000);

/** Again while it is refused: the shard may be on its way to the node that came back. */
async function split(client: JobsClient): Promise<void> {
  const isSplit = (): boolean => client.calls.map.ranges.length === SHARDS + 1;
  for (const end = performance.now() + PATIENCE_MS; !isSplit() && performance.now() < end;) {
    await client.calls.byShard("0", "write", "split", {}, { timeoutMs: 20_000 }).catch(() => undefined);
    await pause(500);
  }
}

test(
  "jobs on S3 survive a bad network, a restart of S3, the loss of a node and a split under load",
  async () => {
    const started = await startOnS3(["a", "b"]);
    scene = started;
    const { fleet } = started;
    const witness = new Witness(LIMIT);
    (await started.connect()).worker("work", witness.handler, { concurrency: 20 });
    const client = await started.connect(2 * PATIENCE_MS);
    const load = new Load(client, { lanes: 4, tenants: 12, limit: LIMIT });
    /** Jobs are acknowledged again, so that each trouble meets a fleet at work. */
    const atWork = async (): Promise<void> => {
      const before = load.acknowledged.length;
      await until("jobs", started, () => load.acknowledged.length > before + 5);
    };
    const end = performance.now() + (LONG_MS ?? 0);
    do
      for (const trouble of TROUBLES) {
        await atWork();
        await trouble();
      }
    while (performance.now() < end);
    await atWork();
    await fleet.kill("a");
    await fleet.start("a");
    await split(client);
    await atWork();
    await load.stop();
    expect(load.acknowledged.length).toBeGreaterThan(20);
    expect(await load.results()).toEqual(load.expected);
    expect(witness.broken).toEqual([]);
    expect(client.calls.map.ranges).toHaveLength(SHARDS + 1);
  },
  480_000 + 2 * (LONG_MS ?? 0),
);
