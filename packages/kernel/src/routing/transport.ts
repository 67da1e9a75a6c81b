import type { Epoch } from "../identity/epoch.ts";
import type { AbortSignalLike } from "../lifecycle/service.ts";

/** How a request reaches the node that should hold its shard. `wire` carries it over TCP, the simulator over virtual links. */
export interface Transport {
  /** Rejects with TransportError; a reply of whatever kind resolves. */
  call(address: string, request: NodeRequest, options: TransportOptions): Promise<NodeReply>;
  /** Asks for many answers. Resolves once the node has taken the request or refused it; the same rejections as `call`. */
  stream?(address: string, request: NodeRequest, options: StreamTransportOptions): Promise<NodeStream>;
  /**
   * The same read of many shards in one exchange. Each is admitted, carried out and answered as if it had been asked for alone, in the order in which they are
   * done. Reading may throw TransportError: then what has not been answered will not be.
   */
  many?(address: string, request: NodeManyRequest, options: StreamTransportOptions): AsyncIterable<ManyReply>;
}

export interface NodeManyRequest extends Omit<NodeRequest, "shard" | "replica"> {
  readonly replicas: readonly { readonly shard: string; readonly replica: number }[];
}

/** `at` says which of the replicas it is about. */
export interface ManyReply {
  readonly at: number;
  readonly reply: NodeReply;
}

/** How a node took a request for a stream. `items` are there only when the reply is `ok`; reading them may throw TransportError or the shard's failure. */
export interface NodeStream {
  readonly reply: NodeReply;
  readonly items: AsyncIterable<unknown>;
}

export interface StreamTransportOptions extends TransportOptions {
  /** The caller no longer reads. */
  readonly signal?: AbortSignalLike | undefined;
}

export interface TransportOptions {
  readonly timeoutMs: number;
}

export interface NodeRequest {
  readonly service: string;
  readonly shard: string;
  readonly replica: number;
  readonly method: string;
  readonly mode: "read" | "write";
  readonly body: unknown;
  /** How long the caller will wait, counted from arrival. */
  readonly timeoutMs: number;
  readonly trace?: string;
  /** On the node that answers: resolves when the answer has left, or is not wanted any more. Transports that do not know it leave it out. It does not travel. */
  readonly left?: Promise<void>;
}

export type NodeReply =
  | { readonly kind: "ok"; readonly epoch: Epoch; readonly body: unknown }
  | { readonly kind: "not-owner"; readonly hint?: Hint }
  | { readonly kind: "warming"; readonly progress: number }
  | { readonly kind: "overloaded"; readonly reason: string }
  | { readonly kind: "quarantined"; readonly reason: string }
  /** The service's own failure, with a stable code. Not retried. */
  | { readonly kind: "error"; readonly code: string; readonly message: string };

/** Who the answering node believes holds the replica. */
export interface Hint {
  readonly node: string;
  readonly address: string;
  /** Which replica to ask for there, when it is not the one that was asked for: writes go to the primary. */
  readonly replica?: number;
}

export type TransportErrorCode =
  /** Nothing was sent: safe to try elsewhere. */
  | "UNREACHABLE"
  /** Sent, and no answer came: it may have been carried out. */
  | "TIMEOUT"
  | "CUT";

export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
