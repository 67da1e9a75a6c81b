/**
 * Turns measured loads into loads to plan with. Measurements jump about; a plan that followed them would move shards for noise. So a load is an exponential
 * moving average, and what the plan sees of it changes only when that average has really gone elsewhere. The state of one replica is a value; who keeps it,
 * and for how long, is for the caller.
 */
export interface SmoothedLoad {
  /** The moving average, per dimension. */
  readonly mean: readonly number[];
  /** What plans are made with, per dimension. */
  readonly used: readonly number[];
}

export interface SmoothingOptions {
  /** After this long a lasting change counts by half. */
  readonly halfLifeMs: number;
  /** The used load follows the mean once they differ by more than this share of the greater of them. */
  readonly hysteresisShare: number;
}

/** Two minutes of half-life outlive a burst; a tenth is below the width of the default band, and above what such an average still wavers. */
export const SMOOTHING_DEFAULTS: SmoothingOptions = { halfLifeMs: 120_000, hysteresisShare: 0.1 };

/**
 * Takes in a measurement made `elapsedMs` after the one before. The first one is taken as it is. A dimension that was not measured (NaN) stays as it was.
 */
export function smooth(
  before: SmoothedLoad | undefined,
  measured: readonly number[],
  elapsedMs: number,
  options: SmoothingOptions = SMOOTHING_DEFAULTS,
): SmoothedLoad {
  const keep = 0.5 ** (Math.max(0, elapsedMs) / options.halfLifeMs);
  const mean: number[] = [];
  const used: number[] = [];
  for (const [d, value] of measured.entries()) {
    const known = before?.mean[d] ?? NaN;
    const now = Number.isNaN(value) ? known : Number.isNaN(known) ? value : known * keep + value * (1 - keep);
    const old = before?.used[d] ?? NaN;
    mean.push(now);
    used.push(Number.isNaN(old) || away(now, old, options.hysteresisShare) ? now : old);
  }
  return { mean, used };
}

function away(a: number, b: number, share: number): boolean {
  return Math.abs(a - b) > share * Math.max(a, b);
}
