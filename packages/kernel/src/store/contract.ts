/**
 * The coordination store as the kernel sees it. Five stores meet this contract, and one suite in `testkit` holds them to it.
 * It is small on purpose: whatever cannot be said with guarded commits, watches and sessions is not in the protocol.
 *
 * The store is never on the path of a request.
 */

/** Counts the store's writes; rises with every commit that changed something, within one incarnation. Zero means "absent" in a guard. */
export type Revision = number;

/** A key with its value and the revision of its last write. `session` is the session whose end deletes it. */
export interface Entry {
  readonly key: string;
  readonly value: string;
  readonly revision: Revision;
  readonly session?: string | undefined;
}

/** Holds when the key's last write has this revision; revision 0 holds when the key is absent. */
export interface Guard {
  readonly key: string;
  readonly revision: Revision;
}

export type Write =
  | {
      readonly kind: "put";
      readonly key: string;
      readonly value: string;
      readonly session?: string | undefined;
    }
  | { readonly kind: "delete"; readonly key: string };

export interface Commit {
  readonly guards: readonly Guard[];
  readonly writes: readonly Write[];
}

/** What every reply says about the store it came from. */
export interface StoreReply {
  /** The revision the reply is true at. */
  readonly revision: Revision;
  /** Changes when the store is new, restored, or has lost writes. */
  readonly incarnation: string;
}

export interface RangePage extends StoreReply {
  /** In key order. */
  readonly entries: readonly Entry[];
  /** More keys follow; ask again with `after` set to the last key of this page. */
  readonly more: boolean;
  /** The server's wall clock, for era numbers and for `doctor`. */
  readonly serverTimeMs: number;
}

export type CommitOutcome =
  | ({ readonly kind: "committed" } & StoreReply)
  /** Nothing was applied. `failed` are the keys of guards that did not hold; `gone` are ended sessions that a put named. */
  | ({
      readonly kind: "conflict";
      readonly failed: readonly string[];
      readonly gone: readonly string[];
    } & StoreReply)
  /** Nothing was applied: the caller named another incarnation than the store's. */
  | ({ readonly kind: "incarnation" } & StoreReply);

export interface SessionOpened extends StoreReply {
  readonly session: string;
  /** What the store granted; never less than was asked for. */
  readonly ttlMs: number;
}

export interface Renewal extends StoreReply {
  readonly alive: readonly string[];
  readonly gone: readonly string[];
}

export type Change =
  | { readonly kind: "put"; readonly entry: Entry }
  /** `expired` when a session's end deleted it, as far as the store can tell. */
  | {
      readonly kind: "delete";
      readonly key: string;
      readonly revision: Revision;
      readonly expired?: boolean;
    };

/** All changes of one revision, in one piece. One without changes says only that everything up to its revision has been delivered. */
export interface ChangeBatch extends StoreReply {
  readonly changes: readonly Change[];
}

/** Where a watch delivers. Exactly one of `relist` and `closed` ends it; nothing follows. */
export interface WatchSink {
  changes(batch: ChangeBatch): void;
  /** Changes may have been missed (compaction, overflow, new incarnation): list again, then watch from there. */
  relist(reason: string): void;
  /** The connection is gone; watch again after a wait, from the last delivered revision. */
  closed(reason: string): void;
}

export interface Watch {
  close(): void;
}

export interface CallOptions {
  /** The call fails with STORE_UNAVAILABLE or STORE_UNKNOWN after this long. Every call has a deadline. */
  readonly timeoutMs: number;
}

export interface CommitOptions extends CallOptions {
  /** The incarnation that the caller believes in; a mismatch refuses the commit. */
  readonly incarnation: string;
}

export interface RangeOptions extends CallOptions {
  readonly limit?: number;
  /** Only keys greater than this one. */
  readonly after?: string;
}

/** Limits that every caller respects and every store enforces with STORE_REJECTED. */
export const STORE_LIMITS = {
  valueBytesMax: 64 * 1024,
  operationsMax: 100,
  keyBytesMax: 1024,
  rangeLimitMax: 1000,
} as const;

export interface Store {
  /** A page of the keys that begin with `prefix`. Pages of one listing are true at revisions that never fall. Linearizable. */
  range(prefix: string, options: RangeOptions): Promise<RangePage>;
  /** Applies all writes in one revision if all guards hold and all named sessions live. At most one write per key. */
  commit(commit: Commit, options: CommitOptions): Promise<CommitOutcome>;
  /** Delivers every change with a revision above `after`, once, in order. Returns at once. */
  watch(prefix: string, after: Revision, sink: WatchSink): Watch;
  openSession(ttlMs: number, options: CallOptions): Promise<SessionOpened>;
  /** Gives each living session a full TTL again, counted by the store's clock. One call for all sessions of a process. */
  renew(sessions: readonly string[], options: CallOptions): Promise<Renewal>;
  /** Ends a session; its keys go in one revision. Revoking one that has ended is fine. */
  revoke(session: string, options: CallOptions): Promise<StoreReply>;
  /** Closes connections. Sessions live on until they expire. */
  close(): Promise<void>;
}
