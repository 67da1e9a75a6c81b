/**
 * A client of a store that lives in this process. Several may share one driver; closing one ends its own watches and leaves the
 * others, and all sessions, alone.
 */
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
import type { StoreCore } from "../core/store-core.ts";
import type { StoreDriver } from "./store-driver.ts";

export class LocalStore implements Store {
  protected readonly driver: StoreDriver;
  /** How to end each watch that this client has open. */
  readonly #watches = new Set<(reason: string) => void>();
  #closed = false;

  constructor(driver: StoreDriver) {
    this.driver = driver;
    driver.attach();
  }

  range(prefix: string, options: RangeOptions): Promise<RangePage> {
    return this.#run("range", options, false, (core) => core.range(prefix, options));
  }

  commit(commit: Commit, options: CommitOptions): Promise<CommitOutcome> {
    return this.#run("commit", options, true, (core) => core.commit(commit, options.incarnation));
  }

  openSession(ttlMs: number, options: CallOptions): Promise<SessionOpened> {
    return this.#run("openSession", options, true, (core) => core.openSession(ttlMs));
  }

  renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    return this.#run("renew", options, true, (core) => core.renew(sessions));
  }

  revoke(session: string, options: CallOptions): Promise<StoreReply> {
    return this.#run("revoke", options, true, (core) => core.revoke(session));
  }

  /** The sink hears nothing before this has returned. */
  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    let inner: Watch | undefined;
    let open = true;
    const finish = (): boolean => {
      const wasOpen = open;
      open = false;
      this.#watches.delete(end);
      inner?.close();
      return wasOpen;
    };
    const end = (reason: string): void => {
      if (finish()) sink.closed(reason);
    };
    this.#watches.add(end);
    queueMicrotask(() => {
      if (this.#closed) end(CLOSED);
      if (!open) return;
      inner = this.driver.watch(prefix, after, {
        changes: (batch) => {
          if (open) sink.changes(batch);
        },
        relist: (reason) => {
          if (finish()) sink.relist(reason);
        },
        closed: end,
      });
      if (!open) inner.close();
    });
    return { close: () => void finish() };
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      for (const end of this.#watches) end(CLOSED);
      this.driver.detach();
    }
    return Promise.resolve();
  }

  async #run<T extends StoreReply>(
    name: string,
    { timeoutMs }: CallOptions,
    writes: boolean,
    operation: (core: StoreCore) => T,
  ): Promise<T> {
    if (this.#closed) throw new StoreError("STORE_UNAVAILABLE", CLOSED);
    return this.driver.run({ name, timeoutMs, writes }, operation);
  }
}

const CLOSED = "this store client was closed";
