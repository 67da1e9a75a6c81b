import type { Clock, Timer } from "@keelson/kernel";

interface Parked {
  readonly timer: Timer;
  readonly resume: (again: boolean) => void;
}

/** Requests that arrived a moment before their replica is live here. They wait, bounded in number and time, instead of being bounced. */
export class Parking {
  readonly #parked = new Set<Parked>();

  get size(): number {
    return this.#parked.size;
  }

  /** Resolves true when it is worth looking again, false when the wait is over. */
  wait(clock: Clock, waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const parked: Parked = {
        timer: clock.after(waitMs, () => {
          this.#parked.delete(parked);
          resolve(false);
        }),
        resume: resolve,
      };
      this.#parked.add(parked);
    });
  }

  wakeAll(): void {
    for (const parked of this.#parked) {
      parked.timer.cancel();
      parked.resume(true);
    }
    this.#parked.clear();
  }
}
