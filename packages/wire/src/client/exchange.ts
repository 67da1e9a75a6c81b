import type { TransportError } from "@keelson/kernel";
import type { WireFailure } from "../errors.ts";

/** What a client has under way on a connection: a call that waits for its answer, or a stream. */
export interface Exchange {
  readonly id: number;
  /** True once its first frame was given to the socket: from then on it may have been carried out. */
  sent: boolean;
  /** Ends it. The connection has forgotten it already. */
  fail(error: TransportError | WireFailure): void;
}

/** A call that waits for its answer. Settles its promise once; the connection removes it before. */
export class PendingCall implements Exchange {
  readonly id: number;
  readonly deadline: number;
  readonly timeoutMs: number;
  sent = false;
  sentAt = 0;
  readonly #resolve: (body: unknown) => void;
  readonly #reject: (error: Error) => void;
  #unlisten: (() => void) | undefined;

  constructor(
    id: number,
    timeoutMs: number,
    deadline: number,
    resolve: (body: unknown) => void,
    reject: (error: Error) => void,
  ) {
    this.id = id;
    this.timeoutMs = timeoutMs;
    this.deadline = deadline;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  cancelOn(signal: AbortSignal, onAbort: () => void): void {
    signal.addEventListener("abort", onAbort, { once: true });
    this.#unlisten = () => signal.removeEventListener("abort", onAbort);
  }

  answer(body: unknown): void {
    this.#unlisten?.();
    this.#resolve(body);
  }

  fail(error: TransportError | WireFailure): void {
    this.#unlisten?.();
    this.#reject(error);
  }
}
