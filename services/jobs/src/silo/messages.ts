/** The messages of `silo.v1`, as tables. Field numbers are the protocol's and never change. */
import {
  bool,
  bytes,
  double,
  int,
  map,
  message,
  nested,
  optional,
  repeated,
  text,
  texts,
  uint,
} from "../protobuf/message.ts";

/** Opaque to the queue: msgpack, as every client of the protocol writes it. */
export const SERIALIZED = message({ msgpack: optional(1, "bytes") });

const RETRY_POLICY = message({
  retry_count: uint(1),
  initial_interval_ms: int(2),
  max_interval_ms: int(3),
  randomize_interval: bool(4),
  backoff_factor: double(5),
});
const CONCURRENCY = message({ key: text(1), max_concurrency: uint(2) });
const RATE_RETRY = message({
  initial_backoff_ms: int(1),
  max_backoff_ms: int(2),
  backoff_multiplier: double(3),
  max_retries: uint(4),
});
const RATE_LIMIT = message({
  name: text(1),
  unique_key: text(2),
  limit: int(3),
  duration_ms: int(4),
  hits: int(5),
  algorithm: int(6),
  behavior: int(7),
  retry_policy: nested(8, RATE_RETRY),
});
const FLOATING = message({
  key: text(1),
  default_max_concurrency: uint(2),
  refresh_interval_ms: int(3),
  metadata: map(4),
});
export const LIMIT = message({
  concurrency: nested(1, CONCURRENCY),
  rate_limit: nested(2, RATE_LIMIT),
  floating_concurrency: nested(3, FLOATING),
});
const FAILURE = message({ error_code: text(1), error_data: nested(2, SERIALIZED) });
const CANCELLED_AT = message({ cancelled_at_ms: int(1) });
const EMPTY = message({});

const OWNER = message({
  shard_id: text(1),
  grpc_addr: text(2),
  node_id: text(3),
  range_start: text(4),
  range_end: text(5),
  placement_ring: optional(6, "text"),
});
const MEMBER = message({ node_id: text(1), grpc_addr: text(2), placement_rings: texts(3) });
const OWNED = message({
  shard_id: text(1),
  total_jobs: int(2),
  completed_jobs: int(3),
  cleanup_status: text(4),
  created_at_ms: int(5),
  cleanup_completed_at_ms: int(6),
});

const TASK = message({
  id: text(1),
  job_id: text(2),
  tenant_id: optional(3, "text"),
  attempt_number: uint(4),
  relative_attempt_number: uint(5),
  is_last_attempt: bool(6),
  metadata: map(7),
  limits: repeated(8, LIMIT),
  payload: nested(9, SERIALIZED),
  priority: uint(10),
  shard: text(11),
  task_group: text(12),
  lease_ms: int(13),
});
const REFRESH_TASK = message({
  id: text(1),
  queue_key: text(2),
  current_max_concurrency: uint(3),
  last_refreshed_at_ms: int(4),
  metadata: map(5),
  lease_ms: int(6),
  shard: text(7),
  task_group: text(8),
  tenant_id: optional(9, "text"),
});
const ATTEMPT = message({
  job_id: text(1),
  attempt_number: uint(2),
  task_id: text(3),
  status: int(4),
  started_at_ms: int(5),
  finished_at_ms: optional(6, "int"),
  result: nested(7, SERIALIZED),
  error_code: optional(8, "text"),
  error_data: nested(9, SERIALIZED),
});
const IMPORT_ATTEMPT = message({
  status: int(1),
  started_at_ms: int(2),
  finished_at_ms: int(3),
  result: nested(4, SERIALIZED),
  error_code: optional(5, "text"),
  error_data: nested(6, SERIALIZED),
});
const IMPORT_JOB = message({
  shard: text(1),
  id: text(2),
  priority: uint(3),
  enqueue_time_ms: int(4),
  start_at_ms: int(5),
  retry_policy: nested(6, RETRY_POLICY),
  payload: nested(7, SERIALIZED),
  limits: repeated(8, LIMIT),
  tenant: optional(9, "text"),
  metadata: map(10),
  task_group: text(11),
  attempts: repeated(12, IMPORT_ATTEMPT),
});
const PARAMETER = message({
  bool_value: optional(1, "bool"),
  int64_value: optional(2, "int"),
  uint64_value: optional(3, "uint"),
  float64_value: optional(4, "double"),
  string_value: optional(5, "text"),
  bytes_value: optional(6, "bytes"),
  null_value: nested(7, EMPTY),
});
const QUERY = message({
  shard: text(1),
  sql: text(2),
  tenant: optional(3, "text"),
  parameters: repeated(4, PARAMETER),
});
const NAMED = { shard: text(1), id: text(2), tenant: optional(3, "text") };

