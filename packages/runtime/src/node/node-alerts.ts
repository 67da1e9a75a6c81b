/** What should wake or tell an operator about the nodes of a fleet, by the metrics that every node exports. deploy/prometheus/rules.yaml is written from this. */
import type { AlertRule } from "../plugin/plugin.ts";

export const NODE_ALERTS: readonly AlertRule[] = [
  {
    name: "KeelsonNodeMayNotServe",
    expr: "keelson_node_session_seconds == 0",
    for: "1m",
    severity: "page",
    summary:
      "a node has no session that it may serve under: the store does not answer it, or its process stalls",
  },
  {
    name: "KeelsonNodeCutOff",
    expr: "keelson_node_store_live == 0",
    for: "2m",
    severity: "page",
    summary: "a node does not follow the store: see that the store runs and can be reached from there",
  },
  {
    name: "KeelsonStoreFails",
    expr: "sum by (code) (rate(keelson_store_failures_total[5m])) > 0.1",
    for: "5m",
    severity: "ticket",
    summary: "calls to the store fail again and again",
  },
  {
    name: "KeelsonStoreSlow",
    expr: "histogram_quantile(0.99, sum by (le) (rate(keelson_store_call_seconds_bucket[5m]))) > 1",
    for: "10m",
    severity: "ticket",
    summary:
      "one call in a hundred to the store takes more than a second: sessions need a renewal every fifth of a TTL",
  },
  {
    name: "KeelsonNoManager",
    expr: "sum(keelson_node_manager) == 0",
    for: "2m",
    severity: "page",
    summary:
      "no node manages the fleet: balanced services are not planned, and operators' wishes are not looked after",
  },
  {
    name: "KeelsonShardQuarantined",
    expr: 'increase(keelson_node_decisions_total{kind="quarantined"}[15m]) > 0',
    for: "0m",
    severity: "page",
    summary:
      "a shard fails wherever it is opened and is left alone: keelson shards --state quarantined names it",
  },
  {
    name: "KeelsonSessionsLost",
    expr: 'sum(increase(keelson_node_decisions_total{kind="lost"}[15m])) > 0',
    for: "0m",
    severity: "ticket",
    summary:
      "nodes lost shards with their sessions: a machine stalls, the network is bad, or the TTL is too short",
  },
];
