import type { AbortSignalLike, Prepared, Shard } from "@keelson/kernel";
import { Parking } from "./parking.ts";

/** The running side of one replica on a node: what the service gave us, and the requests that are with it now. */
export class Slot {
  prepared: Prepared | undefined;
  shard: Shard | undefined;
  /** Aborts a prepare that is no longer wanted. */
  preparing: AbortController | undefined;
  /** Aborts what a closed shard left under way. */
  running = new Ending();
  inflight = 0;
  /** Streams that are being read; a drain does not wait for them. */
  streams = 0;
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

/** A signal that its owner aborts. An AbortController does the same for ten times the price, and there is one of these for every activation. */
export class Ending implements AbortSignalLike {
  #aborted = false;
  #listeners = new Set<() => void>();

  get aborted(): boolean {
    return this.#aborted;
  }

  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    const listeners = this.#listeners;
    this.#listeners = new Set();
    for (const listener of listeners) listener();
  }

  addEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: "abort", listener: () => void): void {
    this.#listeners.delete(listener);
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
