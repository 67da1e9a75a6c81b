/**
 * The clocks of one machine, as functions of true time: a monotonic one that runs a little fast or slow and counts from an arbitrary moment, and a wall clock that can be
 * set. It knows no timers; a SimProcess has those.
 */
export interface MachineClockTerms {
  /** Local milliseconds per true millisecond: 1.02 runs 2 % fast. Fixed for the machine, so that a timer is never early by its own clock. */
  readonly rate: number;
  /** What the monotonic clock shows at true time 0. */
  readonly offsetMs: number;
  /** What the wall clock shows at true time 0. */
  readonly wallMs: number;
}

export class MachineClock {
  readonly rate: number;
  readonly #offsetMs: number;
  #wallMs: number;

  constructor(terms: MachineClockTerms) {
    this.rate = terms.rate;
    this.#offsetMs = terms.offsetMs;
    this.#wallMs = terms.wallMs;
  }

  monotonic(trueNow: number): number {
    return this.#offsetMs + trueNow * this.rate;
  }

  wall(trueNow: number): number {
    return Math.round(this.#wallMs + trueNow * this.rate);
  }

  /** Someone set the wall clock. The monotonic one does not notice. */
  stepWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  /** How much true time passes while this machine counts `localMs`. */
  trueMs(localMs: number): number {
    return localMs / this.rate;
  }
}
