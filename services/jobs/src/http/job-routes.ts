/** Routes about one tenant's jobs: enqueue, look, steer, await. */
import { randomUUID } from "node:crypto";
import { HttpAnswer, route, type RouteCall } from "@keelson/runtime";
import { z } from "zod";
import { ShardCalls } from "../client/shard-calls.ts";
import {
  isRefusal,
  type Command,
  type Enqueued as EnqueuedJob,
  type JobView,
  type ListCursor,
  type ListPage,
  type Refusal,
} from "../engine/index.ts";
import type { ResultItem } from "../shard/protocol.ts";
import { ShardFailure } from "../shard/shard-failure.ts";
import {
  BatchItem,
  Enqueued,
  Job,
  JobParams,
  NewJob,
  Nothing,
  Result,
  StatusQuery,
  TenantParams,
  jobOf,
  outcomeOf,
  specOf,
} from "./schemas.ts";

/** A payload of 512 KiB, as JSON with escapes. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;
const LIST_MAX = 1_000;
const WAIT_MS_MAX = 60_000;

/** Asks the shard of a tenant, in the time that the request has left. */
export function ask(
  call: RouteCall,
  tenant: string,
  mode: "read" | "write",
  method: string,
  body: unknown,
): Promise<unknown> {
  const { timeoutMs, trace } = call;
  return new ShardCalls(call.access).byTenant(tenant, mode, method, body, { timeoutMs, trace });
}

/** Gives a command; what the engine refuses becomes the request's failure. */
export async function command(call: RouteCall, tenant: string, body: Command): Promise<unknown> {
  const answer = await ask(call, tenant, "write", "execute", body);
  if (isRefusal(answer)) throw new ShardFailure(answer.refused, answer.message);
  return answer;
}

async function enqueue(call: RouteCall, tenant: string, jobs: readonly z.output<typeof NewJob>[]) {
  const specs = jobs.map((job) => specOf(tenant, job.id ?? randomUUID(), job));
  return (await ask(call, tenant, "write", "execute", { kind: "enqueue", jobs: specs })) as readonly (
    | EnqueuedJob
    | Refusal
  )[];
}

const tenantOf = ({ params }: { readonly params: { readonly tenant: string } }): string => params.tenant;

function steering(kind: "cancel" | "restart" | "expedite", summary: string) {
  return route({
    verb: "POST",
    path: `/tenants/{tenant}/jobs/{id}/${kind}`,
    summary,
    params: JobParams,
    answer: Nothing,
    scope: "write",
    mode: "write",
    tenant: tenantOf,
    to: {
      kind: "custom",
      async handle({ params }, call) {
        await command(call, params.tenant, { kind, ...params });
        return {};
      },
    },
  });
}

