/** What should wake or tell an operator about gateways, by the metrics that they export. deploy/prometheus/rules.yaml is written from this. */
import type { AlertRule } from "@keelson/runtime";

export const GATEWAY_ALERTS: readonly AlertRule[] = [
  {
    name: "KeelsonGatewayCutOff",
    expr: "keelson_gateway_copy_live == 0",
    for: "2m",
    severity: "page",
    summary:
      "a gateway does not hear of the fleet: it routes from what it knew, and does not hear of revoked tokens",
  },
  {
    name: "KeelsonGatewayErrors",
    expr: 'sum(rate(keelson_gateway_requests_total{status=~"5.."}[5m])) > 0.01 * sum(rate(keelson_gateway_requests_total[5m]))',
    for: "5m",
    severity: "page",
    summary: "more than one request in a hundred fails",
  },
  {
    name: "KeelsonGatewaySlow",
    expr: "histogram_quantile(0.99, sum by (le, service) (rate(keelson_gateway_request_seconds_bucket[5m]))) > 2",
    for: "10m",
    severity: "ticket",
    summary: "one request in a hundred of a service takes more than two seconds",
  },
  {
    name: "KeelsonGatewaySheds",
    expr: "sum by (reason) (rate(keelson_gateway_shed_total[5m])) > 1",
    for: "5m",
    severity: "ticket",
    summary: "requests are answered with 429: add gateways, or find who asks so much",
  },
  {
    name: "KeelsonGatewayLate",
    expr: "keelson_gateway_loop_lag_seconds > 0.2",
    for: "5m",
    severity: "ticket",
    summary: "a gateway's event loop is late: it has too little processor time",
  },
];
