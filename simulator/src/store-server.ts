import { StoreError, type ChangeBatch, type Commit, type CommitOutcome } from "@keelson/kernel";
import { StoreCore, type StoreSnapshot } from "@keelson/stores/core";
import type { MachineClock } from "./time/machine-clock.ts";
import type { Happening } from "./time/event-heap.ts";
import type { Scheduler } from "./time/scheduler.ts";

/** What a store comes back with after it was down. */
export type Recovery =
  /** Every write is there. */
  | { readonly kind: "kept" }
  /** It is as it was at the snapshot, and says so by a new incarnation. */
  | { readonly kind: "lost"; readonly snapshot: StoreSnapshot }
  /** It is as it was at the snapshot and does not say so: clients can tell only by the falling revision. */
  | { readonly kind: "lost-silently"; readonly snapshot: StoreSnapshot }
  /** It is empty, and new. */
  | { readonly kind: "total" };

/** Sees every change in the store at the instant it happens, as no process can. */
export interface StoreObserver {
  changed(batch: ChangeBatch): void;
  /** A commit was carried out although it was made for another incarnation. */
  foreign(sender: string, madeFor: string, carriedOutBy: string): void;
  /** The store is back and serves; `lost` when it came back without some of its writes. */
  recovered(recovery: Recovery): void;
}

/**
 * The one coordination store of the simulated fleet: the engine of the memory store, on a clock of its own, which can go down and come back with all, some or none of its writes.
 * Processes reach it over the network through a SimStore each.
 */
export class StoreServer {
  readonly #scheduler: Scheduler;
  readonly #clock: MachineClock;
  readonly #observer: StoreObserver;
  /** Switched off by `--break full-ttl`: a restarted store then goes by renewals it never recorded. */
  readonly #fullTtl: boolean;
  /** Switched off by `--break incarnation`: a commit is then carried out whatever store it was made for. */
  readonly #refusesForeign: boolean;
  #core: StoreCore;
  #up = true;
  #refuses = true;
  #incarnations = 0;
  #sessions = 0;
  #expiry: Happening | undefined;
  /** As it was when it went down: the time that passes until it is back ends no session. */
  #atStop: StoreSnapshot;

  constructor(
    scheduler: Scheduler,
    clock: MachineClock,
    observer: StoreObserver,
    rules: { fullTtl: boolean; incarnation: boolean },
  ) {
    this.#scheduler = scheduler;
    this.#clock = clock;
    this.#observer = observer;
    this.#fullTtl = rules.fullTtl;
    this.#refusesForeign = rules.incarnation;
    this.#core = new StoreCore(this.#options(this.#nextIncarnation()));
    this.#atStop = this.#core.snapshot();
  }

  get up(): boolean {
    return this.#up;
  }

  /** While it is down: whether callers are turned away at once, or hear nothing. */
  get refuses(): boolean {
    return this.#refuses;
  }

  /** How many sessions were ever opened; the id of session number 7 is `s7`. */
  get sessionsOpened(): number {
    return this.#sessions;
  }

  /** For checkers and convergence; requires that the store is up. */
  get core(): StoreCore {
    return this.#core;
  }

  /** Carries a call out. Requires that the store is up. */
  apply<T>(operation: (core: StoreCore) => T): T {
    if (!this.#up) throw new StoreError("STORE_UNAVAILABLE", "the store is down");
    const result = operation(this.#core);
    this.#watchExpiry();
    return result;
  }

  commit(sender: string, commit: Commit, madeFor: string): CommitOutcome {
    return this.apply((core) => {
      const outcome = core.commit(commit, this.#refusesForeign ? madeFor : core.incarnation);
      if (outcome.kind === "committed" && madeFor !== core.incarnation)
        this.#observer.foreign(sender, madeFor, core.incarnation);
      return outcome;
    });
  }

  snapshot(): StoreSnapshot {
    return this.#core.snapshot();
  }

  /** Goes down. `refuses` says whether callers find nobody listening or nobody answering. */
  stop(refuses: boolean): void {
    if (!this.#up) return;
    this.#atStop = this.#core.snapshot();
    this.#up = false;
    this.#refuses = refuses;
    if (this.#expiry) this.#scheduler.cancel(this.#expiry);
    this.#expiry = undefined;
    this.#core.endWatches("closed", "the store went down");
  }

  start(recovery: Recovery): void {
    if (this.#up) return;
    this.#core = this.#recover(recovery);
    this.#up = true;
    this.#observer.recovered(recovery);
    this.#watchExpiry();
  }

  #recover(recovery: Recovery): StoreCore {
    switch (recovery.kind) {
      case "kept":
        return this.#restore(this.#atStop, this.#core.incarnation);
      case "lost":
        return this.#restore(recovery.snapshot, this.#nextIncarnation());
      case "lost-silently":
        return this.#restore(recovery.snapshot, this.#core.incarnation);
      case "total":
        return new StoreCore(this.#options(this.#nextIncarnation()));
    }
  }

  #restore(snapshot: StoreSnapshot, incarnation: string): StoreCore {
    if (this.#fullTtl) return StoreCore.restore(snapshot, this.#options(incarnation));
    const sessions = snapshot.sessions.map((session) => ({ ...session, remainingMs: 0 }));
    return StoreCore.restore(
      { ...snapshot, sessions },
      { ...this.#options(incarnation), fullTtlOnRestore: false },
    );
  }

  #options(incarnation: string): ConstructorParameters<typeof StoreCore>[0] {
    return {
      now: () => this.#clock.monotonic(this.#scheduler.now),
      wall: () => this.#clock.wall(this.#scheduler.now),
      incarnation,
      // Unique for the whole run, whatever was lost: a session id is never given out twice.
      sessionId: () => `s${++this.#sessions}`,
      journal: {
        changed: (batch) => this.#observer.changed(batch),
        sessionOpened: () => {},
        sessionEnded: () => {},
      },
    };
  }

  #nextIncarnation(): string {
    return `i${++this.#incarnations}`;
  }

  /** Sessions end on time even when nobody calls. */
  #watchExpiry(): void {
    const earliest = this.#core.expire();
    if (this.#expiry) {
      if (earliest !== undefined && this.#expiry.at <= this.#trueTime(earliest)) return;
      this.#scheduler.cancel(this.#expiry);
      this.#expiry = undefined;
    }
    if (earliest === undefined) return;
    this.#expiry = this.#scheduler.at(this.#trueTime(earliest), () => {
      this.#expiry = undefined;
      if (this.#up) this.#watchExpiry();
    });
  }

  #trueTime(storeTime: number): number {
    const now = this.#scheduler.now;
    return now + this.#clock.trueMs(Math.max(0, storeTime - this.#clock.monotonic(now))) + 1e-3;
  }
}
