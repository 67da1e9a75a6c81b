/** A store whose calls are measured. It changes nothing about them: what fails, fails as it did. */
import type {
  CallOptions,
  Clock,
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

/** Told of each call that has ended, with the code of its failure if it failed. */
export type CallEnded = (call: string, seconds: number, code?: string) => void;

export class MeasuredStore implements Store {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #ended: CallEnded;

  constructor(store: Store, clock: Clock, ended: CallEnded) {
    this.#store = store;
    this.#clock = clock;
    this.#ended = ended;
  }

  range(prefix: string, options: RangeOptions): Promise<RangePage> {
    return this.#measure("range", this.#store.range(prefix, options));
  }

  commit(commit: Commit, options: CommitOptions): Promise<CommitOutcome> {
    return this.#measure("commit", this.#store.commit(commit, options));
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    return this.#store.watch(prefix, after, sink);
  }

  openSession(ttlMs: number, options: CallOptions): Promise<SessionOpened> {
    return this.#measure("openSession", this.#store.openSession(ttlMs, options));
  }

  renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    return this.#measure("renew", this.#store.renew(sessions, options));
  }

  revoke(session: string, options: CallOptions): Promise<StoreReply> {
    return this.#measure("revoke", this.#store.revoke(session, options));
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #measure<T>(call: string, answer: Promise<T>): Promise<T> {
    const begunAt = this.#clock.now();
    try {
      const result = await answer;
      this.#ended(call, (this.#clock.now() - begunAt) / 1_000);
      return result;
    } catch (error) {
      const { code = "ERROR" } = error as { code?: string };
      this.#ended(call, (this.#clock.now() - begunAt) / 1_000, code);
      throw error;
    }
  }
}
