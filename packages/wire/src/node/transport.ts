import type {
  Clock,
  NodeReply,
  NodeRequest,
  NodeStream,
  StreamTransportOptions,
  Transport,
  TransportOptions,
} from "@keelson/kernel";
import type { WirePool } from "../client/pool.ts";
import { WireFailure } from "../errors.ts";
import { decodeReply, encodeRequest, REQUEST_METHOD, STREAM_METHOD } from "./messages.ts";
import { StreamReader } from "./stream-reader.ts";

/**
 * The kernel's Transport over TCP. A failure that the other node answered is a reply of the kernel's kinds; only the absence of an
 * answer is a TransportError.
 */
export class WireTransport implements Transport {
  readonly #pool: WirePool;
  readonly #clock: Clock;

  constructor(pool: WirePool) {
    this.#pool = pool;
    this.#clock = pool.clock;
  }

  async call(address: string, request: NodeRequest, options: TransportOptions): Promise<NodeReply> {
    try {
      return decodeReply(await this.#pool.call(address, REQUEST_METHOD, encodeRequest(request), options));
    } catch (error) {
      return replyOf(error);
    }
  }

  async stream(
    address: string,
    request: NodeRequest,
    { timeoutMs, signal }: StreamTransportOptions,
  ): Promise<NodeStream> {
    const reader = new StreamReader(this.#clock, signal);
    reader.attach(this.#pool.stream(address, STREAM_METHOD, encodeRequest(request), reader));
    try {
      return { reply: decodeReply(await reader.first(timeoutMs)), items: reader };
    } catch (error) {
      return { reply: replyOf(error), items: reader };
    }
  }
}

/** What the node answered, or wire in its name. Silence is thrown on. */
function replyOf(error: unknown): NodeReply {
  if (!(error instanceof WireFailure)) throw error;
  if (error.code === "OVERLOADED") return { kind: "overloaded", reason: error.message };
  return { kind: "error", code: error.code, message: error.message };
}
