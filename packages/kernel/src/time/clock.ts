/**
 * Time and chance as ports. Nothing in the kernel or its drivers reads a clock, sets a timer or draws a random number
 * except through these, so that a whole fleet runs in virtual time and a seed replays it.
 */

/** A pending call. Cancelling one that has fired does nothing. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds on a monotonic clock that counts while the machine sleeps. Only differences mean anything. */
  now(): number;
  /** Milliseconds since 1970, for people and for records. No decision may depend on it. */
  wall(): number;
  /** Calls `run` once, `delayMs` from now or later. */
  after(delayMs: number, run: () => void): Timer;
}

/** A number in [0, 1). */
export type Random = () => number;
