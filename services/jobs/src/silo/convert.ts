/** Jobs, tasks and limits between `silo.v1` and the engine. */
import {
  JOB_LIMITS,
  type JobSpec,
  type JobView,
  type LeasedTask,
  type Limit,
  type RefreshTask,
  type RetryPolicy,
} from "../engine/index.ts";
import { DEFAULT_TENANT } from "../shard/ranges.ts";
import { JOB_STATUS, type SiloAnswer, type SiloRequest } from "./messages.ts";

type SiloLimit = SiloRequest<"Enqueue">["limits"][number];
type SiloRetry = NonNullable<SiloRequest<"Enqueue">["retry_policy"]>;
type SiloJob = SiloRequest<"Enqueue"> | SiloRequest<"ImportJobs">["jobs"][number];

const RATE_BACKOFF = { initialMs: 100, maxMs: 30_000, factor: 2 };
/** A policy that bounds no wait: a year is as good as none, and a whole number. */
const WAIT_UNBOUNDED_MS = 365 * 86_400_000;
const METADATA_KEY_BYTES = 64;
const METADATA_VALUE_BYTES = 65_535;
const ATTEMPT_STATUS = { running: 0, succeeded: 1, failed: 2, cancelled: 3 } as const;

/** What is wrong with a job, in the protocol's words where it has some; the rest is the engine's to say. */
export function contentProblem(job: SiloJob): string | undefined {
  if (job.priority > 99) return "priority must be between 0 and 99";
  if (job.task_group === "") return "task_group is required";
  if (job.task_group.length > JOB_LIMITS.groupCharsMax) return "task_group too long (must be <= 64 chars)";
  if ((job.tenant?.length ?? 0) > JOB_LIMITS.tenantCharsMax)
    return "tenant id too long (must be <= 64 chars)";
  // A payload that is much too large would not even reach the shard.
  const bytes = job.payload?.msgpack?.length ?? 0;
  if (bytes > JOB_LIMITS.payloadBytesMax)
    return `the payload has ${bytes} bytes, more than ${JOB_LIMITS.payloadBytesMax}`;
  return metadataProblem(job.metadata);
}

function metadataProblem(metadata: Readonly<Record<string, string>>): string | undefined {
  const entries = Object.entries(metadata);
  if (entries.length > JOB_LIMITS.metadataPairsMax) return "metadata has too many entries (max 16)";
  for (const [key, value] of entries) {
    if (Buffer.byteLength(key) >= METADATA_KEY_BYTES) return "metadata key too long (must be < 64 chars)";
    if (Buffer.byteLength(value) >= METADATA_VALUE_BYTES)
      return "metadata value too long (must be < u16::MAX bytes)";
  }
  return undefined;
}

export function specOf(job: SiloJob, id: string): JobSpec {
  return {
    id,
    tenant: tenantOf(job.tenant),
    group: job.task_group,
    payload: job.payload?.msgpack ?? new Uint8Array(0),
    priority: job.priority,
    ...(job.start_at_ms > 0 ? { startAtMs: job.start_at_ms } : {}),
    ...(job.retry_policy === undefined ? {} : { retry: retryOf(job.retry_policy) }),
    limits: job.limits.map(limitOf).filter((limit) => limit !== undefined),
    metadata: { ...job.metadata },
  };
}

export function tenantOf(tenant: string | undefined): string {
  return tenant === undefined || tenant === "" ? DEFAULT_TENANT : tenant;
}

/** The protocol's first wait is already multiplied by the factor once; the engine's is not. */
function retryOf({
  retry_count,
  initial_interval_ms,
  max_interval_ms,
  randomize_interval,
  backoff_factor,
}: SiloRetry): RetryPolicy {
  const factor = Math.max(1, backoff_factor);
  return {
    retries: retry_count,
    initialMs: Math.round(initial_interval_ms * factor),
    maxMs: max_interval_ms > 0 ? max_interval_ms : WAIT_UNBOUNDED_MS,
    factor,
    jitter: randomize_interval,
  };
}

function siloRetry(retry: RetryPolicy | undefined): SiloRetry | undefined {
  if (retry === undefined) return undefined;
  const { retries, initialMs, maxMs, factor, jitter } = retry;
  return {
    retry_count: retries,
    initial_interval_ms: Math.round(initialMs / factor),
    max_interval_ms: maxMs === WAIT_UNBOUNDED_MS ? 0 : maxMs,
    randomize_interval: jitter,
    backoff_factor: factor,
  };
}

function limitOf({
  concurrency,
  rate_limit: rate,
  floating_concurrency: floating,
}: SiloLimit): Limit | undefined {
  if (concurrency !== undefined)
    return { kind: "concurrency", key: concurrency.key, max: concurrency.max_concurrency };
  if (floating !== undefined)
    return {
      kind: "floating",
      key: floating.key,
      defaultMax: floating.default_max_concurrency,
      refreshMs: floating.refresh_interval_ms,
      metadata: { ...floating.metadata },
    };
  if (rate === undefined) return undefined;
  const retry = rate.retry_policy;
  return {
    kind: "rate",
    name: rate.name,
    uniqueKey: rate.unique_key,
    limit: rate.limit,
    durationMs: rate.duration_ms,
    hits: rate.hits,
    algorithm: rate.algorithm,
    behavior: rate.behavior,
    burst: 0,
    backoff:
      retry === undefined
        ? RATE_BACKOFF
        : {
            initialMs: retry.initial_backoff_ms,
            maxMs: retry.max_backoff_ms,
            factor: Math.max(1, retry.backoff_multiplier),
          },
  };
}

