import {
  TransportError,
  type Clock,
  type ManyReply,
  type NodeManyRequest,
  type NodeReply,
  type NodeRequest,
  type NodeStream,
  type StreamTransportOptions,
  type Transport,
  type TransportOptions,
} from "@keelson/kernel";
import type { WirePool } from "../client/pool.ts";
import { WireFailure } from "../errors.ts";
import {
  decodeManyReply,
  decodeReply,
  encodeMany,
  encodeRequest,
  MANY_METHOD,
  REQUEST_METHOD,
  STREAM_METHOD,
} from "./messages.ts";
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
    try {
      reader.attach(this.#pool.stream(address, STREAM_METHOD, encodeRequest(request), reader));
      return { reply: decodeReply(await reader.first(timeoutMs)), items: reader };
    } catch (error) {
      return { reply: replyOf(error), items: reader };
    }
  }

  async *many(
    address: string,
    request: NodeManyRequest,
    { signal }: StreamTransportOptions,
  ): AsyncGenerator<ManyReply> {
    const reader = new StreamReader(this.#clock, signal);
    const waiting = new Set(request.replicas.keys());
    const reply = (rest: NodeReply): ManyReply[] => [...waiting].map((at) => ({ at, reply: rest }));
    try {
      reader.attach(this.#pool.stream(address, MANY_METHOD, encodeMany(request), reader));
      for await (const item of reader) {
        const answered = decodeManyReply(item);
        if (!answered || !waiting.delete(answered.at)) continue;
        yield answered;
      }
    } catch (error) {
      // What ended the whole exchange is the answer to each that was left.
      yield* reply(replyOf(error));
      return;
    }
    yield* reply({ kind: "error", code: "BAD_REPLY", message: "the node did not answer for this shard" });
  }
}

/** What the node answered, or wire in its name. Silence is thrown on. */
function replyOf(error: unknown): NodeReply {
  if (!(error instanceof WireFailure)) throw error;
  if (error.code === "OVERLOADED") return { kind: "overloaded", reason: error.message };
  // A node that closes takes no new streams and ends those it has: what it was asked for is to be had elsewhere.
  if (error.code === "GOING_AWAY") throw new TransportError("UNREACHABLE", error.message, { cause: error });
  return { kind: "error", code: error.code, message: error.message };
}
