/** What a gateway counts, by the names that docs/reference/metrics.md lists. */
import { MetricSet, type MetricDeclarations } from "@keelson/runtime";

export const GATEWAY_METRICS = {
  keelson_gateway_requests_total: {
    kind: "counter",
    help: "Requests answered, by service, operation and HTTP status.",
    labels: ["service", "operation", "status"],
  },
  keelson_gateway_request_seconds: {
    kind: "histogram",
    help: "From a request's headers to its answer's end, by service and operation; streams are not counted.",
    labels: ["service", "operation"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  keelson_gateway_shed_total: {
    kind: "counter",
    help: "Requests answered with 429, by reason.",
    labels: ["reason"],
  },
  keelson_gateway_malformed_total: {
    kind: "counter",
    help: "Connections that sent something that is not HTTP, too much of it, or too slowly.",
    labels: ["code"],
  },
  keelson_gateway_inflight: { kind: "gauge", help: "Requests under way." },
  keelson_gateway_streams: { kind: "gauge", help: "Streams open." },
  keelson_gateway_connections: { kind: "gauge", help: "Connections open." },
  keelson_gateway_body_bytes: { kind: "gauge", help: "Bytes of request bodies in memory." },
  keelson_gateway_unread_bytes: {
    kind: "gauge",
    help: "Bytes of answers that their readers have not taken.",
  },
  keelson_gateway_unread_dropped_total: {
    kind: "counter",
    help: "Readers that were let go because too much waited to be read.",
  },
  keelson_gateway_loop_lag_seconds: { kind: "gauge", help: "How late the event loop is." },
  keelson_gateway_copy_live: {
    kind: "gauge",
    help: "1 while the fleet's state is followed, 0 while it is cut off.",
  },
  keelson_gateway_copy_stale_seconds: {
    kind: "gauge",
    help: "For how long nothing was heard of the fleet's state; 0 while it is followed.",
  },
  keelson_gateway_retries_total: { kind: "counter", help: "Tries after the first." },
  keelson_gateway_redirects_total: { kind: "counter", help: "Hints of nodes followed." },
  keelson_gateway_hedges_total: { kind: "counter", help: "Reads asked of a second replica." },
  keelson_gateway_hedges_won_total: { kind: "counter", help: "Of those, answered by the second first." },
  keelson_gateway_spans_dropped_total: { kind: "counter", help: "Spans that no collector took." },
} as const satisfies MetricDeclarations;

/** One operation's own counters, looked up once. */
export interface OperationMetrics {
  answered(status: number, seconds: number | undefined): void;
}

export class GatewayMetrics {
  readonly set = new MetricSet(GATEWAY_METRICS);

  operation(service: string, operation: string): OperationMetrics {
    const observe = this.set.observer("keelson_gateway_request_seconds", { service, operation });
    const byStatus = new Map<number, (by?: number) => void>();
    return {
      answered: (status, seconds) => {
        let count = byStatus.get(status);
        if (!count)
          byStatus.set(
            status,
            (count = this.set.counter("keelson_gateway_requests_total", { service, operation, status })),
          );
        count();
        if (seconds !== undefined) observe(seconds);
      },
    };
  }

  shed(reason: string): void {
    this.set.count("keelson_gateway_shed_total", { reason });
  }

  unread(): void {
    this.set.count("keelson_gateway_unread_dropped_total", {});
  }

  malformed(code: string): void {
    this.set.count("keelson_gateway_malformed_total", { code });
  }
}