function siloLimit(limit: Limit): SiloLimit {
  const none = { concurrency: undefined, rate_limit: undefined, floating_concurrency: undefined };
  switch (limit.kind) {
    case "concurrency":
      return { ...none, concurrency: { key: limit.key, max_concurrency: limit.max } };
    case "floating":
      return {
        ...none,
        floating_concurrency: {
          key: limit.key,
          default_max_concurrency: limit.defaultMax,
          refresh_interval_ms: limit.refreshMs,
          metadata: { ...limit.metadata },
        },
      };
    case "rate":
      return {
        ...none,
        rate_limit: {
          name: limit.name,
          unique_key: limit.uniqueKey,
          limit: limit.limit,
          duration_ms: limit.durationMs,
          hits: limit.hits,
          algorithm: limit.algorithm,
          behavior: limit.behavior,
          retry_policy: {
            initial_backoff_ms: limit.backoff.initialMs,
            max_backoff_ms: limit.backoff.maxMs,
            backoff_multiplier: limit.backoff.factor,
            max_retries: 0,
          },
        },
      };
  }
}

export function siloTask(task: LeasedTask, shard: string): NonNullable<SiloAnswer<"LeaseTask">["task"]> {
  const { spec } = task;
  return {
    id: String(task.task),
    job_id: spec.id,
    tenant_id: spec.tenant === DEFAULT_TENANT ? undefined : spec.tenant,
    attempt_number: task.attempt,
    relative_attempt_number: task.relativeAttempt,
    is_last_attempt: task.isLastAttempt,
    metadata: { ...spec.metadata },
    limits: (spec.limits ?? []).map(siloLimit),
    payload: { msgpack: spec.payload },
    priority: spec.priority ?? 50,
    shard,
    task_group: spec.group,
    lease_ms: task.leaseMs,
  };
}

export function siloRefresh(
  refresh: RefreshTask,
  shard: string,
): NonNullable<SiloAnswer<"LeaseTasks">["refresh_tasks"]>[number] {
  return {
    id: String(refresh.task),
    queue_key: refresh.key,
    current_max_concurrency: refresh.currentMax,
    last_refreshed_at_ms: refresh.lastRefreshedAtMs,
    metadata: { ...refresh.metadata },
    lease_ms: refresh.leaseMs,
    shard,
    task_group: refresh.group,
    tenant_id: refresh.tenant === DEFAULT_TENANT ? undefined : refresh.tenant,
  };
}

export function siloJob(view: JobView, withAttempts: boolean): SiloAnswer<"GetJob"> {
  const { spec, status } = view;
  const last = view.attempts.at(-1)?.outcome;
  return {
    id: spec.id,
    priority: spec.priority ?? 50,
    enqueue_time_ms: view.enqueuedAtMs,
    payload: { msgpack: spec.payload },
    retry_policy: siloRetry(spec.retry),
    limits: (spec.limits ?? []).map(siloLimit),
    metadata: { ...spec.metadata },
    status: JOB_STATUS[status],
    status_changed_at_ms: view.statusAtMs,
    attempts: withAttempts ? siloAttempts(view) : [],
    next_attempt_starts_after_ms: status === "scheduled" ? view.startAtMs : undefined,
    task_group: spec.group,
    result: status === "succeeded" && last?.kind === "succeeded" ? { msgpack: last.result } : undefined,
  };
}

function siloAttempts(view: JobView): NonNullable<SiloAnswer<"GetJob">["attempts"]> {
  return view.attempts.map(({ number, startedAtMs, finishedAtMs, outcome }) => ({
    job_id: view.spec.id,
    attempt_number: number,
    task_id: `${view.spec.id}/${number}`,
    status: ATTEMPT_STATUS[outcome?.kind ?? "running"],
    started_at_ms: startedAtMs,
    finished_at_ms: finishedAtMs,
    result: outcome?.kind === "succeeded" ? { msgpack: outcome.result } : undefined,
    error_code: outcome?.kind === "failed" ? outcome.code : undefined,
    error_data: outcome?.kind === "failed" ? { msgpack: outcome.data } : undefined,
  }));
}

export function siloResult(view: JobView): SiloAnswer<"GetJobResult"> {
  const common = { id: view.spec.id, status: JOB_STATUS[view.status], finished_at_ms: view.statusAtMs };
  const outcome = view.attempts.at(-1)?.outcome;
  if (view.status === "cancelled")
    return { ...common, cancelled: { cancelled_at_ms: view.cancelledAtMs ?? view.statusAtMs } };
  if (view.status === "succeeded")
    return {
      ...common,
      success_data: { msgpack: outcome?.kind === "succeeded" ? outcome.result : new Uint8Array(0) },
    };
  const failure = outcome?.kind === "failed" ? outcome : { code: "UNKNOWN", data: new Uint8Array(0) };
  return { ...common, failure: { error_code: failure.code, error_data: { msgpack: failure.data } } };
}
