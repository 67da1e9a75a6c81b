/** What the engine needs and does not have: time, chance, and the algorithms of others. All of it is passed in, and none of it may wait. */
import type { RateLimit } from "./job-spec.ts";

/** Two clocks. Start times are wall-clock times; leases and timeouts are counted on a clock that nobody sets. Neither may go back between calls. */
export interface Instant {
  readonly wallMs: number;
  readonly monoMs: number;
}

/** The built-in limiter: Gubernator's algorithms as a pure function of a bucket's state. */
export interface RateAlgorithm {
  /**
   * Hits the bucket. `state` is what the last call for this bucket returned, undefined at first; it is stored and journalled as it is, so it should be short.
   * The new state counts only if the engine uses it; a check that is not used must leave no trace.
   */
  hit(state: string | undefined, limit: RateLimit, wallMs: number): RateAnswer;
}

export interface RateAnswer {
  readonly state: string;
  readonly allowed: boolean;
  /** When it is worth trying again; undefined when the limiter cannot say. */
  readonly retryAtMs: number | undefined;
  /** From then on the state is as good as none, and is forgotten. */
  readonly forgetAtMs: number;
}

export interface CronAlgorithm {
  /** Says what is wrong with the expression or the zone, or undefined. */
  problem(cron: string, timeZone: string): string | undefined;
  /** The first time strictly after `afterMs`; undefined when there is none. */
  next(cron: string, timeZone: string, afterMs: number): number | undefined;
}

export interface EnginePorts {
  /** In [0, 1). Drawn only by commands, never by replay. */
  readonly random: () => number;
  /** Undefined: limits are checked outside, with `checkRate` effects. */
  readonly rates: RateAlgorithm | undefined;
  readonly cron: CronAlgorithm;
}

export interface EngineTerms {
  readonly leaseMs: number;
  /** So many leases of one attempt may be lost before it counts as failed. */
  readonly lostLeasesMax: number;
  readonly retentionMs: number;
}

export const ENGINE_DEFAULTS: EngineTerms = {
  leaseMs: 10_000,
  lostLeasesMax: 3,
  retentionMs: 7 * 24 * 3_600_000,
};
