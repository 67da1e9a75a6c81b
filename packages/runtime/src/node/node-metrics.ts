/**
 * What a node exports of itself, whatever its services are: what it holds in which phase, how long its session still lets it serve, how the store
 * answers it, what it decided. Gauges are read when they are collected; nothing here runs on the path of a request but one counter.
 */
import type { Clock, Decision, NodeReply } from "@keelson/kernel";
import type { Registry } from "prom-client";
import type { ProcessFigures } from "../admin/node-report.ts";
import { MetricSet, type MetricDeclarations } from "../plugin/metrics.ts";
import type { KeelsonNode } from "./node.ts";

export const NODE_METRICS = {
  keelson_node_replicas: {
    kind: "gauge",
    help: "Replicas that the node holds, by service and phase.",
    labels: ["service", "phase"],
  },
  keelson_node_requests_total: {
    kind: "counter",
    help: "Requests that reached the node, by how it replied.",
    labels: ["reply"],
  },
  keelson_node_inflight: { kind: "gauge", help: "Requests under way." },
  keelson_node_session_seconds: {
    kind: "gauge",
    help: "How long the node may still serve if no renewal succeeds; 0 when it may not.",
  },
  keelson_node_decisions_total: {
    kind: "counter",
    help: "What the node decided, by kind: granted, live, handed-over, lost, failed, quarantined and others.",
    labels: ["kind"],
  },
  keelson_node_manager: { kind: "gauge", help: "1 on the node that manages the fleet." },
  keelson_node_store_live: { kind: "gauge", help: "1 while the node follows the store." },
  keelson_node_uptime_seconds: { kind: "gauge", help: "Age of the process." },
  keelson_node_cpu_seconds_total: { kind: "counter", help: "Processor time of the process." },
  keelson_node_rss_bytes: { kind: "gauge", help: "Resident memory of the process." },
  keelson_store_call_seconds: {
    kind: "histogram",
    help: "How long the store took to answer, by call.",
    labels: ["call"],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
  },
  keelson_store_failures_total: {
    kind: "counter",
    help: "Calls that the store did not answer, by call and error code.",
    labels: ["call", "code"],
  },
} as const satisfies MetricDeclarations;

export class NodeMetrics {
  readonly #set: MetricSet;
  readonly #replies = new Map<NodeReply["kind"], () => void>();

  constructor(registry: Registry) {
    this.#set = new MetricSet(NODE_METRICS, registry);
  }

  decided({ kind }: Decision): void {
    this.#set.count("keelson_node_decisions_total", { kind });
  }

  replied(reply: NodeReply["kind"]): void {
    let count = this.#replies.get(reply);
    if (!count)
      this.#replies.set(reply, (count = this.#set.counter("keelson_node_requests_total", { reply })));
    count();
  }

  /** A call to the store has ended; `code` is that of its failure. */
  called(call: string, seconds: number, code?: string): void {
    this.#set.observe("keelson_store_call_seconds", seconds, { call });
    if (code !== undefined) this.#set.count("keelson_store_failures_total", { call, code });
  }

  /** Reads the gauges from this node from now on. */
  watch(node: KeelsonNode, clock: Clock, figures: () => ProcessFigures): void {
    const set = this.#set;
    set.gaugesFrom("keelson_node_replicas", () => replicasOf(node));
    set.gaugeFrom("keelson_node_inflight", () => node.inflight);
    set.gaugeFrom("keelson_node_session_seconds", () => node.mayServeMs(clock.now()) / 1_000);
    set.gaugeFrom("keelson_node_manager", () => (node.manages ? 1 : 0));
    set.gaugeFrom("keelson_node_store_live", () => (node.mirror.live ? 1 : 0));
    set.gaugeFrom("keelson_node_uptime_seconds", () => figures().uptimeMs / 1_000);
    set.counterFrom("keelson_node_cpu_seconds_total", () => figures().cpuMs / 1_000);
    set.gaugeFrom("keelson_node_rss_bytes", () => figures().rssBytes);
  }
}

function replicasOf(node: KeelsonNode): { labels: { service: string; phase: string }; value: number }[] {
  const found = new Map<string, { labels: { service: string; phase: string }; value: number }>();
  for (const { replica, phase } of node.held()) {
    const service = replica.slice(0, replica.indexOf("/"));
    const key = `${service} ${phase}`;
    const one = found.get(key);
    if (one) one.value += 1;
    else found.set(key, { labels: { service, phase }, value: 1 });
  }
  return [...found.values()];
}
