/**
 * A rate limit as Gubernator's callers state it, and its answer. Names, numbers and flags are those of Gubernator's `V1` API, so that a limit means the same
 * here and on a real server. Numbers are whole and within ±2^53.
 */

export const ALGORITHM = { tokenBucket: 0, leakyBucket: 1 } as const;

/** Flags, to be added. Some vendored copies of the protocol number them otherwise; these are upstream's. */
export const BEHAVIOUR = {
  batching: 0,
  noBatching: 1,
  global: 2,
  durationIsGregorian: 4,
  resetRemaining: 8,
  multiRegion: 16,
  drainOverLimit: 32,
} as const;

export const RATE_STATUS = { underLimit: 0, overLimit: 1 } as const;

export interface RateLimitRequest {
  readonly name: string;
  readonly uniqueKey: string;
  /** 0 looks without counting; a negative number gives back. */
  readonly hits: number;
  readonly limit: number;
  /** In ms; with `durationIsGregorian` the number of a calendar interval. */
  readonly duration: number;
  readonly algorithm: number;
  readonly behaviour: number;
  /** How much a leaky bucket holds; its limit when 0. */
  readonly burst: number;
  /** When the caller made the request; when it arrived, if left out. */
  readonly createdAtMs?: number | undefined;
}

export interface RateLimitAnswer {
  readonly status: number;
  readonly limit: number;
  readonly remaining: number;
  /** 0 after a token bucket was reset. */
  readonly resetAtMs: number;
  /** When not empty, nothing else counts. */
  readonly error: string;
}

export function hasBehaviour(behaviour: number, flag: number): boolean {
  return (behaviour & flag) === flag;
}

export function refusedLimit(error: string): RateLimitAnswer {
  return { status: RATE_STATUS.underLimit, limit: 0, remaining: 0, resetAtMs: 0, error };
}
