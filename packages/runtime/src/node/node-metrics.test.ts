import { TestFleet } from "@keelson/testkit";
import { Registry } from "prom-client";
import { afterEach, expect, test } from "vitest";
import { echoService } from "@keelson/examples";
import { MeasuredStore } from "./measured-store.ts";
import { NodeMetrics } from "./node-metrics.ts";

let fleet: TestFleet | undefined;
afterEach(() => fleet?.stop());

const figures = { pid: 1, uptimeMs: 2_000, cpuMs: 500, rssBytes: 7 };

test("a node shows what it holds, until when it may serve, and what it decided", async () => {
  fleet = await TestFleet.start({ services: [echoService({ shards: 3 })], nodes: 1 });
  await fleet.allHeld();
  const node = fleet.nodes.get("a")!;
  const registry = new Registry();
  const metrics = new NodeMetrics(registry);
  metrics.watch(node, fleet.clock, () => figures);
  metrics.decided({ at: 0, node: "a", kind: "live", reason: "" });
  metrics.replied("ok");
  const text = await registry.metrics();
  expect(text).toMatch(/keelson_node_replicas\{service="echo",phase="live"\} 3/);
  expect(Number(/^keelson_node_session_seconds (\S+)/m.exec(text)?.[1])).toBeGreaterThan(0);
  expect(text).toContain('keelson_node_decisions_total{kind="live"} 1');
  expect(text).toContain('keelson_node_requests_total{reply="ok"} 1');
  expect(text).toContain("keelson_node_cpu_seconds_total 0.5");
  node.abandon();
  expect(node.mayServeMs(Infinity)).toBe(0);
});

test("a store's calls are measured, and fail as they did", async () => {
  fleet = await TestFleet.start({ services: [], nodes: 1 });
  const calls: unknown[][] = [];
  const store = new MeasuredStore(fleet.store, fleet.clock, (...call) => calls.push(call));
  await store.range("", { timeoutMs: 1_000 });
  await fleet.store.close();
  await expect(store.range("", { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(calls).toEqual([
    ["range", expect.any(Number)],
    ["range", expect.any(Number), "STORE_UNAVAILABLE"],
  ]);
});
