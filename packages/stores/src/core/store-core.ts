/**
 * The engine of the memory and the embedded store: keys, guarded commits, sessions and watches, all synchronous and in one thread, so that
 * every call is atomic and the order of calls is the order of revisions. It sets no timer: every operation first ends the sessions whose
 * deadline has come, and a driver that wants their watchers told in time calls `expire` at the moment it names.
 *
 * It is not a Store: it has no promises, no deadlines on calls and no durability. Drivers add those; the simulator drives it in virtual time.
 */
import {
  STORE_LIMITS,
  type Change,
  type ChangeBatch,
  type Commit,
  type CommitOutcome,
  type Entry,
  type RangePage,
  type Renewal,
  type Revision,
  type SessionOpened,
  type StoreReply,
  type Watch,
  type WatchSink,
  type Write,
} from "@keelson/kernel";
import { History } from "./history.ts";
import { CORE_LIMITS, checkCommit, checkRange, checkSessions, checkTtl, rejected } from "./limits.ts";
import { OrderedKeys } from "./ordered-keys.ts";
import { Sessions, type Session } from "./sessions.ts";
import type { StoreSnapshot } from "./snapshot.ts";
import { Watchers } from "./watchers.ts";

/** Told of every change of state before any watch is, in order: what a driver must make durable. Must not call the store. */
export interface StoreJournal {
  changed(batch: ChangeBatch): void;
  sessionOpened(session: string, ttlMs: number): void;
  sessionEnded(session: string): void;
}

export interface StoreCoreOptions {
  /** Milliseconds on the store's own monotonic clock. */
  readonly now: () => number;
  readonly wall: () => number;
  readonly incarnation: string;
  /** How many batches of changes are kept for watches that resume. */
  readonly historyMax?: number;
  /** Names session number `n`. Ids must differ across incarnations and restarts; the default names the incarnation. */
  readonly sessionId?: (n: number) => string;
  /** Whether `restore` gives every session a full TTL (the default) or what was left of it. */
  readonly fullTtlOnRestore?: boolean;
  readonly journal?: StoreJournal;
  /** Watches are told of a revision only once `release` has named it or a higher one: a driver releases what is durable. */
  readonly holdWatches?: boolean;
}

export interface CoreRangeOptions {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
}

const HISTORY_BATCHES_DEFAULT = 10_000;

export class StoreCore {
  readonly incarnation: string;
  readonly #now: () => number;
  readonly #wall: () => number;
  readonly #sessionId: (n: number) => string;
  readonly #journal: StoreJournal | undefined;
  readonly #entries = new Map<string, Entry>();
  readonly #keys = new OrderedKeys();
  readonly #sessions = new Sessions();
  readonly #watchers: Watchers;
  readonly #history: History;
  #revision: Revision;
  #sessionsOpened = 0;

  constructor(options: StoreCoreOptions, revision: Revision = 0) {
    const { incarnation } = options;
    this.incarnation = incarnation;
    this.#now = options.now;
    this.#wall = options.wall;
    this.#sessionId = options.sessionId ?? ((n) => `${incarnation}.${n.toString(36)}`);
    this.#journal = options.journal;
    this.#revision = revision;
    this.#history = new History(options.historyMax ?? HISTORY_BATCHES_DEFAULT, revision);
    this.#watchers = new Watchers(options.holdWatches === true ? revision : Infinity);
  }

  /** A core with the snapshot's keys and sessions. The incarnation is the one in `options`: the caller knows whether writes were lost. */
  static restore(snapshot: StoreSnapshot, options: StoreCoreOptions): StoreCore {
    const core = new StoreCore(options, snapshot.revision);
    const now = core.#now();
    const fullTtl = options.fullTtlOnRestore ?? true;
    core.#sessionsOpened = snapshot.sessionsOpened;
    for (const { id, ttlMs, remainingMs } of snapshot.sessions)
      core.#sessions.open(id, ttlMs, now + (fullTtl ? ttlMs : remainingMs));
    for (const entry of snapshot.entries) core.#set(entry);
    return core;
  }

  get revision(): Revision {
    return this.#revision;
  }

