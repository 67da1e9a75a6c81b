import { uptime } from "node:os";
import type { Clock, Random, Timer } from "@keelson/kernel";

/** More than this between wall clock and monotonic clock since the last look is worth asking whether the machine slept. */
const LEAP_MS = 250;

/** The longest that timers of the platform can wait: a longer one would run at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** What runs at one and the same millisecond. */
interface Due {
  readonly runs: Set<() => void>;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The real clock. `now` also counts the time the machine was asleep, which the process's own monotonic clock does not on Linux: a laptop that wakes
 * up must not believe that its sessions are still alive. Sleep is told from a stepped wall clock by the system's uptime, which counts sleep too.
 *
 * Timers that are due at the same millisecond wake the process once and run one after the other, without a turn of the event loop in between: what they send goes out together.
 */
export class SystemClock implements Clock {
  readonly #due = new Map<number, Due>();
  /** What has come due, and runs once sockets have been read. */
  #late: Due[] = [];
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
    const now = performance.now();
    // What is due at once comes before the next millisecond, and shares no timer with what is due there.
    const at = delayMs > 0 ? Math.ceil(now + delayMs) : Math.floor(now);
    const due = this.#due.get(at) ?? this.#plan(at, delayMs > 0 ? Math.ceil(at - now) : 0);
    // A function of its own: the same one may be asked for twice.
    const once = (): void => run();
    due.runs.add(once);
    return {
      cancel: () => {
        due.runs.delete(once);
        if (due.runs.size > 0 || due.timer === undefined) return;
        clearTimeout(due.timer);
        due.timer = undefined;
        this.#due.delete(at);
      },
    };
  }

  /** The system's timers count from a millisecond that has begun: one more makes them never early, and who is woken early has to be woken twice. */
  #plan(at: number, wholeMs: number): Due {
    const due: Due = { runs: new Set(), timer: undefined };
    due.timer = setTimeout(
      () => {
        due.timer = undefined;
        this.#due.delete(at);
        // Timers run before sockets are read. Without this a process that was busy until just now would call answers late that have long arrived.
        if (this.#late.push(due) === 1) setImmediate(() => this.#run());
      },
      Math.min(wholeMs + 1, TIMER_MS_MAX),
    );
    this.#due.set(at, due);
    return due;
  }

  #run(): void {
    const late = this.#late;
    this.#late = [];
    try {
      for (const { runs } of late) {
        for (const run of runs) {
          runs.delete(run);
          run();
        }
      }
    } finally {
      // What a throwing one left over still runs.
      const left = late.filter(({ runs }) => runs.size > 0);
      if (left.length > 0 && this.#late.push(...left) === left.length) setImmediate(() => this.#run());
    }
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
