/**
 * A gRPC service that a plug-in serves through the gateway, where a protocol asks for one. Messages are given as encode and decode functions,
 * so that a plug-in chooses its protobuf library and the runtime needs none.
 */
import type { FleetAccess } from "./fleet-access.ts";
import type { Principal } from "./principal.ts";
import type { Scope } from "./route.ts";

export interface GrpcService {
  /** With its package: `silo.v1.Silo`. */
  readonly name: string;
  readonly methods: Readonly<Record<string, GrpcMethod>>;
}

export type GrpcMethod = {
  readonly scope: Scope;
  /** `null` for a method that needs no token, such as a health check. */
  readonly open?: true;
  tenant?(request: unknown): string | undefined;
  decode(bytes: Uint8Array): unknown;
  encode(message: unknown): Uint8Array;
} & (
  | { readonly kind: "unary"; handle(request: unknown, call: GrpcCall): Promise<unknown> }
  | { readonly kind: "server-stream"; handle(request: unknown, call: GrpcCall): AsyncIterable<unknown> }
);

export interface GrpcCall {
  readonly access: FleetAccess;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** What is left of the caller's deadline, or of the gateway's. */
  readonly timeoutMs: number;
  readonly trace: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** How the caller named this server, for protocols that tell clients where to come back to. */
  readonly host: string;
}

/** A failure with a gRPC status, its exact text and trailers. Anything else that is thrown is INTERNAL (13), its text withheld. */
export class GrpcFailure extends Error {
  override readonly name = "GrpcFailure";
  readonly status: number;
  readonly trailers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, trailers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.trailers = trailers;
  }
}
