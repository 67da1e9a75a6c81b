import type { AbortSignalLike } from "@keelson/kernel";
import { WireFailure } from "../errors.ts";

/** Who is at the other end of a connection, as it says itself. */
export interface Peer {
  readonly name: string;
  /** `host:port` as the socket sees it. */
  readonly address: string;
}

/**
 * What a handler is given: the body and what surrounds it. It is itself the kernel's AbortSignalLike; a platform AbortSignal is made
 * only when someone asks for one, because that costs 4 µs, nearly half of what a whole call does, and it warns of a leak when more than ten shards listen.
 */
export class Incoming implements AbortSignalLike {
  readonly body: unknown;
  /** How long the caller will wait, counted from arrival. Infinity for a stream. */
  readonly timeoutMs: number;
  readonly trace: string | undefined;
  readonly peer: Peer;
  #controller: AbortController | undefined;
  readonly #listeners = new Set<() => void>();
  #aborted: WireFailure | undefined;

  constructor(body: unknown, timeoutMs: number, trace: string | undefined, peer: Peer) {
    this.body = body;
    this.timeoutMs = timeoutMs;
    this.trace = trace;
    this.peer = peer;
  }

  /** Aborted when the caller no longer waits: it cancelled, its time ran out, or its connection ended. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#aborted !== undefined) this.#controller.abort(this.#aborted);
    }
    return this.#controller.signal;
  }

  get aborted(): boolean {
    return this.#aborted !== undefined;
  }

  addEventListener(_type: "abort", listener: () => void, _options?: { once?: boolean }): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
  }

  /** Called by the connection, not by handlers. */
  abort(code: string, message: string): void {
    if (this.#aborted !== undefined) return;
    this.#aborted = new WireFailure(code, message);
    this.#controller?.abort(this.#aborted);
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }
}
