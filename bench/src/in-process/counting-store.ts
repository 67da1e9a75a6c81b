import type {
  CallOptions,
  Commit,
  CommitOptions,
  CommitOutcome,
  RangeOptions,
  RangePage,
  Renewal,
  Revision,
  SessionOpened,
  Store,
  StoreReply,
  Watch,
  WatchSink,
} from "@keelson/kernel";

export interface StoreCounts {
  readonly reads: number;
  /** Everything that changes the store: renewals are among them. */
  readonly writes: number;
  readonly renewals: number;
}

/** Counts the calls that reach a store, and changes nothing about them. */
export class CountingStore implements Store {
  readonly #store: Store;
  #reads = 0;
  #writes = 0;
  #renewals = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  get counts(): StoreCounts {
    return { reads: this.#reads, writes: this.#writes, renewals: this.#renewals };
  }

  range(prefix: string, options: RangeOptions): Promise<RangePage> {
    this.#reads++;
    return this.#store.range(prefix, options);
  }

  commit(commit: Commit, options: CommitOptions): Promise<CommitOutcome> {
    this.#writes++;
    return this.#store.commit(commit, options);
  }

  openSession(ttlMs: number, options: CallOptions): Promise<SessionOpened> {
    this.#writes++;
    return this.#store.openSession(ttlMs, options);
  }

  renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    this.#writes++;
    this.#renewals++;
    return this.#store.renew(sessions, options);
  }

  revoke(session: string, options: CallOptions): Promise<StoreReply> {
    this.#writes++;
    return this.#store.revoke(session, options);
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    return this.#store.watch(prefix, after, sink);
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
