import type { Incoming } from "./incoming.ts";
import type { OutgoingStream } from "./outgoing-stream.ts";

/**
 * What a server can be asked for, and how much of it is under way: shared by all its connections. A handler fails a call by throwing
 * WireFailure; anything else that it throws is INTERNAL.
 */
export type MethodHandler = (call: Incoming) => unknown;
export type StreamHandler = (stream: OutgoingStream) => Promise<void>;

export class Handlers {
  readonly methods = new Map<string, MethodHandler>();
  readonly streams = new Map<string, StreamHandler>();
  /** Calls whose handler has not settled, on all connections, with the bytes of their request frames. */
  inflight = 0;
  inflightBytes = 0;
}
