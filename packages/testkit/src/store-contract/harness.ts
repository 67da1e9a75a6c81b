/** What a store must bring to be held to the contract: clients, the passing of time, and what it honestly cannot do. */
import type { Store } from "@keelson/kernel";

/** What not every store can do. A store says which of them it lacks; facts that need one are then not claimed of it, and those that hold only without it are. */
export type Ability =
  /** `restart` stops and starts the store; it keeps everything that was acknowledged. */
  | "restart"
  /** `restart` leaves the incarnation as it was. */
  | "sameAfterRestart"
  /** `restart` cuts its clients off. Behind a pooler their connections stay. */
  | "cutByRestart"
  /** `forget` makes the store drop its history of changes. */
  | "forget"
  /** Deletions by a session's end are marked `expired`. */
  | "expired";

export interface StoreHarness {
  /** A client, and another one of the same store. After `restart` these may be other objects. */
  readonly store: Store;
  readonly second: Store;
  /** The TTL that the facts use; the shorter, the faster the suite. */
  readonly ttlMs: number;
  /** A session's end is seen at most this long after its TTL. */
  readonly graceMs: number;
  /** Lets time pass, on the store's clock and in this process. */
  sleep(ms: number): Promise<void>;
  restart?(): Promise<void>;
  forget?(): Promise<void>;
  /** Closes both clients and removes the store. */
  close(): Promise<void>;
}
