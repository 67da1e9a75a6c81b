import type { ChangeBatch, Revision, Watch, WatchSink } from "@keelson/kernel";
import type { Network } from "./network.ts";
import type { SimProcess } from "./process.ts";
import type { StoreServer } from "./store-server.ts";

export interface WatchStreamOptions {
  readonly process: SimProcess;
  readonly life: number;
  readonly network: Network;
  readonly server: StoreServer;
  readonly prefix: string;
  readonly after: Revision;
  readonly sink: WatchSink;
}

/** Watches travel apart from calls, so that a fault can delay what a node hears and nothing else. */
export const WATCH = "watch";

/**
 * One watch on its connection: batches arrive in order, each after its own travel time, and none is lost. While the link is cut they wait; when they have waited longer
 * than a connection bears, the process sees the watch close. A store that goes down closes it too.
 */
export class WatchStream implements Watch {
  readonly #options: WatchStreamOptions;
  readonly #waiting: (() => void)[] = [];
  #closed = false;
  #server: Watch | undefined;
  #onEnd: () => void = () => {};
  /** True time at which the last batch sent will arrive; nothing overtakes it. */
  #lastArrival = 0;
  #cutSince: number | undefined;

  constructor(options: WatchStreamOptions) {
    this.#options = options;
  }

  /** Asks the store. `onEnd` is called when nothing more will come. */
  open(onEnd: () => void): void {
    const { process, network, server } = this.#options;
    this.#onEnd = onEnd;
    process.send(() =>
      network.sendReliably(process.name, WATCH, () => {
        if (this.#closed) return;
        if (network.isCut(process.name, WATCH)) this.#failLater("the store cannot be reached");
        else if (!server.up) this.#failLater("the store is down");
        else this.#begin();
      }),
    );
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#server?.close();
    this.#waiting.length = 0;
    this.#onEnd();
  }

  #begin(): void {
    const { server, prefix, after, sink } = this.#options;
    const watch = server.apply((core) =>
      core.watch(prefix, after, {
        changes: (batch: ChangeBatch) => this.#push(() => sink.changes(batch)),
        relist: (reason) => this.#pushEnd(() => sink.relist(reason)),
        closed: (reason) => this.#pushEnd(() => sink.closed(reason)),
      }),
    );
    if (this.#closed) watch.close();
    else this.#server = watch;
  }

  #pushEnd(run: () => void): void {
    this.#push(() => {
      this.close();
      run();
    });
  }

  #failLater(reason: string): void {
    const { process, life, sink, network } = this.#options;
    const wait = network.isCut(WATCH, process.name)
      ? connectionBearsMs
      : network.travelMs(WATCH, process.name);
    process.scheduler.after(wait, () =>
      process.enter(life, () => {
        if (this.#closed) return;
        this.close();
        sink.closed(reason);
      }),
    );
  }

  #push(deliver: () => void): void {
    if (this.#closed) return;
    if (this.#waiting.length > 0 || this.#isCut()) {
      this.#waiting.push(deliver);
      if (this.#cutSince === undefined) this.#retryLater();
      return;
    }
    this.#dispatch(deliver);
  }

  #dispatch(deliver: () => void): void {
    const { process, life, network } = this.#options;
    const { scheduler } = process;
    this.#lastArrival = Math.max(this.#lastArrival, scheduler.now + network.travelMs(WATCH, process.name));
    process.enterLater(this.#lastArrival - scheduler.now, life, () => {
      if (!this.#closed) deliver();
    });
  }

  #isCut(): boolean {
    return this.#options.network.isCut(WATCH, this.#options.process.name);
  }

  #retryLater(): void {
    const { process, life, sink } = this.#options;
    const { scheduler } = process;
    this.#cutSince ??= scheduler.now;
    scheduler.after(retryMs, () => {
      if (this.#closed || this.#cutSince === undefined) return;
      if (!this.#isCut()) {
        this.#cutSince = undefined;
        for (const deliver of this.#waiting.splice(0)) this.#dispatch(deliver);
      } else if (scheduler.now - this.#cutSince < connectionBearsMs) this.#retryLater();
      else {
        this.#server?.close();
        process.enter(life, () => {
          if (this.#closed) return;
          this.close();
          sink.closed("the connection was cut");
        });
      }
    });
  }
}

/** How often a connection sends again what did not get through. */
const retryMs = 100;
/** How long a connection is silent before its owner gives it up. */
const connectionBearsMs = 4_000;
