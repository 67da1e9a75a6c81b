import {
  BREAKER,
  RETRY_BUDGET,
  type BackoffTerms,
  type BreakerTerms,
  type RetryBudgetTerms,
} from "@keelson/kernel";

/** Every limit of a router, with its unit in its name. */
export interface RouterOptions {
  /** Hints that are followed at once, one after another; then it waits as after any other failure. */
  readonly redirectsMax: number;
  /** Waits between tries. Trying every few milliseconds cost up to 314 tries a request. */
  readonly backoff: BackoffTerms;
  /** Calls that wait for a holder or for their next try; one more is refused. */
  readonly waitingMax: number;
  /** How long one try of a repeatable request may take, so that another replica gets its chance; Infinity leaves it all the time there is. */
  readonly tryTimeoutMs: number;
  readonly budget: RetryBudgetTerms;
  readonly breaker: BreakerTerms;
}

export const ROUTER_OPTIONS: RouterOptions = {
  redirectsMax: 3,
  backoff: { firstMs: 5, maxMs: 500 },
  waitingMax: 10_000,
  tryTimeoutMs: Infinity,
  budget: RETRY_BUDGET,
  breaker: BREAKER,
};
