/** The metrics of the job queue. No label names a tenant or a group: there can be millions of them. docs/reference/metrics.md lists the same. */
import type { MetricDeclarations } from "@keelson/runtime";

export const jobsMetrics = {
  jobs_status_changes_total: {
    kind: "counter",
    help: "Changes of a job's status, by the status it came to.",
    labels: ["status"],
  },
  jobs_scheduled: { kind: "gauge", help: "Jobs that wait, on the shards held here." },
  jobs_running: { kind: "gauge", help: "Jobs that workers run, on the shards held here." },
  jobs_worker_streams: { kind: "gauge", help: "Streams to workers, on the shards held here." },
  jobs_journal_bytes: {
    kind: "gauge",
    help: "Bytes of records written since the shards held here were opened.",
  },
  jobs_journal_broken: {
    kind: "gauge",
    help: "1 while the journal of this node cannot be written and its shards are given up.",
  },
  jobs_checkpoint_failures: {
    kind: "gauge",
    help: "Checkpoints that failed since the shards held here were opened.",
  },
  jobs_shard_open_seconds: {
    kind: "histogram",
    help: "How long it took to open a shard, replay included.",
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
} as const satisfies MetricDeclarations;
