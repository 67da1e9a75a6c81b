/** The shapes of the HTTP API: jobs in JSON. A payload or result is any JSON; inside it is msgpack, as all other clients write it. */
import { z } from "zod";
import {
  JOB_LIMITS,
  type AttemptOutcome,
  type JobSpec,
  type JobView,
  type ScheduleView,
} from "../engine/index.ts";
import { bytesOfJson, jsonOf, jsonOfValue } from "./json-value.ts";

/** Half a character would become another one on the way. */
const text = (max: number) =>
  z
    .string()
    .min(1)
    .max(max)
    .refine((value) => !/\p{Surrogate}/u.test(value), { message: "contains half a character" });
const ms = z.int().min(0);

const Tenant = text(JOB_LIMITS.tenantCharsMax).describe("whose jobs; - when there is only one");
const Group = text(JOB_LIMITS.groupCharsMax).describe("the task group, whose workers run the job");
const Id = text(JOB_LIMITS.idCharsMax);
const Metadata = z.record(z.string(), z.string());

export const TenantParams = z.object({ tenant: Tenant });
export const JobParams = z.object({ tenant: Tenant, id: Id });
export const ScheduleParams = z.object({ tenant: Tenant, id: text(JOB_LIMITS.scheduleIdCharsMax) });
export const GroupParams = z.object({ group: Group });

const Limit = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("concurrency"), key: z.string(), max: z.int().min(1) }),
  z.object({
    kind: z.literal("floating"),
    key: z.string(),
    defaultMax: z.int().min(0),
    refreshMs: ms,
    metadata: Metadata.default({}),
  }),
  z.object({
    kind: z.literal("rate"),
    name: z.string(),
    uniqueKey: z.string(),
    limit: z.int(),
    durationMs: z.int(),
    hits: z.int().default(1),
    algorithm: z.int().min(0).max(1).default(0).describe("0 token bucket, 1 leaky bucket"),
    behavior: z.int().default(0).describe("Gubernator's flags, added"),
    burst: z.int().default(0),
    backoff: z
      .object({ initialMs: ms, maxMs: ms, factor: z.number() })
      .default({ initialMs: 100, maxMs: 10_000, factor: 2 }),
  }),
]);

const Retry = z.object({
  retries: z.int().min(0),
  initialMs: ms.default(1_000),
  maxMs: ms.default(60_000),
  factor: z.number().default(2),
  jitter: z.boolean().default(true),
});

const Dedupe = z.discriminatedUnion("mode", [
  z.object({ mode: z.literal("unique"), key: z.string() }),
  z.object({ mode: z.literal("debounce"), key: z.string(), waitMs: ms, maxWaitMs: ms }),
  z.object({ mode: z.literal("throttle"), key: z.string(), windowMs: ms }),
]);

const Content = z.object({
  group: Group,
  payload: z.unknown().optional().describe("anything"),
  priority: z.int().min(0).max(99).optional().describe("0 runs first; 50 when left out"),
  retry: Retry.optional(),
  limits: z.array(Limit).max(JOB_LIMITS.limitsPerJobMax).optional(),
  metadata: Metadata.optional(),
  timeoutMs: ms.optional(),
  retentionMs: ms.optional(),
  onDependencyFailure: z.enum(["fail", "run"]).optional(),
  dedupe: Dedupe.optional(),
});

export const NewJob = Content.extend({
  id: Id.optional().describe("the same id with the same content is the same job"),
  startAtMs: ms.optional().describe("milliseconds since 1970"),
  after: z.array(Id).max(JOB_LIMITS.dependenciesMax).optional().describe("ids of jobs to wait for"),
});

export const NewSchedule = z.object({
  cron: z.string().max(256),
  timeZone: z.string().max(64).default("UTC"),
  missed: z.enum(["skip", "once", "all"]).default("once"),
  job: Content,
});

export const Enqueued = z.object({ id: z.string(), outcome: z.enum(["created", "same", "joined"]) });
export const BatchItem = z.union([Enqueued, z.object({ error: z.string(), message: z.string() })]);
export const Nothing = z.object({});
const Status = z.enum(["scheduled", "running", "succeeded", "failed", "cancelled"]);
export const StatusQuery = Status.optional();
export const Counts = z.object({
  scheduled: z.number(),
  running: z.number(),
  succeeded: z.number(),
  failed: z.number(),
  cancelled: z.number(),
});

