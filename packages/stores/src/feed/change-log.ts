/**
 * A store's log of changes, as Redis and Postgres keep one: a batch for every revision, without gaps, of which the oldest are dropped now and then. What reads it must
 * be able to tell that something is missing; where it lives and how one waits for more is the store's business.
 */
import type { ChangeBatch, Revision } from "@keelson/kernel";

export type LogPage =
  | {
      /** What follows the revision that was asked about, without gaps, oldest first; empty when there is nothing yet. */
      readonly batches: readonly ChangeBatch[];
    }
  /** What follows it can no longer be told. */
  | { readonly relist: string };

export interface ChangeLog {
  /** What there is above a revision now, or the beginning of it. Rejects when the store cannot be asked. */
  read(after: Revision): Promise<LogPage>;
  /** Begins to wait for what comes. */
  follow(): LogFollower;
}

/** One reader's way of waiting. It is asked one thing at a time. */
export interface LogFollower {
  /** What comes above a revision, when it comes; an empty page now and then is allowed. Rejects when the connection is lost or this was closed. */
  next(after: Revision): Promise<LogPage>;
  /** May be called again. */
  close(): void;
}
