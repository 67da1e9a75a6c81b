/**
 * So many requests a second for each key, with a burst. What is kept of a key is one number, the time up to which its share is used; a key that has used nothing for a
 * while is forgotten. When there are more keys than may be kept, those that come last share one.
 */
import type { Clock } from "@keelson/runtime";

export interface RateTerms {
  /** 0: no limit. */
  readonly perSecond: number;
  readonly burst: number;
  readonly keysMax: number;
}

const OTHERS = "others";
/** Looking for keys to forget costs a walk over all of them, so it is done seldom. */
const SWEEP_EVERY_MS = 1_000;

export class RateLimit {
  readonly #terms: RateTerms;
  readonly #clock: Clock;
  readonly #usedUntil = new Map<string, number>();
  #sweptAt = -Infinity;

  constructor(terms: RateTerms, clock: Clock) {
    this.#terms = terms;
    this.#clock = clock;
  }

  get keys(): number {
    return this.#usedUntil.size;
  }

  /** 0 when there is room; otherwise in how many ms there will be. */
  take(key: string): number {
    const { perSecond, burst } = this.#terms;
    if (perSecond <= 0) return 0;
    const now = this.#clock.now();
    const eachMs = 1_000 / perSecond;
    const kept = this.#keyFor(key, now);
    const from = Math.max(now, this.#usedUntil.get(kept) ?? 0);
    const waitMs = from - now - (Math.max(1, burst) - 1) * eachMs;
    // A hair of tolerance: sums of fractions are not exact.
    if (waitMs > 1e-6) return waitMs;
    this.#usedUntil.set(kept, from + eachMs);
    return 0;
  }

  #keyFor(key: string, now: number): string {
    const { keysMax } = this.#terms;
    if (this.#usedUntil.has(key) || this.#usedUntil.size < keysMax) return key;
    if (now - this.#sweptAt >= SWEEP_EVERY_MS) {
      this.#sweptAt = now;
      for (const [each, until] of this.#usedUntil) if (until <= now) this.#usedUntil.delete(each);
    }
    return this.#usedUntil.size < keysMax ? key : OTHERS;
  }
}
