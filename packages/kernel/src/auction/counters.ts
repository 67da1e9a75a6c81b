/** What auctions and claims count on one node, by the names that metrics use. Whoever exports them adds the service. */
export interface AuctionCounters {
  /** Rounds that got their first bid while this node was the evaluator, and how they ended. */
  auctions_started: number;
  auctions_won: number;
  auctions_no_winner: number;
  auctions_short_circuited: number;
  auctions_timed_out: number;
  /** Times a round was judged, and times a verdict had to wait because of the limit. */
  auction_evaluations: number;
  auction_evaluations_deferred: number;
  /** Of this node; one bid for several lots counts once for each. */
  bids_placed: number;
  passes_placed: number;
  bids_rejected_already_pending: number;
  /** Of all nodes, as the evaluator saw them. */
  bids_received: number;
  passes_received: number;
  claims_placed: number;
  claims_won: number;
  claims_lost: number;
  /** 0 when none is configured and live bidders are counted. */
  configured_max_bids: number;
  live_bidders: number;
  unheld: number;
  demanded: number;
}

export function newCounters(): AuctionCounters {
  return {
    auctions_started: 0,
    auctions_won: 0,
    auctions_no_winner: 0,
    auctions_short_circuited: 0,
    auctions_timed_out: 0,
    auction_evaluations: 0,
    auction_evaluations_deferred: 0,
    bids_placed: 0,
    passes_placed: 0,
    bids_rejected_already_pending: 0,
    bids_received: 0,
    passes_received: 0,
    claims_placed: 0,
    claims_won: 0,
    claims_lost: 0,
    configured_max_bids: 0,
    live_bidders: 0,
    unheld: 0,
    demanded: 0,
  };
}

/** 1, 2, 5, 10 and so on: the bounds that people ask about (a second, five seconds) are among them, so what is said of those is exact. */
const BOUNDS_MS: readonly number[] = Array.from({ length: 6 }, (_, i) =>
  [1, 2, 5].map((n) => n * 10 ** i),
).flat();

/** Counts durations in buckets: cheap, bounded, and good enough for a median within a factor of two and a half. */
export class DurationHistogram {
  readonly boundsMs: readonly number[] = BOUNDS_MS;
  /** One more than there are bounds: the last is for what is longer than all. */
  readonly counts: number[] = Array.from({ length: BOUNDS_MS.length + 1 }, () => 0);
  /** Of what is in each bucket together. */
  readonly sumsMs: number[] = Array.from({ length: BOUNDS_MS.length + 1 }, () => 0);

  add(ms: number): void {
    const found = this.boundsMs.findIndex((bound) => ms <= bound);
    const at = found < 0 ? this.boundsMs.length : found;
    this.counts[at]! += 1;
    this.sumsMs[at]! += ms;
  }
}