/** Each method's request and answer. */
export const SILO = {
  GetClusterInfo: {
    request: EMPTY,
    answer: message({
      num_shards: uint(1),
      shard_owners: repeated(2, OWNER),
      this_node_id: text(3),
      this_grpc_addr: text(4),
      members: repeated(5, MEMBER),
    }),
  },
  GetNodeInfo: {
    request: EMPTY,
    answer: message({ node_id: text(1), owned_shards: repeated(2, OWNED), placement_rings: texts(3) }),
  },
  Enqueue: {
    request: message({
      shard: text(1),
      id: text(2),
      priority: uint(3),
      start_at_ms: int(4),
      retry_policy: nested(5, RETRY_POLICY),
      payload: nested(6, SERIALIZED),
      limits: repeated(7, LIMIT),
      tenant: optional(8, "text"),
      metadata: map(9),
      task_group: text(10),
    }),
    answer: message({ id: text(1) }),
  },
  GetJob: {
    request: message({ ...NAMED, include_attempts: bool(4) }),
    answer: message({
      id: text(1),
      priority: uint(2),
      enqueue_time_ms: int(3),
      payload: nested(4, SERIALIZED),
      retry_policy: nested(5, RETRY_POLICY),
      limits: repeated(6, LIMIT),
      metadata: map(7),
      status: int(8),
      status_changed_at_ms: int(9),
      attempts: repeated(10, ATTEMPT),
      next_attempt_starts_after_ms: optional(11, "int"),
      task_group: text(12),
      result: nested(13, SERIALIZED),
    }),
  },
  GetJobResult: {
    request: message(NAMED),
    answer: message({
      id: text(1),
      status: int(2),
      finished_at_ms: int(3),
      success_data: nested(4, SERIALIZED),
      failure: nested(5, FAILURE),
      cancelled: nested(6, CANCELLED_AT),
    }),
  },
  DeleteJob: { request: message(NAMED), answer: EMPTY },
  CancelJob: { request: message(NAMED), answer: EMPTY },
  RestartJob: { request: message(NAMED), answer: EMPTY },
  ExpediteJob: { request: message(NAMED), answer: EMPTY },
  DropTenantHolders: {
    request: message({ shard: text(1), tenant: optional(2, "text") }),
    answer: message({ holders_dropped: uint(1) }),
  },
  LeaseTask: {
    request: message({ ...NAMED, worker_id: text(4) }),
    answer: message({ task: nested(1, TASK) }),
  },
  LeaseTasks: {
    request: message({
      shard: optional(1, "text"),
      worker_id: text(2),
      max_tasks: uint(3),
      task_group: text(4),
    }),
    answer: message({ tasks: repeated(1, TASK), refresh_tasks: repeated(2, REFRESH_TASK) }),
  },
  ReportOutcome: {
    request: message({
      shard: text(1),
      task_id: text(2),
      success: nested(3, SERIALIZED),
      failure: nested(4, message({ code: text(1), data: nested(2, SERIALIZED) })),
      cancelled: nested(6, EMPTY),
      tenant_id: optional(7, "text"),
    }),
    answer: EMPTY,
  },
  ReportRefreshOutcome: {
    request: message({
      shard: text(1),
      task_id: text(2),
      success: nested(4, message({ new_max_concurrency: uint(1) })),
      failure: nested(5, message({ code: text(1), message: text(2) })),
      tenant_id: optional(6, "text"),
    }),
    answer: EMPTY,
  },
  Heartbeat: {
    request: message({
      shard: text(1),
      worker_id: text(2),
      task_id: text(3),
      tenant_id: optional(4, "text"),
    }),
    answer: message({ cancelled: bool(1), cancelled_at_ms: optional(2, "int") }),
  },
  Query: {
    request: QUERY,
    answer: message({
      columns: repeated(1, message({ name: text(1), data_type: text(2) })),
      rows: repeated(2, SERIALIZED),
      row_count: int(3),
    }),
  },
  QueryArrow: { request: QUERY, answer: message({ ipc_data: bytes(1) }) },
  RequestSplit: {
    request: message({ shard_id: text(1), split_point: text(2) }),
    answer: message({ left_child_id: text(1), right_child_id: text(2), phase: text(3) }),
  },
  GetSplitStatus: {
    request: message({ shard_id: text(1) }),
    answer: message({
      in_progress: bool(1),
      phase: text(2),
      left_child_id: text(3),
      right_child_id: text(4),
      split_point: text(5),
      initiator_node_id: text(6),
      requested_at_ms: int(7),
    }),
  },
  ConfigureShard: {
    request: message({
      shard: text(1),
      placement_ring: optional(2, "text"),
      allow_unpopulated_ring: bool(3),
      tenant: optional(100, "text"),
    }),
    answer: message({ previous_ring: text(1), current_ring: text(2) }),
  },
  ImportJobs: {
    request: message({ jobs: repeated(1, IMPORT_JOB) }),
    answer: message({
      results: repeated(
        1,
        message({ id: text(1), success: bool(2), error: optional(3, "text"), status: int(4) }),
      ),
    }),
  },
  ResetShards: { request: EMPTY, answer: message({ shards_reset: uint(1) }) },
  ForceReleaseShard: { request: message({ shard: text(1) }), answer: message({ released: bool(1) }) },
  CompactShard: { request: message({ shard: text(1) }), answer: message({ status: text(1) }) },
  FlushShard: { request: message({ shard: text(1) }), answer: message({ status: text(1) }) },
  GetShardStorageInfo: {
    request: message({ shard: text(1) }),
    answer: message({
      l0_sst_count: uint(1),
      total_l0_size: uint(2),
      sorted_run_count: uint(3),
      total_sorted_run_size: uint(4),
      sorted_runs: repeated(5, message({ id: uint(1), sst_count: uint(2), estimated_size: uint(3) })),
    }),
  },
  DumpTasks: { request: EMPTY, answer: message({ dump: text(1), task_count: uint(2) }) },
} as const;

export type SiloRequest<M extends keyof typeof SILO> = ReturnType<(typeof SILO)[M]["request"]["decode"]>;
export type SiloAnswer<M extends keyof typeof SILO> = Parameters<(typeof SILO)[M]["answer"]["encode"]>[0];

export const JOB_STATUS = { scheduled: 0, running: 1, succeeded: 2, failed: 3, cancelled: 4 } as const;
