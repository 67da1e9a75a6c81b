import { uptime } from "node:os";
import type { Clock, Random, Timer } from "@keelson/kernel";

/** More than this between wall clock and monotonic clock since the last look is worth asking whether the machine slept. */
const LEAP_MS = 250;

/**
 * The real clock. `now` also counts the time the machine was asleep, which the process's own monotonic clock does not on Linux: a laptop that wakes
 * up must not believe that its sessions are still alive. Sleep is told from a stepped wall clock by the system's uptime, which counts sleep too.
 */
export class SystemClock implements Clock {
  #slept = 0;
  #wallAhead = Date.now() - performance.now();
  #uptimeAhead = uptime() * 1000 - performance.now();

  now(): number {
    const monotonic = performance.now();
    const ahead = Date.now() - monotonic;
    if (ahead - this.#wallAhead > LEAP_MS) this.#noticeLeap(monotonic, ahead);
    else if (ahead < this.#wallAhead - LEAP_MS) this.#wallAhead = ahead;
    return monotonic + this.#slept;
  }

  wall(): number {
    return Date.now();
  }

  after(delayMs: number, run: () => void): Timer {
    let deferred: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      // Timers run before sockets are read. Without this a process that was busy until just now would call answers late that have long arrived.
      deferred = setImmediate(run);
    }, delayMs);
    return {
      cancel: () => {
        clearTimeout(timer);
        clearImmediate(deferred);
      },
    };
  }

  #noticeLeap(monotonic: number, ahead: number): void {
    const uptimeAhead = uptime() * 1000 - monotonic;
    const asleep = uptimeAhead - this.#uptimeAhead;
    if (asleep > LEAP_MS) {
      this.#slept += asleep;
      this.#uptimeAhead = uptimeAhead;
    }
    this.#wallAhead = ahead;
  }
}

export const systemRandom: Random = Math.random;

/** A wall clock reading as people write it. */
export function formatWall(wallMs: number): string {
  return new Date(wallMs).toISOString();
}
