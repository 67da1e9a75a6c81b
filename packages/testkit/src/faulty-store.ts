/**
 * A store that goes wrong as a test says: any call of any store can be held, delayed, failed (before or after it was carried out) or repeated.
 * Calls keep their deadlines: one that is held past its own fails as if its answer were lost, and is still carried out when it is let go,
 * which is what "unknown" means.
 */
import {
  StoreError,
  type CallOptions,
  type ChangeBatch,
  type Clock,
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
import { FaultRule, type FaultRuleOptions } from "./fault-rule.ts";
import { FaultyWatch } from "./faulty-watch.ts";

/** `deliver` is one batch on its way to a watch. */
export type StoreCall = Exclude<keyof Store, "close"> | "deliver";

/** What a rule's `when` may look at: the call's own arguments. */
export type StoreCallSubject =
  | { readonly call: "range" | "watch"; readonly prefix: string }
  | { readonly call: "commit"; readonly commit: Commit }
  | { readonly call: "openSession" }
  | { readonly call: "renew" | "revoke"; readonly sessions: readonly string[] }
  | { readonly call: "deliver"; readonly prefix: string; readonly batch: ChangeBatch };

export type StoreFaultRule = FaultRule<StoreCall, StoreCallSubject>;

export class FaultyStore implements Store {
  readonly #inner: Store;
  readonly #clock: Clock;
  readonly #rules: StoreFaultRule[] = [];

  constructor(inner: Store, clock: Clock) {
    this.#inner = inner;
    this.#clock = clock;
  }

  /** Adds a rule. Of several that would strike a call the first one does. */
  inject(options: FaultRuleOptions<StoreCall, StoreCallSubject>): StoreFaultRule {
    const rule = new FaultRule(options, this.#clock);
    this.#rules.push(rule);
    return rule;
  }

  /** Removes every rule and lets go what they hold. */
  heal(): void {
    for (const rule of this.#rules.splice(0)) rule.remove();
  }

  range(prefix: string, options: RangeOptions): Promise<RangePage> {
    return this.#run({ call: "range", prefix }, options, () => this.#inner.range(prefix, options));
  }

  commit(commit: Commit, options: CommitOptions): Promise<CommitOutcome> {
    return this.#run({ call: "commit", commit }, options, () => this.#inner.commit(commit, options));
  }

  openSession(ttlMs: number, options: CallOptions): Promise<SessionOpened> {
    return this.#run({ call: "openSession" }, options, () => this.#inner.openSession(ttlMs, options));
  }

  renew(sessions: readonly string[], options: CallOptions): Promise<Renewal> {
    return this.#run({ call: "renew", sessions }, options, () => this.#inner.renew(sessions, options));
  }

  revoke(session: string, options: CallOptions): Promise<StoreReply> {
    const subject = { call: "revoke", sessions: [session] } as const;
    return this.#run(subject, options, () => this.#inner.revoke(session, options));
  }

  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    const watch = new FaultyWatch(this.#inner, prefix, after, sink, (batch) =>
      this.#rule({ call: "deliver", prefix, batch }),
    );
    watch.begin(this.#rule({ call: "watch", prefix }));
    return watch;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #rule(subject: StoreCallSubject): StoreFaultRule | undefined {
    return this.#rules.find((rule) => rule.claims(subject.call, subject));
  }

  #run<T>(subject: StoreCallSubject, { timeoutMs }: CallOptions, apply: () => Promise<T>): Promise<T> {
    const rule = this.#rule(subject);
    if (rule === undefined) return apply();
    const whenLost = subject.call === "range" ? "STORE_UNAVAILABLE" : "STORE_UNKNOWN";
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () =>
        reject(new StoreError(whenLost, `${subject.call} had no answer within ${timeoutMs} ms (injected)`)),
      );
      rule
        .carryOut(apply, (side) => {
          const code = side === "before" ? "STORE_UNAVAILABLE" : whenLost;
          return new StoreError(code, `${subject.call} failed ${side} it was carried out (injected)`);
        })
        .then(resolve, reject)
        .finally(() => timer.cancel())
        .catch(reject);
    });
  }
}
