/** Frames between nodes: request ids, deadlines, credit, cancel. docs/design/wire.md describes the protocol. */
export { formatAddress, parseAddress, type HostPort } from "./address.ts";
export { WireFailure, type WireFailureCode } from "./errors.ts";
export { DEFAULT_LIMITS, type WireLimits } from "./limits.ts";
export { WireServer, type WireServerOptions } from "./server/server.ts";
export type { MethodHandler, StreamHandler } from "./server/handlers.ts";
export type { Incoming, Peer } from "./server/incoming.ts";
export type { OutgoingStream } from "./server/outgoing-stream.ts";
export { WireClient, type CallOptions, type StreamOptions, type WireClientOptions } from "./client/client.ts";
export type { StreamHandle, StreamSink } from "./client/incoming-stream.ts";
export { WirePool, type WirePoolOptions } from "./client/pool.ts";
export { serveNode, serveNodeMany, serveNodeStreams } from "./node/serve-node.ts";
export { MANY_REPLICAS_MAX } from "./node/messages.ts";
export { WireTransport } from "./node/transport.ts";
export type { CertificateFiles } from "./tls/certificate-files.ts";
export { WireTls, type WireTlsOptions } from "./tls/wire-tls.ts";
