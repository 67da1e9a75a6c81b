/**
 * Runs a store core on a real (or test) clock: ends sessions in time, and lets nobody learn of a change before it is durable, neither by a
 * reply nor by a watch. That holds for reads too: what a reader has seen must not be lost. One driver serves any number of clients.
 *
 * How changes become durable is a port; without one (the memory store) they count as durable at once.
 */
import {
  StoreError,
  type Clock,
  type StoreReply,
  type Timer,
  type Revision,
  type Watch,
  type WatchSink,
} from "@keelson/kernel";
import type { StoreCore } from "../core/store-core.ts";

/** Where changes are kept. It calls `core.release` itself, in the order of revisions, before what `settled` returned resolves. */
export interface Durability {
  /** Resolves when all that happened so far is durable, rejects when it never will be. Undefined when it is durable now. */
  settled(): Promise<void> | undefined;
}

export interface Call {
  readonly name: string;
  readonly timeoutMs: number;
  /** Whether the call may have changed something when its reply is lost. */
  readonly writes: boolean;
}

export class StoreDriver {
  readonly #core: StoreCore;
  readonly #clock: Clock;
  readonly #durability: Durability | undefined;
  #timer: { readonly at: number; readonly timer: Timer } | undefined;
  #releasing = false;
  #clients = 0;
  #stopped: string | undefined;

  constructor(core: StoreCore, clock: Clock, durability?: Durability) {
    this.#core = core;
    this.#clock = clock;
    this.#durability = durability;
  }

  get core(): StoreCore {
    return this.#core;
  }

  /** Runs one operation of the core; its result is told once it is durable. */
  async run<T extends StoreReply>(call: Call, operation: (core: StoreCore) => T): Promise<T> {
    if (this.#stopped !== undefined) throw new StoreError("STORE_UNAVAILABLE", this.#stopped);
    let result: T;
    try {
      result = operation(this.#core);
    } finally {
      this.#arm();
      this.#releaseSoon();
    }
    const settled = this.#durability?.settled();
    if (settled !== undefined) await this.#within(call, settled);
    return result;
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    if (this.#stopped === undefined) return this.#core.watch(prefix, after, sink);
    sink.closed(this.#stopped);
    return { close: () => {} };
  }

  attach(): void {
    this.#clients += 1;
  }

  /** With no client left there is nobody to tell of a session's end: no timer keeps the process alive, and the next call catches up. */
  detach(): void {
    this.#clients -= 1;
    if (this.#clients === 0) this.#disarm();
  }

  /** Refuses every later call with this reason and ends all watches. */
  stop(reason: string): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = reason;
    this.#disarm();
    this.#core.endWatches("closed", reason);
  }

  /** Sets the timer for the next session's end. */
  #arm(): void {
    const at = this.#core.expire();
    if (at === undefined || (this.#timer !== undefined && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    const timer = this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#timer = undefined;
      this.#arm();
      this.#releaseSoon();
    });
    this.#timer = { at, timer };
  }

  #disarm(): void {
    this.#timer?.timer.cancel();
    this.#timer = undefined;
  }

  /** Where nothing makes changes durable, watches hear of them after the call that made them, not inside it. */
  #releaseSoon(): void {
    if (this.#durability !== undefined || this.#releasing) return;
    this.#releasing = true;
    queueMicrotask(() => {
      this.#releasing = false;
      this.#core.release(this.#core.revision);
    });
  }

  async #within(call: Call, settled: Promise<void>): Promise<void> {
    const code = call.writes ? "STORE_UNKNOWN" : "STORE_UNAVAILABLE";
    await new Promise<void>((resolve, reject) => {
      const timer = this.#clock.after(call.timeoutMs, () =>
        reject(new StoreError(code, `${call.name} was not durable within ${call.timeoutMs} ms`)),
      );
      settled.then(
        () => {
          timer.cancel();
          resolve();
        },
        (cause: unknown) => {
          timer.cancel();
          reject(new StoreError(code, `${call.name} could not be made durable`, { cause }));
        },
      );
    });
  }
}
