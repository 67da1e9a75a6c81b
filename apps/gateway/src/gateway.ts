/** Starts a gateway and stops it: puts its parts together, checks that it may listen where it is told to, and nothing else. */
import { isIP, type AddressInfo } from "node:net";
import {
  ConnectedClient,
  KeelsonError,
  OtlpExporter,
  Tracer,
  type Api,
  type FleetLink,
  type ParsedKey,
  type RouterCounts,
} from "@keelson/runtime";
import { AuditLog } from "./audit/audit-log.ts";
import { Auditor } from "./audit/auditor.ts";
import { Admission } from "./auth/admission.ts";
import { Authority } from "./auth/authority.ts";
import { consoleEndpoints } from "./console/console-endpoints.ts";
import { GrpcServer } from "./grpc/grpc-server.ts";
import { BodyBudget } from "./http/body.ts";
import { Front } from "./http/front.ts";
import { mountAll } from "./http/mounting.ts";
import { ownEndpoints } from "./http/own-endpoints.ts";
import { PluginEndpoint } from "./http/plugin-endpoint.ts";
import { UnreadAnswers } from "./http/unread-answers.ts";
import { HttpServer } from "./http/server.ts";
import { GatewayMetrics } from "./observe/gateway-metrics.ts";
import { healthOf, type Health } from "./observe/health.ts";
import { GATEWAY_LIMITS, type GatewayOptions } from "./options.ts";
import { RateLimits } from "./rate/rate-limits.ts";
import { Shedding } from "./shedding.ts";

