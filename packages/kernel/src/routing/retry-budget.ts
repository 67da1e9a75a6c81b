/** How much a router may add to the load of nodes that already have trouble. */
export interface RetryBudgetTerms {
  /** Retries per request, in the long run. */
  readonly ratio: number;
  /** Retries per second that are always allowed, so that a router with little to do can still retry. */
  readonly floorPerSecond: number;
  /** What may be saved up. */
  readonly savedMax: number;
}

export const RETRY_BUDGET: RetryBudgetTerms = { ratio: 0.1, floorPerSecond: 10, savedMax: 1_000 };

/**
 * Keeps retries to a share of requests. Without it, a fleet that answers slowly is asked again and again, and gets slower. Every request pays in a
 * fraction; every retry takes out one. It starts full.
 */
export class RetryBudget {
  readonly #terms: RetryBudgetTerms;
  #saved: number;
  /** Up to when the floor has been paid in. */
  #paidAt: number;

  constructor(terms: RetryBudgetTerms, now: number) {
    this.#terms = terms;
    this.#saved = terms.savedMax;
    this.#paidAt = now;
  }

  get saved(): number {
    return this.#saved;
  }

  /** A request was made. */
  deposit(): void {
    this.#saved = Math.min(this.#terms.savedMax, this.#saved + this.#terms.ratio);
  }

  /** Takes out one retry; false when there is none to take. */
  withdraw(now: number): boolean {
    const earned = Math.max(0, ((now - this.#paidAt) / 1_000) * this.#terms.floorPerSecond);
    this.#paidAt = now;
    this.#saved = Math.min(this.#terms.savedMax, this.#saved + earned);
    if (this.#saved < 1) return false;
    this.#saved -= 1;
    return true;
  }
}
