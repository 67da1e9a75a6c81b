/**
 * A clock that stands still until a test moves it. Timers fire in the order of their times, and what they start gets its turn before
 * the next one fires. It is not the simulator's: that one also decides how long messages travel.
 */
import type { Clock, Timer } from "@keelson/kernel";

interface Pending {
  readonly at: number;
  readonly run: () => void;
}

export class ManualClock implements Clock {
  readonly #wallAtZero: number;
  readonly #pending = new Set<Pending>();
  #now = 0;

  constructor(wallAtZero = Date.UTC(2030, 0, 1)) {
    this.#wallAtZero = wallAtZero;
  }

  now(): number {
    return this.#now;
  }

  wall(): number {
    return this.#wallAtZero + this.#now;
  }

  after(delayMs: number, run: () => void): Timer {
    const pending: Pending = { at: this.#now + Math.max(0, delayMs), run };
    this.#pending.add(pending);
    return { cancel: () => void this.#pending.delete(pending) };
  }

  /** How many timers wait: a test of a closed thing expects none. */
  get timers(): number {
    return this.#pending.size;
  }

  /** Moves time on by `ms`, firing what falls due on the way. What is ready to run now does so before time moves. */
  async advance(ms: number): Promise<void> {
    await turn();
    const until = this.#now + ms;
    for (let next = this.#nextUntil(until); next !== undefined; next = this.#nextUntil(until)) {
      this.#now = next.at;
      this.#pending.delete(next);
      next.run();
      // oxlint-disable-next-line no-await-in-loop -- what a timer started comes before the next timer.
      await turn();
    }
    this.#now = until;
    await turn();
  }

  /** Of timers due at the same time, the one that was set first. */
  #nextUntil(until: number): Pending | undefined {
    let next: Pending | undefined;
    for (const pending of this.#pending) {
      if (pending.at <= until && (next === undefined || pending.at < next.at)) next = pending;
    }
    return next;
  }
}

/** Lets promises that are ready run, and I/O that is done report. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
