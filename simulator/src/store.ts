import {
  StoreError,
  type CallOptions,
  type Commit,
  type CommitOptions,
  type CommitOutcome,
  type RangeOptions,
  type RangePage,
  type Renewal,
  type Revision,
  type SessionOpened,
  type Store,
  type StoreReply,
  type Watch,
  type WatchSink,
} from "@keelson/kernel";
import type { Network } from "./network.ts";
import type { SimProcess } from "./process.ts";
import type { StoreServer } from "./store-server.ts";
import { WatchStream } from "./watch-stream.ts";

/** The store's name as an endpoint of the network. */
export const STORE = "store";

export interface SimStoreOptions {
  readonly process: SimProcess;
  readonly network: Network;
  readonly server: StoreServer;
  /** Told of every commit as it is sent. */
  readonly onCommit?: (commit: Commit) => void;
  /** Told around the moment a renewal's reply reaches the process: what the node may do can grow there. */
  readonly onRenewal?: (deliver: () => void) => void;
  /** Told when a renewal reaches the store so late that its sender no longer counts on it. */
  readonly onLateRenewal?: () => void;
}

/**
 * The store as one process sees it in one of its lives: every call crosses the network twice, may be lost, late or repeated on the way there, and lost or late on the way back.
 * A repeated call is carried out twice; its caller hears of whichever reply comes first.
 */
export class SimStore implements Store {
  readonly #options: SimStoreOptions;
  readonly #life: number;
  readonly #streams = new Set<WatchStream>();

  constructor(options: SimStoreOptions) {
    this.#options = options;
    this.#life = options.process.life;
    options.process.atEnd(() => this.#closeStreams());
  }

  range(prefix: string, options: RangeOptions): Promise<RangePage> {
    const { limit, after } = options;
    return this.#call("range", options, "STORE_UNAVAILABLE", (server) =>
      server.apply((core) => core.range(prefix, { limit, after })),
    );
  }

  commit(commit: Commit, options: CommitOptions): Promise<CommitOutcome> {
    const { name } = this.#options.process;
    const { incarnation } = options;
    this.#options.onCommit?.(commit);
    return this.#call("commit", options, "STORE_UNKNOWN", (server) =>
      server.commit(name, commit, incarnation),
    );
  }

  openSession(ttlMs: number, options: CallOptions): Promise<SessionOpened> {
    return this.#call("openSession", options, "STORE_UNKNOWN", (server) =>
      server.apply((core) => core.openSession(ttlMs)),
    );
  }

  renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    const asked = [...sessions];
    const { process, onRenewal, onLateRenewal } = this.#options;
    const sentAt = process.scheduler.now;
    const renew = (server: StoreServer): Renewal => {
      if (process.life !== this.#life || process.scheduler.now - sentAt > lateMs) onLateRenewal?.();
      return server.apply((core) => core.renew(asked));
    };
    return this.#call("renew", options, "STORE_UNKNOWN", renew, onRenewal);
  }

  revoke(session: string, options: CallOptions): Promise<StoreReply> {
    return this.#call("revoke", options, "STORE_UNKNOWN", (server) =>
      server.apply((core) => core.revoke(session)),
    );
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    const stream = new WatchStream({ ...this.#options, life: this.#life, prefix, after, sink });
    this.#streams.add(stream);
    stream.open(() => this.#streams.delete(stream));
    return stream;
  }

  close(): Promise<void> {
    this.#closeStreams();
    return Promise.resolve();
  }

  #closeStreams(): void {
    for (const stream of this.#streams) stream.close();
  }

  /** `onTimeout` is what a caller learns from silence: nothing at all, or, for a read, that nothing was changed by it. */
  #call<T>(
    name: string,
    { timeoutMs }: CallOptions,
    onTimeout: "STORE_UNKNOWN" | "STORE_UNAVAILABLE",
    operation: (server: StoreServer) => T,
    around: (deliver: () => void) => void = (deliver) => deliver(),
  ): Promise<T> {
    const { process, network, server } = this.#options;
    const life = this.#life;
    return new Promise<T>((resolve, reject) => {
      const timer = process.clock.after(timeoutMs, () =>
        reject(new StoreError(onTimeout, `${name}: no reply within ${timeoutMs} ms`)),
      );
      const reply = (settle: () => void): void =>
        network.sendInto(STORE, process, life, () => {
          timer.cancel();
          around(settle);
        });
      const arrive = (): void => {
        if (!server.up) {
          if (server.refuses)
            reply(() => reject(new StoreError("STORE_UNAVAILABLE", `${name}: the store is down`)));
          return;
        }
        let result: T;
        try {
          result = operation(server);
        } catch (error) {
          const failure = error instanceof Error ? error : new Error(String(error));
          reply(() => reject(failure));
          return;
        }
        reply(() => resolve(result));
      };
      process.send(() => network.send(process.name, STORE, arrive));
    });
  }
}

/** A renewal that takes longer than this one way is late: its caller has given it up, or nearly. */
const lateMs = 500;
