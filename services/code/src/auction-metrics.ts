/** Brings what the kernel's auctions count into a node's metrics. Counters there only rise, so what rose since the last look is added here. */
import type { AuctionCounters, DurationHistogram } from "@keelson/kernel";
import type { CodeMetrics } from "./metrics.ts";

const COUNTED = [
  "auctions_started",
  "auctions_won",
  "auctions_no_winner",
  "auctions_short_circuited",
  "auctions_timed_out",
  "bids_placed",
  "bids_received",
  "bids_rejected_already_pending",
] as const;

interface AuctionFigures {
  readonly counters: AuctionCounters;
  readonly bidWindow: DurationHistogram;
  readonly claimLatency: DurationHistogram;
}

export class AuctionMetrics {
  readonly #metrics: CodeMetrics;
  readonly #last = new Map<string, number>();

  constructor(metrics: CodeMetrics) {
    this.#metrics = metrics;
  }

  look({ counters, bidWindow, claimLatency }: AuctionFigures): void {
    for (const name of COUNTED) {
      const rose = this.#rose(name, counters[name]);
      if (rose > 0) this.#metrics.count(name, {}, rose);
    }
    this.#metrics.set("configured_max_bids", counters.configured_max_bids);
    this.#metrics.set("live_bidders", counters.live_bidders);
    this.#observe("bid_window_ms", bidWindow);
    this.#observe("claim_latency", claimLatency);
  }

  /** Each bucket's newcomers are counted as their mean, so that buckets and sum are right. */
  #observe(name: "bid_window_ms" | "claim_latency", histogram: DurationHistogram): void {
    const { counts, sumsMs, boundsMs } = histogram;
    for (const [i, count] of counts.entries()) {
      const rose = this.#rose(`${name} ${i}`, count);
      const mean = this.#rose(`${name} ${i} sum`, sumsMs[i]!) / rose;
      // Sums are rounded: a mean may come out a little above what none of them is above.
      for (let n = 0; n < rose; n++) this.#metrics.observe(name, Math.min(mean, boundsMs[i] ?? Infinity));
    }
  }

  #rose(name: string, now: number): number {
    const before = this.#last.get(name) ?? 0;
    this.#last.set(name, now);
    return now - before;
  }
}
