import type { AbortSignalLike, Prepared, Shard } from "@keelson/kernel";
import { Parking } from "./parking.ts";

/** The running side of one replica on a node: what the service gave us, and the requests that are with it now. */
export class Slot {
  prepared: Prepared | undefined;
  shard: Shard | undefined;
  /** Aborts a prepare that is no longer wanted. */
  preparing: AbortController | undefined;
  /** Aborts what a closed shard left under way. */
  running = new AbortController();
  inflight = 0;
  /** Called when `inflight` reaches zero. */
  idle: (() => void) | undefined;
  readonly parking = new Parking();

  enter(): void {
    this.inflight++;
  }

  exit(): void {
    this.inflight--;
    if (this.inflight === 0) this.idle?.();
  }
}

/** Aborted when either of two signals is. Costs nothing until somebody listens. */
export class EitherSignal implements AbortSignalLike {
  readonly #a: AbortSignalLike;
  readonly #b: AbortSignalLike;

  constructor(a: AbortSignalLike, b: AbortSignalLike) {
    this.#a = a;
    this.#b = b;
  }

  get aborted(): boolean {
    return this.#a.aborted || this.#b.aborted;
  }

  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void {
    this.#a.addEventListener(type, listener, options);
    this.#b.addEventListener(type, listener, options);
  }

  removeEventListener(type: "abort", listener: () => void): void {
    this.#a.removeEventListener(type, listener);
    this.#b.removeEventListener(type, listener);
  }
}
