/**
 * A watch whose beginning and whose deliveries can go wrong. What is held or delayed holds up what comes after it: a watch may be late, but
 * never out of order. A delivery that fails ends the watch as a lost connection does.
 */
import type { ChangeBatch, Revision, Store, Watch, WatchSink } from "@keelson/kernel";
import type { FaultRule } from "./fault-rule.ts";

/** The part of a rule that a watch needs. */
type Strike = Pick<FaultRule<never, never>, "carryOut">;

const LOST = "the connection was lost (injected)";

export class FaultyWatch implements Watch {
  readonly #inner: Store;
  readonly #prefix: string;
  readonly #after: Revision;
  readonly #sink: WatchSink;
  readonly #ruleFor: (batch: ChangeBatch) => Strike | undefined;
  #watch: Watch | undefined;
  #open = true;
  /** What must happen before the next delivery; undefined when nothing is held up. */
  #line: Promise<void> | undefined;

  constructor(
    inner: Store,
    prefix: string,
    after: Revision,
    sink: WatchSink,
    ruleFor: (batch: ChangeBatch) => Strike | undefined,
  ) {
    this.#inner = inner;
    this.#prefix = prefix;
    this.#after = after;
    this.#sink = sink;
    this.#ruleFor = ruleFor;
  }

  begin(rule: Strike | undefined): void {
    this.#strike(rule, () => {
      if (!this.#open) return;
      this.#watch?.close();
      this.#watch = this.#inner.watch(this.#prefix, this.#after, {
        changes: (batch) => this.#strike(this.#ruleFor(batch), () => this.#deliver(batch)),
        relist: (reason) => this.#strike(undefined, () => this.#end(() => this.#sink.relist(reason))),
        closed: (reason) => this.#strike(undefined, () => this.#end(() => this.#sink.closed(reason))),
      });
    });
  }

  close(): void {
    this.#end(() => {});
  }

  #deliver(batch: ChangeBatch): void {
    if (this.#open) this.#sink.changes(batch);
  }

  #end(tell: () => void): void {
    if (!this.#open) return;
    this.#open = false;
    this.#watch?.close();
    tell();
  }

  /** Does it now when nothing is in the way; else after what is, and as the rule says. */
  #strike(rule: Strike | undefined, action: () => void): void {
    if (rule === undefined && this.#line === undefined) {
      action();
      return;
    }
    const apply = (): Promise<void> => Promise.resolve().then(action);
    const before = this.#line ?? Promise.resolve();
    const line = before
      .then(() => (rule === undefined ? apply() : rule.carryOut(apply, () => new Error(LOST))))
      .catch((error: unknown) =>
        this.#end(() => this.#sink.closed(error instanceof Error ? error.message : LOST)),
      )
      .then(() => {
        if (this.#line === line) this.#line = undefined;
      });
    this.#line = line;
  }
}
