/** What a gateway is started with. Every limit has its unit in its name; docs/reference/http.md gives the reason for each default. */
import type {
  AnyPlugin,
  Api,
  Clock,
  ConnectedClientOptions,
  FleetLink,
  HostPort,
  Logger,
  ParsedKey,
  Random,
  RouterOptions,
  Store,
} from "@keelson/runtime";
import type { AuditLog } from "./audit/audit-log.ts";
import type { TokenSource } from "./auth/token-source.ts";

export interface GatewayOptions {
  readonly fleet: string;
  /** The services whose APIs it serves. */
  readonly plugins: readonly AnyPlugin[];
  /** APIs without a service, such as the fleet's own. */
  readonly apis?: readonly Api[] | undefined;
  /** Port 0 takes a free one. */
  readonly listen: HostPort;
  /** Where `apis`, metrics and the console are served, beside all else. Given, they are served nowhere but here. */
  readonly adminListen?: HostPort | undefined;
  /** Nodes whose copy of the store it may follow, `host:port`; others are learnt from them. */
  readonly nodes?: readonly string[] | undefined;
  /** Followed when no node gives its copy. One of the two is needed. */
  readonly store?: Store | undefined;
  /** Another way to the fleet than wire, for simulations; it is told where keys that are not about routes go. */
  readonly link?: ((onKey: (key: ParsedKey, value: string | undefined) => void) => FleetLink) | undefined;
  /** What nodes want to hear before they talk, if they do. */
  readonly wireToken?: string | undefined;
  /** How nodes are connected to, when not in plain TCP: where TLS between gateways and nodes goes. */
  readonly nodeConnect?: ConnectedClientOptions["connect"];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Where tokens are looked up. Left out, nobody needs one: then it listens on loopback only, unless told otherwise. */
  readonly tokens?: TokenSource | undefined;
  /** Who did what; left out, it is kept in memory only. Whoever opened it closes it. */
  readonly audit?: AuditLog | undefined;
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** Listens off loopback even without tokens or TLS. */
  readonly insecure?: boolean | undefined;
  /** Where gRPC is served, when a plug-in has any. */
  readonly grpcListen?: HostPort | undefined;
  readonly traces?: { readonly otlpUrl: string; readonly sampleRatio: number } | undefined;
  readonly limits?: Partial<GatewayLimits> | undefined;
  readonly router?: Partial<RouterOptions> | undefined;
}

export interface GatewayLimits {
  /** Connections at once; one more is closed unheard. */
  readonly connectionsMax: number;
  /** Requests under way at once; one more is answered with 429. */
  readonly inflightMax: number;
  /** Request bodies in memory, together. */
  readonly bodyBytesInflightMax: number;
  /** A request's line and headers. */
  readonly headerBytesMax: number;
  readonly urlCharsMax: number;
  /** From a request's first byte to the end of its headers. */
  readonly headersTimeoutMs: number;
  /** From a request's first byte to the end of its body. */
  readonly requestTimeoutMs: number;
  /** How long a connection may stay idle between requests. */
  readonly idleMs: number;
  /** Of a route that names none. */
  readonly bodyBytesMax: number;
  readonly timeoutMs: number;
  readonly routeInflightMax: number;
  /** How late the event loop may be before reads and writes are shed. */
  readonly loopLagMsMax: number;
  /** Streams open at once. */
  readonly streamsMax: number;
  /** How often a silent stream says that it is still there. */
  readonly streamPulseMs: number;
  /** How long the reader of an answer or a stream may take nothing. */
  readonly streamStallMs: number;
  /** Answers that were given and not taken, together. */
  readonly unreadBytesMax: number;
  /** Shards that one scatter asks at once. */
  readonly scatterConcurrencyMax: number;
  /** Requests a second with one token; 0: no limit. Twice as many may come at once. */
  readonly tokenRequestsPerSecondMax: number;
  /** The same from one address, without a token. */
  readonly addressRequestsPerSecondMax: number;
  /** Tokens a second from one address that are not taken; ten times as many may come at once. */
  readonly refusalsPerSecondMax: number;
  /** How long a gateway that hears nothing of the fleet, and so not of revoked tokens, goes on taking tokens; 0: for as long as it takes. */
  readonly tokenStaleMsMax: number;
  /** Tokens and addresses whose rates are kept, each. */
  readonly rateKeysMax: number;
}

export const GATEWAY_LIMITS: GatewayLimits = {
  connectionsMax: 10_000,
  inflightMax: 4_000,
  bodyBytesInflightMax: 256 * 1024 * 1024,
  headerBytesMax: 16 * 1024,
  urlCharsMax: 8 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  idleMs: 65_000,
  bodyBytesMax: 1024 * 1024,
  timeoutMs: 10_000,
  routeInflightMax: 1_000,
  loopLagMsMax: 1_000,
  streamsMax: 2_000,
  streamPulseMs: 15_000,
  streamStallMs: 30_000,
  unreadBytesMax: 256 * 1024 * 1024,
  scatterConcurrencyMax: 64,
  tokenRequestsPerSecondMax: 0,
  addressRequestsPerSecondMax: 0,
  refusalsPerSecondMax: 20,
  tokenStaleMsMax: 0,
  rateKeysMax: 10_000,
};
