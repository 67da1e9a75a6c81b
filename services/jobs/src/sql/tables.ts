/** The tables that can be asked for, and their columns: those of the protocol's own engine, in its order. Rows are made by whoever has the shard. */
import type { ColumnType } from "./syntax.ts";

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

const columns = (types: Readonly<Record<string, ColumnType>>): readonly Column[] =>
  Object.entries(types).map(([name, type]) => ({ name, type }));

export const TABLES = {
  jobs: columns({
    shard_id: "Utf8",
    tenant: "Utf8",
    id: "Utf8",
    priority: "UInt8",
    enqueue_time_ms: "Int64",
    payload: "Utf8",
    status_kind: "Utf8",
    status_changed_at_ms: "Int64",
    task_group: "Utf8",
    current_attempt: "UInt32",
    next_attempt_starts_after_ms: "Int64",
    metadata: "Map",
    limits: "Utf8",
  }),
  tasks: columns({
    shard_id: "Utf8",
    tenant: "Utf8",
    task_group: "Utf8",
    start_time_ms: "Int64",
    priority: "UInt8",
    job_id: "Utf8",
    attempt: "UInt32",
    variant_type: "Utf8",
    task_id: "Utf8",
    held_queues: "Utf8",
  }),
  queues: columns({
    shard_id: "Utf8",
    tenant: "Utf8",
    queue_name: "Utf8",
    entry_type: "Utf8",
    task_id: "Utf8",
    job_id: "Utf8",
    priority: "UInt8",
    timestamp_ms: "Int64",
  }),
  tenant_counts: columns({ shard_id: "Utf8", tenant: "Utf8", status_kind: "Utf8", cnt: "Int64" }),
  queue_counts: columns({
    shard_id: "Utf8",
    tenant: "Utf8",
    queue_name: "Utf8",
    holders: "Int64",
    requesters: "Int64",
    max_concurrency: "Int64",
    limit_type: "Utf8",
  }),
} as const satisfies Record<string, readonly Column[]>;

export type TableName = keyof typeof TABLES;

export function isTable(name: string): name is TableName {
  return Object.hasOwn(TABLES, name);
}
