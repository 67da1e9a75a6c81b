/**
 * The clocks of one machine, as functions of true time: a monotonic one that runs a little fast or slow and counts from an arbitrary moment, and a wall clock that can be
 * set. It knows no timers; a SimProcess has those.
 */
export interface MachineClockTerms {
  /** Local milliseconds per true millisecond: 1.02 runs 2 % fast. */
  readonly rate: number;
  /** What the monotonic clock shows at true time 0. */
  readonly offsetMs: number;
  /** What the wall clock shows at true time 0. */
  readonly wallMs: number;
}

export class MachineClock {
  #rate: number;
  /** True and local time when the present rate began. */
  #since: { readonly trueMs: number; readonly localMs: number };
  /** The wall clock's lead over the monotonic one. */
  #wallLeadMs: number;

  constructor(terms: MachineClockTerms) {
    this.#rate = terms.rate;
    this.#since = { trueMs: 0, localMs: terms.offsetMs };
    this.#wallLeadMs = terms.wallMs - terms.offsetMs;
  }

  get rate(): number {
    return this.#rate;
  }

  monotonic(trueNow: number): number {
    return this.#since.localMs + (trueNow - this.#since.trueMs) * this.#rate;
  }

  wall(trueNow: number): number {
    return Math.round(this.monotonic(trueNow) + this.#wallLeadMs);
  }

  /** Someone set the wall clock. The monotonic one does not notice. */
  stepWall(byMs: number): void {
    this.#wallLeadMs += byMs;
  }

  /** From now on it runs faster or slower: the machine warmed up, or its clock is being slewed. */
  setRate(rate: number, trueNow: number): void {
    this.#since = { trueMs: trueNow, localMs: this.monotonic(trueNow) };
    this.#rate = rate;
  }

  /** How much true time passes while this machine counts `localMs`, at its present rate. */
  trueMs(localMs: number): number {
    return localMs / this.#rate;
  }
}
