/** Everything that a node answers on its port: requests, streams, its copy of the store, its metrics, and what its services add. */
import type { AbortSignalLike, Clock, NodeReply, NodeRequest } from "@keelson/kernel";
import { serveNode, serveNodeMany, serveNodeStreams, type WireServer } from "@keelson/wire";
import { DECISIONS_METHOD, REPORT_METHOD, type NodeReporter } from "../admin/node-report.ts";
import { serveCopy } from "../copy/serve-copy.ts";
import type { NodeServices } from "../plugin/node-services.ts";
import type { Tracer } from "../trace/tracer.ts";
import type { KeelsonNode } from "./node.ts";

export interface FleetNodePorts {
  readonly clock: Clock;
  readonly services?: NodeServices | undefined;
  /** Makes a span of each request that comes with a trace. */
  readonly tracer?: Tracer | undefined;
  /** Counts the requests, and answers operators who ask how the node is. */
  readonly reporter?: NodeReporter | undefined;
}

/** The wire method that gives a node's metrics as Prometheus reads them. */
export const METRICS_METHOD = "metrics";

export function serveFleetNode(server: WireServer, node: KeelsonNode, ports: FleetNodePorts): void {
  const { clock, services, tracer, reporter } = ports;
  const handle = (request: NodeRequest, signal: AbortSignalLike): Promise<NodeReply> =>
    (reporter ?? node).handle(request, signal);
  const answered = tracer ? traced(handle, tracer, node) : handle;
  serveNode(server, answered);
  serveNodeMany(server, answered);
  serveNodeStreams(server, (request, signal) => node.stream(request, signal));
  serveCopy(server, node.mirror, clock);
  server.method(METRICS_METHOD, async () => (await services?.registry.metrics()) ?? "");
  if (reporter) {
    server.method(REPORT_METHOD, () => reporter.report());
    server.method(DECISIONS_METHOD, ({ body }) => reporter.decisions(body));
  }
  services?.serve(server);
}

type Handle = (request: NodeRequest, signal: AbortSignalLike) => Promise<NodeReply>;

/** A span per request, whose own traceparent the shard gets in place of the caller's. */
function traced(handle: Handle, tracer: Tracer, node: KeelsonNode): Handle {
  return async (request, signal) => {
    if (request.trace === undefined) return handle(request, signal);
    const { service, shard, method } = request;
    const span = tracer.start(`${service} ${method}`, "server", request.trace);
    span.set("keelson.node", node.host.self.node).set("keelson.service", service).set("keelson.shard", shard);
    try {
      const reply = await handle({ ...request, trace: span.traceparent }, signal);
      span.set("keelson.reply", reply.kind);
      span.end(reply.kind === "error" ? reply.code : undefined);
      return reply;
    } catch (error) {
      span.end(error instanceof Error ? error.name : "Error");
      throw error;
    }
  };
}
