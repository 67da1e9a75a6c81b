/** A node's port for probes, as Kubernetes and Prometheus use it: ready while it is a member that may serve, not ready while it leaves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { until } from "../gateway/fleet.ts";
import { KeelsonProcess, stopAll } from "../process/keelson-process.ts";

const folder = mkdtempSync(join(tmpdir(), "keelson-status-"));
afterAll(async () => {
  await stopAll();
  rmSync(folder, { recursive: true, force: true });
});

test("a node says that it is alive, ready, and what it counts; and nothing can be changed there", async () => {
  const node = new KeelsonProcess([
    "node",
    "--id",
    "a",
    "--store",
    "memory:",
    "--ttl",
    "3s",
    "--status-listen",
    "127.0.0.1:0",
  ]);
  const url = (await node.says(/probes and metrics at (http:\S+)/, 60_000))[1] ?? "";
  const get = (path: string, method = "GET"): Promise<Response> => fetch(url + path, { method });
  expect((await get("/healthz")).status).toBe(200);
  await until("it is ready", async () => (await get("/readyz")).status === 200);
  expect(await (await get("/readyz")).json()).toMatchObject({ member: true, storeLive: true });
  expect(await (await get("/metrics")).text()).toMatch(/^keelson_node_uptime_seconds \d/m);
  expect((await get("/metrics", "POST")).status).toBe(405);
  expect((await get("/v1/fleet/status")).status).toBe(404);
  node.signal("SIGTERM");
  await node.endsWith(0);
  const taken = new KeelsonProcess([
    "node",
    "--id",
    "a",
    "--store",
    "memory:",
    "--status-listen",
    "203.0.113.1:1",
  ]);
  await taken.endsWith(1);
  expect(taken.all).toMatch(/--status-listen/);
}, 120_000);