export interface Gateway {
  /** `http://host:port`. */
  readonly url: string;
  /** The same of the listener for operators, when there is one of its own. */
  readonly adminUrl: string | undefined;
  /** `host:port` of gRPC; undefined when no plug-in has any, or it was not asked for. */
  readonly grpcAddress: string | undefined;
  health(): Health;
  /** Resolves once the fleet's state is known, so that requests can be routed. Rejects when that takes longer. */
  ready(timeoutMs: number): Promise<void>;
  /** Says that it is not ready, lets requests finish, and closes. What is not finished after `graceMs` is cut off. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}

const VERSION = "0.1.0";
const READY_LOOK_MS = 10;

/** Rejects with KeelsonError BAD_CONFIG, or with what listening failed with. Routes as soon as it knows the fleet: `ready` says when. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const problem = listenProblem(options);
  if (problem !== undefined) throw new KeelsonError("BAD_CONFIG", problem);
  await options.tokens?.start();
  try {
    return await startParts(options);
  } catch (error) {
    options.tokens?.stop();
    throw error;
  }
}

async function startParts(options: GatewayOptions): Promise<Gateway> {
  const { clock, random, log, tokens, fleet, plugins } = options;
  const limits = { ...GATEWAY_LIMITS, ...options.limits };
  const onKey = (key: ParsedKey, value: string | undefined): void => tokens?.keyChanged?.(key, value);
  const client: FleetLink =
    options.link?.(onKey) ??
    new ConnectedClient({
      fleet,
      clock,
      random,
      name: "gateway",
      nodes: options.nodes,
      store: options.store,
      wireToken: options.wireToken,
      connect: options.nodeConnect,
      router: options.router,
      onKey,
    });
  const exporter =
    options.traces && new OtlpExporter({ url: options.traces.otlpUrl, clock, process: "keelson-gateway" });
  const tracer =
    exporter && new Tracer({ clock, random, sink: exporter, sampleRatio: options.traces?.sampleRatio ?? 0 });
  const metrics = new GatewayMetrics();
  const authority = new Authority(tokens, clock, {
    staleMsMax: limits.tokenStaleMsMax,
    staleMs: () => client.copy.staleMs,
  });
  const rates = new RateLimits(limits, clock);
  const admission = new Admission(authority, rates);
  const auditor = new Auditor(options.audit ?? (await AuditLog.open({ clock })));
  const shedding = new Shedding(limits, clock);
  const bodies = new BodyBudget(limits.bodyBytesInflightMax);
  const streams = { open: 0 };
  const unread = new UnreadAnswers({
    bytesMax: limits.unreadBytesMax,
    stallMs: limits.streamStallMs,
    dropped: () => metrics.unread(),
  });
  let stopping = false;
  const health = (): Health => healthOf(fleet, client, stopping);
  const newFront = (): Front =>
    new Front({
      clock,
      random,
      log,
      limits,
      admission,
      auditor,
      shedding,
      unread,
      metrics,
      tracer,
      staleMs: () => client.copy.staleMs,
    });
  /** Serves everything, on the listener for operators when there is one. */
  const front = newFront();
  const apis: readonly Api[] = [...plugins, ...(options.apis ?? [])];
  const ownOf = (served: readonly Api[]): ReturnType<typeof ownEndpoints> =>
    ownEndpoints({
      plugins: served,
      metrics,
      client,
      health,
      version: VERSION,
      addressOf: (node) => addressOf(client, node),
    });
  const forPublic = options.adminListen && newFront();
  mountAll(front, forPublic, {
    plugins,
    apis: options.apis ?? [],
    own: ownOf,
    console: consoleEndpoints({ fleet, version: VERSION, apis, admission }),
    endpoint: (api, name, route) =>
      new PluginEndpoint(api, name, route, {
        client,
        clock,
        limits,
        authority,
        auditor,
        bodies,
        streams,
        unread,
      }),
  });
  const problem = (text: string): void =>
    log.error({ cause: text }, "the certificate of the gateway was not taken");
  const newServer = (served: Front): HttpServer =>
    new HttpServer({
      limits,
      tls: options.tls,
      clock,
      handle: (request, response) => served.handle(request, response),
      malformed: (code) => metrics.malformed(code),
      problem,
    });
  const server = newServer(forPublic ?? front);
  const adminServer = forPublic && newServer(front);
  showGauges(metrics, {
    client,
    shedding,
    bodies,
    streams,
    unread,
    server,
    dropped: () => exporter?.counts.dropped ?? 0,
  });
  const grpc =
    options.grpcListen && plugins.some(({ grpc: services = [] }) => services.length > 0)
      ? new GrpcServer({
          plugins,
          access: client.fleet,
          admission,
          auditor,
          shedding,
          metrics,
          log,
          tls: options.tls,
          clock,
          problem,
          timeoutMs: limits.timeoutMs,
          ready: () => health().ready,
        })
      : undefined;
  let where: AddressInfo;
  let adminWhere: AddressInfo | undefined;
  let grpcAddress: string | undefined;
  try {
    where = await server.listen(options.listen);
    if (adminServer && options.adminListen) adminWhere = await adminServer.listen(options.adminListen);
    if (grpc && options.grpcListen) grpcAddress = await grpc.listen(options.grpcListen);
  } catch (error) {
    const now = Promise.resolve();
    await Promise.all([server.close(now), adminServer?.close(now), grpc?.close(now)]);
    throw error;
  }
  const urlOf = ({ family, address, port }: AddressInfo): string =>
    `${options.tls ? "https" : "http"}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  shedding.start();
  client.start();
  return {
    url: urlOf(where),
    adminUrl: adminWhere && urlOf(adminWhere),
    grpcAddress,
    health,
    ready: (timeoutMs) => untilReady(health, clock, timeoutMs),
    stop: async ({ graceMs }) => {
      stopping = true;
      let timer = clock.after(0, () => undefined);
      const cut = new Promise<void>((resolve) => {
        timer = clock.after(graceMs, resolve);
      });
      await Promise.all([server.close(cut), adminServer?.close(cut), grpc?.close(cut)]);
      timer.cancel();
      shedding.stop();
      authority.live.stop();
      client.stop();
      tokens?.stop();
      await exporter?.close();
    },
  };
}

function listenProblem({
  listen,
  tokens,
  tls,
  insecure,
  nodes = [],
  store,
  link,
  grpcListen,
  adminListen,
}: GatewayOptions): string | undefined {
  if (nodes.length === 0 && !store && !link) return "a gateway needs the address of a node, or a store";
  const all = [listen, grpcListen, adminListen].filter((where) => where !== undefined);
  const outside = all.find(({ host }) => !isLoopback(host));
  if (!outside || insecure === true) return undefined;
  const missing = [...(tokens ? [] : ["tokens"]), ...(tls ? [] : ["TLS"])];
  if (missing.length === 0) return undefined;
  return `${outside.host} can be reached from outside this machine, and there are no ${missing.join(" and no ")}: give ${missing.length > 1 ? "them" : tokens ? "a certificate and its key" : "a token file"}, listen on 127.0.0.1, or say insecure`;
}

function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

function addressOf(client: FleetLink, node: string): string | undefined {
  if (!/^[A-Za-z0-9._~-]+$/.test(node)) return undefined;
  const entry = client.copy.image.get(client.fleet.keys.member(node));
  return entry && (JSON.parse(entry.value) as { address: string }).address;
}

async function untilReady(
  health: () => Health,
  clock: GatewayOptions["clock"],
  timeoutMs: number,
): Promise<void> {
  const deadline = clock.now() + timeoutMs;
  while (!health().ready) {
    if (clock.now() > deadline)
      throw new KeelsonError("NOT_STARTED", `no node and no store told of the fleet within ${timeoutMs} ms`);
    await new Promise<void>((resolve) => void clock.after(READY_LOOK_MS, resolve));
  }
}

function showGauges(
  { set }: GatewayMetrics,
  parts: {
    readonly client: FleetLink;
    readonly shedding: Shedding;
    readonly bodies: BodyBudget;
    readonly streams: { readonly open: number };
    readonly unread: UnreadAnswers;
    readonly server: HttpServer;
    readonly dropped: () => number;
  },
): void {
  const { client, shedding, bodies, streams, unread, server } = parts;
  const counts: RouterCounts = client.fleet.router.counts;
  set.gaugeFrom("keelson_gateway_inflight", () => shedding.inflight);
  set.gaugeFrom("keelson_gateway_streams", () => streams.open);
  set.gaugeFrom("keelson_gateway_connections", () => server.connections);
  set.gaugeFrom("keelson_gateway_body_bytes", () => bodies.bytes);
  set.gaugeFrom("keelson_gateway_unread_bytes", () => unread.bytes);
  set.gaugeFrom("keelson_gateway_loop_lag_seconds", () => shedding.lagMs / 1_000);
  set.gaugeFrom("keelson_gateway_copy_live", () => (client.copy.live ? 1 : 0));
  set.gaugeFrom("keelson_gateway_copy_stale_seconds", () => client.copy.staleMs / 1_000);
  set.counterFrom("keelson_gateway_retries_total", () => counts.retries);
  set.counterFrom("keelson_gateway_redirects_total", () => counts.redirects);
  set.counterFrom("keelson_gateway_hedges_total", () => client.fleet.hedge.counts.sent);
  set.counterFrom("keelson_gateway_hedges_won_total", () => client.fleet.hedge.counts.won);
  set.counterFrom("keelson_gateway_spans_dropped_total", parts.dropped);
}
