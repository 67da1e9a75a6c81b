import type { Clock, Timer } from "@keelson/kernel";

/**
 * One timer for all the deadlines of a client. It is set for the earliest deadline it was ever told; when it fires, `expire` deals
 * with what is due and says which deadline is next. Calls that were answered in time cost nothing here, which is nearly all of them.
 */

/** Deadlines closer together than this share a wake-up, so that many of them do not mean many scans. */
const GRAIN_MS = 5;

export class Deadlines {
  readonly #clock: Clock;
  readonly #expire: (now: number) => number;
  #wakeAt = Infinity;
  #timer: Timer | undefined;

  /** `expire(now)` returns the earliest deadline that is left, or Infinity. */
  constructor(clock: Clock, expire: (now: number) => number) {
    this.#clock = clock;
    this.#expire = expire;
  }

  add(deadline: number, now: number): void {
    if (deadline < this.#wakeAt) this.#set(deadline, now);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#wakeAt = Infinity;
  }

  #set(deadline: number, now: number): void {
    this.#timer?.cancel();
    this.#wakeAt = deadline;
    this.#timer = this.#clock.after(Math.max(0, deadline - now), () => {
      const firedAt = this.#clock.now();
      this.#wakeAt = Infinity;
      this.#timer = undefined;
      const next = this.#expire(firedAt);
      if (next !== Infinity) this.add(Math.max(next, firedAt + GRAIN_MS), firedAt);
    });
  }
}
