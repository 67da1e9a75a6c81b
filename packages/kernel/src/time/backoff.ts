import type { Random } from "./clock.ts";

/** How long to wait between tries: exponential with full jitter over the upper half, bounded. */
export interface BackoffTerms {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly factor?: number;
}

/** The wait before try number `attempt` (1 is the first retry). Deterministic given `random`. */
export function backoffMs(terms: BackoffTerms, attempt: number, random: Random): number {
  const grown = terms.firstMs * (terms.factor ?? 2) ** Math.min(attempt - 1, 30);
  const bounded = Math.min(grown, terms.maxMs);
  return bounded * (0.5 + 0.5 * random());
}
