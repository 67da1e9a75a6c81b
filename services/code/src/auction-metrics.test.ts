import { DurationHistogram, newCounters } from "@keelson/kernel";
import { MetricSet } from "@keelson/runtime";
import { expect, test } from "vitest";
import { AuctionMetrics } from "./auction-metrics.ts";
import { CODE_METRICS } from "./metrics.ts";

test("what auctions count is added once, and times are shown in their buckets with their sum", async () => {
  const set = new MetricSet(CODE_METRICS);
  const metrics = new AuctionMetrics(set);
  const figures = {
    counters: newCounters(),
    bidWindow: new DurationHistogram(),
    claimLatency: new DurationHistogram(),
  };
  figures.counters.auctions_won = 2;
  for (const ms of [201, 230, 700]) figures.claimLatency.add(ms);
  metrics.look(figures);
  metrics.look(figures);
  figures.counters.auctions_won = 3;
  figures.claimLatency.add(499);
  metrics.look(figures);
  const shown = await set.registry.metrics();
  expect(shown).toMatch(/^auctions_won 3$/m);
  expect(shown).toMatch(/^claim_latency_bucket\{le="100"\} 0$/m);
  expect(shown).toMatch(/^claim_latency_bucket\{le="500"\} 3$/m);
  expect(shown).toMatch(/^claim_latency_sum 1630$/m);
  expect(shown).toMatch(/^claim_latency_count 4$/m);
});
