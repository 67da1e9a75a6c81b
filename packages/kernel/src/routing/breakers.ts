/** When to stop asking a node that does not answer, and when to ask it again. */
export interface BreakerTerms {
  /** Failures in a row that open a breaker. */
  readonly failuresMax: number;
  /** How long it stays open the first time; each failed probe doubles it. */
  readonly openMs: number;
  readonly openMsMax: number;
}

/** Five in a row are no coincidence; a quarter of a second is short against a TTL, so a node that came back is found soon. */
export const BREAKER: BreakerTerms = { failuresMax: 5, openMs: 250, openMsMax: 2_000 };

/** Lives that ended while their breaker was open are never heard of again; the oldest make room. */
const livesMax = 4_096;

export type BreakerState = "closed" | "open" | "half-open";

interface Breaker {
  failures: number;
  /** Infinity while closed. */
  openSince: number;
  openMs: number;
  /** A probe is under way since then; −Infinity when none is. */
  probeSince: number;
}

/**
 * One breaker per life of a node, which is its session: a node that came back starts with a closed one. Closed lets requests pass; open lets
 * none pass for a while; half-open lets one pass, whose fate decides. Any answer at all counts as success: this is about nodes that cannot be
 * reached, not about shards that refuse. What never failed takes no room.
 */
export class Breakers {
  readonly #terms: BreakerTerms;
  readonly #lives = new Map<string, Breaker>();

  constructor(terms: BreakerTerms = BREAKER) {
    this.#terms = terms;
  }

  state(life: string, now: number): BreakerState {
    const breaker = this.#lives.get(life);
    if (!breaker || breaker.openSince === Infinity) return "closed";
    return now < breaker.openSince + breaker.openMs ? "open" : "half-open";
  }

  /** When a request may pass: `now` or earlier means at once. */
  passesAt(life: string, now: number): number {
    if (this.#lives.size === 0) return now;
    const breaker = this.#lives.get(life);
    if (!breaker || breaker.openSince === Infinity) return now;
    const openUntil = breaker.openSince + breaker.openMs;
    // A probe that never reports back, for whatever reason, must not keep the breaker shut for ever.
    return Math.max(openUntil, breaker.probeSince + this.#terms.openMsMax);
  }

  /** A request is about to leave. If the breaker is half-open, it is the probe. */
  sent(life: string, now: number): void {
    if (this.#lives.size === 0) return;
    const breaker = this.#lives.get(life);
    if (breaker && breaker.openSince !== Infinity) breaker.probeSince = now;
  }

  succeeded(life: string): void {
    if (this.#lives.size > 0) this.#lives.delete(life);
  }

  failed(life: string, now: number): void {
    const { failuresMax, openMs, openMsMax } = this.#terms;
    let breaker = this.#lives.get(life);
    if (!breaker) {
      if (this.#lives.size >= livesMax) {
        const oldest = this.#lives.keys().next();
        if (!oldest.done) this.#lives.delete(oldest.value);
      }
      breaker = { failures: 0, openSince: Infinity, openMs, probeSince: -Infinity };
      this.#lives.set(life, breaker);
    }
    breaker.failures += 1;
    if (breaker.openSince === Infinity) {
      if (breaker.failures >= failuresMax) breaker.openSince = now;
      return;
    }
    // Failures of requests that left before it opened say nothing new.
    if (breaker.probeSince === -Infinity) return;
    breaker.probeSince = -Infinity;
    breaker.openSince = now;
    breaker.openMs = Math.min(openMsMax, breaker.openMs * 2);
  }
}
