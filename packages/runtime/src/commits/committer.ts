import {
  STORE_LIMITS,
  StoreError,
  type Change,
  type Clock,
  type Commit,
  type CommitOutcome,
  type CommitReport,
  type Guard,
  type Store,
  type Write,
} from "@keelson/kernel";
import type { Mirror } from "../mirror/mirror.ts";

export interface CommitterOptions {
  readonly store: Store;
  readonly mirror: Mirror;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

interface Pending {
  readonly commit: Commit;
  /** The incarnation its guards were read from: against any other they would mean something else. */
  readonly incarnation: string | undefined;
  readonly report: (report: CommitReport, outcome: CommitOutcome | undefined) => void;
}

const settled = Promise.resolve();

/** Batches out at once; more wait. Two keep the store busy; more of many nodes that start at once would only stand before each other's renewals. */
const BATCHES_MAX = 2;

/**
 * Sends commits to the store for one node. Commits that may share one (grants, contender keys) are gathered into batches below the store's limit; when a
 * guard of one fails, it is taken out and the rest are sent again. What was written is told to the mirror before the outcome is reported, so a
 * node always sees its own writes.
 */
export class Committer {
  readonly #options: CommitterOptions;
  #waiting: Pending[] = [];
  #scheduled = false;
  #out = 0;
  #stopped = false;

  constructor(options: CommitterOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting = [];
  }

  /** Sends one commit by itself. */
  alone(
    commit: Commit,
    report: Pending["report"],
    incarnation = this.#options.mirror.image.incarnation,
  ): void {
    void this.#send([{ commit, incarnation, report }]);
  }

  /** Sends it together with others of the same moment. */
  together(commit: Commit, report: Pending["report"]): void {
    this.#waiting.push({ commit, incarnation: this.#options.mirror.image.incarnation, report });
    if (this.#scheduled) return;
    this.#scheduled = true;
    void settled.then(() => {
      this.#scheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#out < BATCHES_MAX && !this.#stopped) {
      const batch: Pending[] = [];
      const written = new Set<string>();
      const guarded = new Map<string, number>();
      let [guards, writes] = [0, 0];
      while (this.#waiting.length > 0) {
        const { commit, incarnation } = this.#waiting[0]!;
        // A guard that many share, as on the era, is sent and counted once.
        writes += commit.writes.length;
        for (const { key, revision } of commit.guards) if (guarded.get(key) !== revision) guards++;
        if (batch.length > 0) {
          if (Math.max(guards, writes) > STORE_LIMITS.operationsMax) break;
          if (incarnation !== batch[0]!.incarnation) break;
          // A batch must mean the same as its commits one after another: none may guard on, or write, what one before it writes.
          if (
            commit.writes.some(({ key }) => written.has(key)) ||
            commit.guards.some(({ key }) => written.has(key))
          )
            break;
        }
        for (const write of commit.writes) written.add(write.key);
        for (const { key, revision } of commit.guards) guarded.set(key, revision);
        batch.push(this.#waiting.shift()!);
      }
      this.#out++;
      void this.#send(batch).finally(() => {
        this.#out--;
        this.#pump();
      });
    }
  }

  async #send(batch: Pending[]): Promise<void> {
    let left = batch;
    while (left.length > 0) {
      const knownBefore = this.#options.mirror.image.revision;
      const outcome = await this.#commit(merge(left), left[0]!.incarnation);
      if (this.#stopped) return;
      if (outcome === "unknown" || outcome === "unavailable") {
        for (const one of left) one.report(outcome, undefined);
        return;
      }
      const { mirror } = this.#options;
      // A reply from before a loss must not be learnt into the copy of what came after it.
      const known = outcome.incarnation === mirror.image.incarnation;
      if (known) mirror.notice(outcome.revision, knownBefore);
      else mirror.distrust();
      if (outcome.kind === "committed") {
        if (known)
          mirror.learn(
            outcome.revision,
            left.flatMap((one) => one.commit.writes.map((write) => asChange(write, outcome.revision))),
          );
        for (const one of left) one.report("committed", outcome);
        return;
      }
      const all = left.length === 1 || outcome.kind === "incarnation";
      const failing = new Set(
        all ? left : left.filter((one) => fails(one.commit, outcome.failed, outcome.gone)),
      );
      for (const one of failing) one.report("conflict", outcome);
      left = left.filter((one) => !failing.has(one));
      if (failing.size === 0) {
        // The store did not say which guard failed: there is no choice but one by one.
        for (const one of left) this.alone(one.commit, one.report, one.incarnation);
        return;
      }
    }
  }

  async #commit(
    commit: Commit,
    incarnation: string | undefined,
  ): Promise<CommitOutcome | "unknown" | "unavailable"> {
    const { store, timeoutMs } = this.#options;
    if (incarnation === undefined) return "unavailable";
    try {
      return await store.commit(commit, { incarnation, timeoutMs });
    } catch (error) {
      if (error instanceof StoreError && error.code !== "STORE_REJECTED") {
        return error.code === "STORE_UNKNOWN" ? "unknown" : "unavailable";
      }
      throw error;
    }
  }
}

function merge(batch: readonly Pending[]): Commit {
  if (batch.length === 1) return batch[0]!.commit;
  const guards: Guard[] = [];
  const guarded = new Map<string, number>();
  const writes: Write[] = [];
  for (const { commit } of batch) {
    for (const guard of commit.guards) {
      if (guarded.get(guard.key) === guard.revision) continue;
      guarded.set(guard.key, guard.revision);
      guards.push(guard);
    }
    writes.push(...commit.writes);
  }
  return { guards, writes };
}

function fails(commit: Commit, failed: readonly string[], gone: readonly string[]): boolean {
  return (
    commit.guards.some((guard) => failed.includes(guard.key)) ||
    commit.writes.some(
      (write) => write.kind === "put" && write.session !== undefined && gone.includes(write.session),
    )
  );
}

function asChange(write: Write, revision: number): Change {
  if (write.kind === "delete") return { kind: "delete", key: write.key, revision };
  return { kind: "put", entry: { key: write.key, value: write.value, revision, session: write.session } };
}
