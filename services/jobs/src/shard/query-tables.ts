/** The rows of the tables that SQL can ask for, from what a shard holds. What a statement fixes (a tenant, an id, a status) is looked up; the rest is read through. */
import { decodeValue } from "../client/values.ts";
import { isFinal, type JobStatus, type JobView, type ListCursor, type ListPage } from "../engine/index.ts";
import type { Row, Statement, TableName } from "../sql/index.ts";
import type { DurableQueue } from "../storage/durable-queue.ts";

const LIST_ROWS = 500;
const STATUS_OF: Readonly<Record<string, JobStatus>> = {
  Waiting: "scheduled",
  Scheduled: "scheduled",
  Running: "running",
  Succeeded: "succeeded",
  Failed: "failed",
  Cancelled: "cancelled",
};

export interface TableSource {
  readonly shard: string;
  readonly queue: DurableQueue;
  readonly nowMs: number;
  /** Whether a tenant's rows may be shown. */
  readonly shows: (tenant: string) => boolean;
  /** The same things, with turns for everybody else between them, until the statement's time is up. Whatever is read through goes through this. */
  readonly inTurns: <T>(things: AsyncIterable<T> | Iterable<T>) => AsyncIterable<T>;
}

type Wanted = Pick<Statement, "table" | "equals" | "reads">;

export async function* rowsOf(wanted: Wanted, source: TableSource): AsyncGenerator<Row> {
  for await (const row of source.inTurns(TABLE_ROWS[wanted.table](wanted, source)))
    // The second column of every table is the tenant.
    if (source.shows(row[1] as string)) yield row;
}

const TABLE_ROWS: Readonly<
  Record<TableName, (wanted: Wanted, source: TableSource) => AsyncIterable<Row> | Iterable<Row>>
> = {
  async *jobs(wanted, source) {
    for await (const view of jobsOf(wanted, source)) yield jobRow(view, wanted, source);
  },

  *tasks(wanted, { queue, shard }) {
    for (const view of queue.overview.active(tenantOf(wanted))) {
      if (view.status !== "scheduled") continue;
      const { spec, startAtMs } = view;
      const attempt = attemptOf(view);
      const { tenant, group, id, priority = 50 } = spec;
      const task = `${id}/${attempt}`;
      yield [shard, tenant, group, startAtMs, priority, id, attempt, variantOf(view), task, ""];
    }
  },

  *queues(wanted, { queue, shard }) {
    for (const entry of queue.overview.limitEntries(tenantOf(wanted))) {
      const { tenant, key, holds, id, priority, task, atMs } = entry;
      const name = task === undefined ? `${id}/request` : String(task);
      yield [shard, tenant, key, holds ? "holder" : "requester", name, id, priority, atMs];
    }
  },

  async *tenant_counts(wanted, source) {
    const counts = new Map<string, Map<string, number>>();
    // Its rows come at the end, when all jobs were read.
    for await (const view of source.inTurns(jobsOf(wanted, source))) {
      const { tenant } = view.spec;
      const status = statusKind(view, Infinity);
      const of = counts.get(tenant) ?? new Map<string, number>();
      counts.set(tenant, of.set(status, (of.get(status) ?? 0) + 1));
    }
    for (const [tenant, of] of counts)
      // Whether a job is due changes by itself, so the two are counted as one, as the protocol's server does.
      for (const [status, count] of of) yield [source.shard, tenant, status, count];
  },

  *queue_counts(wanted, { queue, shard }) {
    for (const { tenant, kind, key, max, held, waiting } of queue.overview.limits(tenantOf(wanted)))
      if (kind !== "rate") yield [shard, tenant, key, held, waiting, max, kind];
  },
};

async function* jobsOf(wanted: Wanted, { queue }: TableSource): AsyncGenerator<JobView> {
  const { equals } = wanted;
  const tenant = tenantOf(wanted);
  const id = equals.get("id");
  if (tenant === undefined) {
    yield* queue.everyJob();
    return;
  }
  if (typeof id === "string") {
    const view = await queue.get({ tenant, id });
    if (view !== undefined) yield view;
    return;
  }
  const kind = equals.get("status_kind");
  const status = typeof kind === "string" ? STATUS_OF[kind] : undefined;
  const asked = equals.get("task_group");
  const group = typeof asked === "string" ? asked : undefined;
  let before: ListCursor | undefined;
  do {
    // oxlint-disable-next-line no-await-in-loop -- page by page.
    const page: ListPage = await queue.page({ tenant, status, group, limit: LIST_ROWS, before });
    yield* page.jobs;
    before = page.next;
  } while (before !== undefined);
}

function jobRow(view: JobView, { reads }: Wanted, { shard, nowMs }: TableSource): Row {
  const { spec, enqueuedAtMs, statusAtMs, startAtMs } = view;
  const isDue = view.status === "scheduled";
  return [
    shard,
    spec.tenant,
    spec.id,
    spec.priority ?? 50,
    enqueuedAtMs,
    reads.has("payload") ? jsonText(decodeValue(spec.payload)) : null,
    statusKind(view, nowMs),
    statusAtMs,
    spec.group,
    isDue ? attemptOf(view) : null,
    isDue ? startAtMs : null,
    reads.has("metadata") ? { ...spec.metadata } : null,
    reads.has("limits") ? jsonText(spec.limits ?? []) : null,
  ];
}

/** `Infinity`: all that wait are Scheduled. */
function statusKind({ status, startAtMs }: JobView, nowMs: number): string {
  if (status === "scheduled" && startAtMs <= nowMs && nowMs !== Infinity) return "Waiting";
  return status.charAt(0).toUpperCase() + status.slice(1);
}

/** What the task of a waiting job would do next, in the protocol's words. */
function variantOf({ waitsFor }: JobView): string {
  if (waitsFor === "limit") return "RequestTicket";
  return waitsFor === "rate" ? "CheckRateLimit" : "RunAttempt";
}

function attemptOf({ attempts, status }: JobView): number {
  const last = attempts.at(-1)?.number ?? 0;
  return isFinal(status) ? last : last + 1;
}

function tenantOf({ equals }: Wanted): string | undefined {
  const tenant = equals.get("tenant");
  return typeof tenant === "string" ? tenant : undefined;
}

function jsonText(value: unknown): string {
  const plain = (_: string, each: unknown): unknown => (typeof each === "bigint" ? each.toString() : each);
  return JSON.stringify(value, plain) ?? "null";
}
