import type { NodeReply, NodeRequest, Transport, TransportOptions } from "@keelson/kernel";
import type { WirePool } from "../client/pool.ts";
import { WireFailure } from "../errors.ts";
import { decodeReply, encodeRequest, REQUEST_METHOD } from "./messages.ts";

/**
 * The kernel's Transport over TCP. A failure that the other node answered is a reply of the kernel's kinds; only the absence of an
 * answer is a TransportError.
 */
export class WireTransport implements Transport {
  readonly #pool: WirePool;

  constructor(pool: WirePool) {
    this.#pool = pool;
  }

  async call(address: string, request: NodeRequest, options: TransportOptions): Promise<NodeReply> {
    try {
      return decodeReply(await this.#pool.call(address, REQUEST_METHOD, encodeRequest(request), options));
    } catch (error) {
      if (!(error instanceof WireFailure)) throw error;
      if (error.code === "OVERLOADED") return { kind: "overloaded", reason: error.message };
      return { kind: "error", code: error.code, message: error.message };
    }
  }
}