export const jobRoutes = {
  enqueue: route({
    verb: "POST",
    path: "/tenants/{tenant}/jobs",
    summary: "Enqueue a job; durable when it answers",
    params: TenantParams,
    body: NewJob,
    answer: Enqueued,
    scope: "write",
    mode: "write",
    tenant: tenantOf,
    limits: { bodyBytesMax: BODY_BYTES_MAX },
    to: {
      kind: "custom",
      async handle({ params, body }, call) {
        const [answer] = await enqueue(call, params.tenant, [body]);
        if (answer === undefined || isRefusal(answer))
          throw new ShardFailure(answer?.refused ?? "INTERNAL", answer?.message ?? "no answer");
        return new HttpAnswer({ ...answer }, { status: answer.outcome === "created" ? 201 : 200 });
      },
    },
  }),
  enqueueBatch: route({
    verb: "POST",
    path: "/tenants/{tenant}/batch",
    summary: "Enqueue many jobs; each is done or refused by itself",
    params: TenantParams,
    body: z.object({ jobs: z.array(NewJob).min(1).max(10_000) }),
    answer: z.object({ jobs: z.array(BatchItem) }),
    scope: "write",
    mode: "write",
    tenant: tenantOf,
    limits: { bodyBytesMax: 4 * BODY_BYTES_MAX, inflightMax: 50 },
    to: {
      kind: "custom",
      async handle({ params, body }, call) {
        const answers = await enqueue(call, params.tenant, body.jobs);
        return {
          jobs: answers.map((answer) =>
            isRefusal(answer) ? { error: answer.refused, message: answer.message } : { ...answer },
          ),
        };
      },
    },
  }),
  get: route({
    verb: "GET",
    path: "/tenants/{tenant}/jobs/{id}",
    summary: "A job with all its attempts",
    params: JobParams,
    answer: Job,
    scope: "read",
    mode: "read",
    tenant: tenantOf,
    to: {
      kind: "custom",
      async handle({ params }, call) {
        const view = (await ask(call, params.tenant, "read", "get", params)) as JobView | undefined;
        if (view === undefined || view === null)
          throw new ShardFailure("JOB_NOT_FOUND", `there is no job ${params.id}`);
        return jobOf(view);
      },
    },
  }),
  list: route({
    verb: "GET",
    path: "/tenants/{tenant}/jobs",
    summary: "A tenant's jobs, those that changed last first",
    description:
      "Ask again with `before` while there is a `next`: a page may have fewer jobs than were asked for, or none, because a look at ended jobs of one group stops after 10,000.",
    params: TenantParams,
    query: z.object({
      status: StatusQuery,
      group: z.string().optional(),
      limit: z.coerce.number().int().min(1).max(LIST_MAX).default(100),
      metadataKey: z.string().optional(),
      metadataValue: z.string().optional(),
      before: z.string().optional().describe("`next` of the page before"),
    }),
    answer: z.object({ jobs: z.array(Job), next: z.string().optional() }),
    scope: "read",
    mode: "read",
    tenant: tenantOf,
    to: {
      kind: "custom",
      async handle({ params, query }, call) {
        const { metadataKey: key, metadataValue: value = "", before, ...rest } = query;
        const asked = {
          ...rest,
          tenant: params.tenant,
          ...(key === undefined ? {} : { metadata: { key, value } }),
          ...(before === undefined ? {} : { before: cursorOf(before) }),
        };
        const { jobs, next } = (await ask(call, params.tenant, "read", "list", asked)) as ListPage;
        return { jobs: jobs.map(jobOf), ...nextOf(next) };
      },
    },
  }),
  result: route({
    verb: "GET",
    path: "/tenants/{tenant}/jobs/{id}/result",
    summary: "The end of a job; waits for it for as long as is asked",
    params: JobParams,
    query: z.object({ waitMs: z.coerce.number().int().min(0).max(WAIT_MS_MAX).default(0) }),
    answer: Result,
    scope: "read",
    mode: "read",
    tenant: tenantOf,
    limits: { timeoutMs: WAIT_MS_MAX + 5_000, inflightMax: 10_000 },
    to: {
      kind: "custom",
      async handle({ params, query }, call) {
        const end = await endOf(params, query.waitMs, call);
        if (end === undefined) throw new ShardFailure("WRONG_STATE", `job ${params.id} has not ended yet`);
        if (end.gone === true) throw new ShardFailure("JOB_NOT_FOUND", `there is no job ${params.id}`);
        return { status: end.status, ...(end.outcome === undefined ? {} : outcomeOf(end.outcome)) };
      },
    },
  }),
  cancel: steering("cancel", "Cancel a job; a worker that runs it is told"),
  restart: steering("restart", "Run a job again that failed or was cancelled"),
  expedite: steering("expedite", "Let a job run now that waits for its start time"),
  delete: route({
    verb: "DELETE",
    path: "/tenants/{tenant}/jobs/{id}",
    summary: "Forget a job that has ended",
    params: JobParams,
    answer: Nothing,
    scope: "write",
    mode: "write",
    tenant: tenantOf,
    to: {
      kind: "custom",
      async handle({ params }, call) {
        await command(call, params.tenant, { kind: "delete", ...params });
        return {};
      },
    },
  }),
};

/** Undefined when it has not ended in time. */
async function endOf(
  name: { tenant: string; id: string },
  waitMs: number,
  call: RouteCall,
): Promise<ResultItem | undefined> {
  const calls = new ShardCalls(call.access);
  const signal = AbortSignal.any([
    call.signal,
    AbortSignal.timeout(Math.max(50, Math.min(waitMs, call.timeoutMs))),
  ]);
  for await (const items of calls.stream(calls.shardOf(name.tenant), "results", { jobs: [name] }, signal))
    for (const item of items as readonly ResultItem[]) return item;
  return undefined;
}

/** How a place in a list is told, and `cursorOf` reads it. */
export function nextOf(next: ListCursor | undefined | null): { next?: string } {
  // Undefined comes over the wire as null.
  return next === undefined || next === null ? {} : { next: `${next.statusAtMs}.${next.id}` };
}

export function cursorOf(text: string): ListCursor {
  const [, at, id] = /^(\d+)\.(.+)$/s.exec(text) ?? [];
  if (at === undefined || id === undefined) throw new ShardFailure("INVALID", "before must be what next was");
  return { statusAtMs: Number(at), id };
}
