/** What a node counts and measures, by the names that the design of the fleet gave them, and the alerts that are shipped with them. */
import type { AlertRule, MetricDeclarations, MetricSet } from "@keelson/runtime";

const MS = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000, 300_000, 1_800_000] as const;

export const CODE_METRICS = {
  auctions_started: {
    kind: "counter",
    help: "Auctions that got their first bid while this node judged them.",
  },
  auctions_won: { kind: "counter", help: "Auctions that ended with a winner." },
  auctions_no_winner: { kind: "counter", help: "Auctions that ended without one." },
  auctions_short_circuited: {
    kind: "counter",
    help: "Auctions that closed early, because all had answered.",
  },
  auctions_timed_out: { kind: "counter", help: "Auctions that ran to the end of their window." },
  bids_placed: { kind: "counter", help: "Bids of this node." },
  bids_received: { kind: "counter", help: "Bids of all nodes, as the judge saw them." },
  bids_rejected_already_pending: {
    kind: "counter",
    help: "Lots that this node passed on because its one bid was elsewhere.",
  },
  bid_window_ms: { kind: "histogram", help: "From an auction's first bid to its close.", buckets: MS },
  configured_max_bids: {
    kind: "gauge",
    help: "Answers at which an auction closes; 0 when live bidders are counted.",
  },
  live_bidders: { kind: "gauge", help: "Nodes that may bid and do answer." },
  index_time_ms: {
    kind: "histogram",
    help: "From the first file to a whole index.",
    labels: ["how"],
    buckets: MS,
  },
  memory_bytes: {
    kind: "gauge",
    help: "Memory that indexes take on this node, as the engine counts its arenas.",
    labels: ["repository"],
  },
  last_served_at: {
    kind: "gauge",
    help: "When a repository was last asked for, in seconds since 1970.",
    labels: ["repository"],
  },
  claim_latency: {
    kind: "histogram",
    help: "From the moment a repository is held by nobody to its grant, in milliseconds.",
    buckets: MS,
  },
  code_memory_budget_bytes: { kind: "gauge", help: "Memory that indexes may take on this node." },
  code_memory_used_bytes: { kind: "gauge", help: "Memory of the arenas that is in use." },
  code_process_rss_bytes: {
    kind: "gauge",
    help: "Memory of the whole process, as the operating system counts it.",
  },
  code_repositories_held: { kind: "gauge", help: "Repositories that this node serves." },
  code_repositories_unclaimed: { kind: "gauge", help: "Replicas of active repositories that nobody holds." },
  code_repositories_demanded: { kind: "gauge", help: "Replicas that no node has room for." },
  code_repositories_resting: {
    kind: "gauge",
    help: "Repositories that are in nobody's memory because room was needed.",
  },
  code_fleet_saturation: { kind: "gauge", help: "Share of the fleet's memory that is taken, 0 to 1." },
  code_scale_wish: { kind: "gauge", help: "1: more nodes are wanted; -1: fewer; 0: neither." },
  code_builds_running: { kind: "gauge", help: "Indexes being built on this node." },
  code_builds_waiting: { kind: "gauge", help: "Indexes that wait to be built on this node." },
  code_answers_bytes: { kind: "gauge", help: "What answers hold that are being put together or sent." },
  code_answers_waiting: { kind: "gauge", help: "Answers that wait until others have left." },
  code_search_threads_dead: {
    kind: "gauge",
    help: "Searching threads that died and wait to be started again.",
  },
  code_search_thread_deaths_total: { kind: "counter", help: "Searching threads that died." },
  code_evictions_total: { kind: "counter", help: "Repositories that made room for others." },
  code_indexes_received_total: { kind: "counter", help: "Indexes that came whole from another node." },
  code_indexes_corrupt_total: { kind: "counter", help: "Indexes that no longer held what was built." },
  code_fetch_failures_total: {
    kind: "counter",
    help: "Times a repository could not be brought up to date.",
    labels: ["code"],
  },
  code_reindex_ms: {
    kind: "histogram",
    help: "From the first look at a new commit to its being served.",
    buckets: MS,
  },
  code_index_lag_ms: {
    kind: "gauge",
    help: "For how long a repository that this node holds has had no index, or one that is not known to be as new as its remote; 0 when it is.",
    labels: ["repository"],
  },
  code_reindex_objective_ms: {
    kind: "gauge",
    help: "Within this a new commit should be served, and a lost index be there again.",
  },
  code_searches_total: { kind: "counter", help: "Searches of one repository that this node answered." },
} as const satisfies MetricDeclarations;

/** A set of metrics that knows which names there are. */
export type CodeMetrics = Pick<MetricSet, "count" | "set" | "observe">;

/** What a gauge says of one repository. */
export interface RepositoryFigure {
  readonly labels: { readonly repository: string };
  readonly value: number;
}

export const CODE_ALERTS: readonly AlertRule[] = [
  {
    name: "CodeMaxBidsDiverge",
    expr: "max(configured_max_bids) > 0 and (max(configured_max_bids) > 1.5 * max(live_bidders) or max(configured_max_bids) < 0.5 * max(live_bidders))",
    for: "2m",
    severity: "ticket",
    summary:
      "the configured number of bids has little to do with the nodes that bid: auctions wait for nobody, or close too early",
  },
  {
    name: "CodeAuctionsShortCircuitedUnexpectedly",
    expr: "max(configured_max_bids) > 0 and max(configured_max_bids) < max(live_bidders) and sum(increase(auctions_short_circuited[5m])) > 0.5 * sum(increase(auctions_started[5m]))",
    for: "5m",
    severity: "ticket",
    summary: "most auctions close before all nodes have answered: raise the configured number of bids",
  },
  {
    name: "CodeAuctionsEmpty",
    expr: "sum(increase(auctions_no_winner[5m])) > 0 and max(code_repositories_demanded) > 0",
    for: "2m",
    severity: "page",
    summary: "repositories fit on no node: add memory",
  },
  {
    name: "CodeReindexObjectiveMissed",
    expr: "histogram_quantile(0.95, sum by (le) (increase(code_reindex_ms_bucket[15m]))) > max(code_reindex_objective_ms)",
    for: "5m",
    severity: "ticket",
    summary: "new commits are not searchable within the stated time",
  },
  {
    name: "CodeIndexOutdated",
    expr: "max by (repository) (code_index_lag_ms) > scalar(max(code_reindex_objective_ms))",
    // How long it lasts is measured already: this is for a second look.
    for: "1m",
    severity: "ticket",
    summary:
      "a repository has had no index, or could not be brought up to date, for longer than the stated time: its update hangs or fails",
  },
];
