/** The whole state of a store as plain data: what a restart keeps, and what a backup restores. */
import type { Entry, Revision } from "@keelson/kernel";

export interface SessionSnapshot {
  readonly id: string;
  readonly ttlMs: number;
  /** What was left of its TTL; zero where renewals were not recorded. */
  readonly remainingMs: number;
}

export interface StoreSnapshot {
  readonly incarnation: string;
  readonly revision: Revision;
  /** How many sessions were ever opened; the next id counts on from it. */
  readonly sessionsOpened: number;
  /** In key order. */
  readonly entries: readonly Entry[];
  readonly sessions: readonly SessionSnapshot[];
}