const Attempt = z.object({
  number: z.int(),
  relativeNumber: z.int(),
  startedAtMs: z.number(),
  finishedAtMs: z.number().optional(),
  worker: z.string(),
  outcome: z.string().optional(),
  result: z.unknown().optional(),
  code: z.string().optional(),
  data: z.unknown().optional(),
});

/** What was said of it beyond what lists show. */
const Terms = z.object({
  retry: z.unknown().optional(),
  limits: z.array(z.unknown()).optional(),
  timeoutMs: z.number().optional(),
  after: z.array(z.string()).optional(),
  dedupe: z.unknown().optional(),
});

export const Job = Terms.extend({
  id: z.string(),
  tenant: z.string(),
  group: z.string(),
  status: Status,
  statusAtMs: z.number(),
  enqueuedAtMs: z.number(),
  startAtMs: z.number(),
  waitsFor: z.string().optional(),
  priority: z.number(),
  payload: z.unknown(),
  metadata: Metadata,
  attempts: z.array(Attempt),
  lostLeases: z.int(),
  cancelledAtMs: z.number().optional(),
  expiresAtMs: z.number().optional(),
  progress: z.unknown().optional(),
});

export const Result = z.object({
  status: Status,
  result: z.unknown().optional(),
  code: z.string().optional(),
  data: z.unknown().optional(),
});

export const Schedule = z.object({
  id: z.string(),
  tenant: z.string(),
  cron: z.string(),
  timeZone: z.string(),
  missed: z.enum(["skip", "once", "all"]),
  nextAtMs: z.number().optional().describe("left out when it never runs again"),
  job: Terms.extend({
    group: z.string(),
    payload: z.unknown(),
    priority: z.number(),
    metadata: Metadata,
  }),
});

export function specOf(tenant: string, id: string, { payload, ...job }: z.output<typeof NewJob>): JobSpec {
  return { ...job, tenant, id, payload: bytesOfJson(payload) };
}

export function jobOf(view: JobView & { readonly progress?: unknown }): z.input<typeof Job> {
  const {
    spec,
    status,
    statusAtMs,
    enqueuedAtMs,
    startAtMs,
    waitsFor,
    lostLeases,
    cancelledAtMs,
    expiresAtMs,
  } = view;
  return {
    id: spec.id,
    tenant: spec.tenant,
    group: spec.group,
    status,
    statusAtMs,
    enqueuedAtMs,
    startAtMs,
    waitsFor,
    priority: spec.priority ?? 50,
    payload: jsonOf(spec.payload),
    metadata: { ...spec.metadata },
    attempts: view.attempts.map(({ outcome, ...attempt }) => ({
      ...attempt,
      outcome: outcome?.kind,
      ...(outcome === undefined ? {} : outcomeOf(outcome)),
    })),
    lostLeases,
    cancelledAtMs,
    expiresAtMs,
    ...termsOf(spec),
    ...(view.progress === undefined ? {} : { progress: jsonOfValue(view.progress) }),
  };
}

export function scheduleOf({ job, ...schedule }: ScheduleView): z.input<typeof Schedule> {
  return {
    ...schedule,
    job: {
      group: job.group,
      payload: jsonOf(job.payload),
      priority: job.priority ?? 50,
      metadata: { ...job.metadata },
      ...termsOf(job),
    },
  };
}

function termsOf({
  retry,
  limits = [],
  timeoutMs,
  after = [],
  dedupe,
}: Omit<JobSpec, "id" | "tenant">): z.input<typeof Terms> {
  return {
    ...(retry === undefined ? {} : { retry }),
    ...(limits.length === 0 ? {} : { limits: [...limits] }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(after.length === 0 ? {} : { after: [...after] }),
    ...(dedupe === undefined ? {} : { dedupe }),
  };
}

export function outcomeOf(outcome: AttemptOutcome): { result?: unknown; code?: string; data?: unknown } {
  if (outcome.kind === "succeeded") return { result: jsonOf(outcome.result) };
  if (outcome.kind === "failed") return { code: outcome.code, data: jsonOf(outcome.data) };
  return {};
}