  range(prefix: string, options: CoreRangeOptions = {}): RangePage {
    const limit = options.limit ?? STORE_LIMITS.rangeLimitMax;
    checkRange(limit);
    this.expire();
    const { keys, more } = this.#keys.page(prefix, options.after, limit);
    return {
      entries: keys.map((key) => this.#entries.get(key) as Entry),
      more,
      serverTimeMs: this.#wall(),
      revision: this.#revision,
      incarnation: this.incarnation,
    };
  }

  commit(commit: Commit, incarnation: string): CommitOutcome {
    checkCommit(commit);
    this.expire();
    if (incarnation !== this.incarnation) return { kind: "incarnation", ...this.#reply() };
    const failed = commit.guards
      .filter(({ key, revision }) => (this.#entries.get(key)?.revision ?? 0) !== revision)
      .map(({ key }) => key);
    const gone = this.#endedSessions(commit.writes);
    if (failed.length > 0 || gone.length > 0) return { kind: "conflict", failed, gone, ...this.#reply() };
    if (this.#entries.size + commit.writes.length > CORE_LIMITS.keysMax)
      throw rejected(`the store is full: it holds ${CORE_LIMITS.keysMax} keys at most`);
    this.#write(commit.writes);
    // Before the delivery, in which a sink may commit again.
    const reply = this.#reply();
    this.#watchers.deliver();
    return { kind: "committed", ...reply };
  }

  /** Delivers the backlog before it returns; later batches as they come, from inside the call that made them. */
  watch(prefix: string, after: Revision, sink: WatchSink): Watch {
    this.expire();
    if (after > this.#revision) {
      sink.relist(`revision ${after} is above the store's ${this.#revision}`);
      return { close: () => {} };
    }
    if (after < this.#history.floor) {
      sink.relist(`revision ${after} is too old: the history begins after ${this.#history.floor}`);
      return { close: () => {} };
    }
    return this.#watchers.add(prefix, after, sink, this.#history.since(after));
  }

  /** Lets watches hear of every revision up to this one, where they are held. */
  release(revision: Revision): void {
    this.#watchers.release(revision);
  }

  /** Ends every watch, as a store does that closes, fails or is replaced. */
  endWatches(how: "relist" | "closed", reason: string): void {
    this.#watchers.endAll(how, reason);
  }

  openSession(ttlMs: number): SessionOpened {
    checkTtl(ttlMs);
    this.expire();
    if (this.#sessions.size >= CORE_LIMITS.sessionsMax)
      throw rejected(`the store is full: it holds ${CORE_LIMITS.sessionsMax} sessions at most`);
    this.#sessionsOpened += 1;
    const session = this.#sessionId(this.#sessionsOpened);
    this.#sessions.open(session, ttlMs, this.#now() + ttlMs);
    this.#journal?.sessionOpened(session, ttlMs);
    return { session, ttlMs, ...this.#reply() };
  }

  renew(ids: readonly string[]): Renewal {
    checkSessions(ids);
    this.expire();
    const now = this.#now();
    const alive: string[] = [];
    const gone: string[] = [];
    for (const id of ids) {
      const session = this.#sessions.get(id);
      if (session === undefined) gone.push(id);
      else {
        session.deadline = now + session.ttlMs;
        alive.push(id);
      }
    }
    return { alive, gone, ...this.#reply() };
  }

  revoke(id: string): StoreReply {
    this.expire();
    const session = this.#sessions.get(id);
    if (session !== undefined) this.#end(session);
    const reply = this.#reply();
    this.#watchers.deliver();
    return reply;
  }

  /** Ends the sessions whose deadline has come. No session ends before the moment it returns; undefined when there is none. */
  expire(): number | undefined {
    const now = this.#now();
    if (this.#sessions.mayHaveExpired(now)) {
      for (const session of this.#sessions.expired(now)) this.#end(session);
      this.#watchers.deliver();
    }
    return this.#sessions.earliest;
  }

  snapshot(): StoreSnapshot {
    this.expire();
    const now = this.#now();
    return {
      incarnation: this.incarnation,
      revision: this.#revision,
      sessionsOpened: this.#sessionsOpened,
      entries: this.#keys.page("", undefined, Infinity).keys.map((key) => this.#entries.get(key) as Entry),
      sessions: Array.from(this.#sessions.all(), ({ id, ttlMs, deadline }) => ({
        id,
        ttlMs,
        remainingMs: deadline - now,
      })),
    };
  }

  #endedSessions(writes: readonly Write[]): string[] {
    const gone: string[] = [];
    for (const write of writes) {
      if (write.kind !== "put" || write.session === undefined) continue;
      if (this.#sessions.get(write.session) === undefined && !gone.includes(write.session))
        gone.push(write.session);
    }
    return gone;
  }

  /** Deleting what is absent changes nothing; a commit that changes nothing takes no revision. */
  #write(writes: readonly Write[]): void {
    const revision = this.#revision + 1;
    const changes: Change[] = [];
    for (const write of writes) {
      if (write.kind === "put") {
        const { key, value, session } = write;
        const entry: Entry =
          session === undefined ? { key, value, revision } : { key, value, revision, session };
        this.#set(entry);
        changes.push({ kind: "put", entry });
      } else if (this.#unset(write.key)) changes.push({ kind: "delete", key: write.key, revision });
    }
    if (changes.length > 0) this.#record(revision, changes);
  }

  /** All keys of a session go in one revision. */
  #end(session: Session): void {
    this.#sessions.delete(session.id);
    this.#journal?.sessionEnded(session.id);
    if (session.keys.size === 0) return;
    const revision = this.#revision + 1;
    const changes: Change[] = [];
    for (const key of session.keys) {
      this.#entries.delete(key);
      this.#keys.remove(key);
      changes.push({ kind: "delete", key, revision, expired: true });
    }
    this.#record(revision, changes);
  }

  #record(revision: Revision, changes: readonly Change[]): void {
    const batch: ChangeBatch = { revision, incarnation: this.incarnation, changes };
    this.#revision = revision;
    this.#history.add(batch);
    this.#journal?.changed(batch);
    this.#watchers.publish(batch);
  }

  /** Requires that the entry's session, if it has one, lives. */
  #set(entry: Entry): void {
    const before = this.#entries.get(entry.key);
    if (before === undefined) this.#keys.add(entry.key);
    else if (before.session !== undefined && before.session !== entry.session)
      this.#sessions.get(before.session)?.keys.delete(entry.key);
    if (entry.session !== undefined) this.#sessions.get(entry.session)?.keys.add(entry.key);
    this.#entries.set(entry.key, entry);
  }

  #unset(key: string): boolean {
    const before = this.#entries.get(key);
    if (before === undefined) return false;
    if (before.session !== undefined) this.#sessions.get(before.session)?.keys.delete(key);
    this.#entries.delete(key);
    this.#keys.remove(key);
    return true;
  }

  #reply(): StoreReply {
    return { revision: this.#revision, incarnation: this.incarnation };
  }
}
