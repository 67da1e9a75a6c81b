/** Routes about queues and not one job: schedules, groups, tenants, events, shards. */
import { route, type Part, type ShardDirectory } from "@keelson/runtime";
import { z } from "zod";
import { followEvents } from "../client/event-feed.ts";
import { SERVICE, ShardCalls } from "../client/shard-calls.ts";
import {
  isRefusal,
  type EngineStats,
  type GroupView,
  type LimitView,
  type TenantView,
} from "../engine/index.ts";
import { hex } from "../shard/ranges.ts";
import { ShardFailure } from "../shard/shard-failure.ts";
import { ask, command } from "./job-routes.ts";
import { bytesOfJson, jsonOfValue } from "./json-value.ts";
import { Counts, GroupParams, NewSchedule, Nothing, ScheduleParams, TenantParams } from "./schemas.ts";
import { mergeGroups, mergeStats } from "./merge.ts";

const tenantOf = ({ params }: { readonly params: { readonly tenant: string } }): string => params.tenant;

const Stats = z.object({
  jobs: Counts,
  tenants: z.number(),
  leases: z.number(),
  schedules: z.number(),
  shards: z.array(z.object({ shard: z.string(), jobs: Counts, leases: z.number() })),
});
const GroupShown = z.object({
  group: z.string(),
  paused: z.boolean(),
  ready: z.number(),
  running: z.number(),
  tenants: z.array(
    z.object({ tenant: z.string(), ready: z.number(), running: z.number(), weight: z.number() }),
  ),
});
/** A shard that is not there is said to be missing at once; asked for, it would be waited for. */
export function existing(shard: string, shards: ShardDirectory): string {
  // No list at all: there may be one in a moment.
  if (shards.ids.length === 0 || shards.has(shard)) return shard;
  throw new ShardFailure("SHARD_NOT_FOUND", `there is no shard ${shard}: GET /v1/jobs/shards lists them`);
}

/** A group lies on all shards. */
function pausing(paused: boolean) {
  return route({
    verb: "POST",
    path: `/groups/{group}/${paused ? "pause" : "resume"}`,
    summary: paused ? "Start no more jobs of a group" : "Start jobs of a group again",
    params: GroupParams,
    answer: Nothing,
    scope: "write",
    mode: "write",
    idempotent: true,
    to: {
      kind: "many",
      whole: true,
      ask: ({ params }) => ({ method: "execute", body: { kind: "setGroup", group: params.group, paused } }),
      merge(parts) {
        for (const { body } of parts) if (isRefusal(body)) throw new ShardFailure(body.refused, body.message);
        return {};
      },
    },
  });
}

export const queueRoutes = {
  putSchedule: route({
    verb: "PUT",
    path: "/tenants/{tenant}/schedules/{id}",
    summary: "Make or change a schedule",
    params: ScheduleParams,
    body: NewSchedule,
    answer: z.object({ nextAtMs: z.number().optional() }),
    scope: "write",
    mode: "write",
    idempotent: true,
    tenant: tenantOf,
    to: {
      kind: "custom",
      async handle({ params, body }, call) {
        const { payload, ...job } = body.job;
        const schedule = { ...body, ...params, job: { ...job, payload: bytesOfJson(payload) } };
        return (await command(call, params.tenant, { kind: "putSchedule", schedule })) as {
          nextAtMs?: number;
        };
      },
    },
  }),
  deleteSchedule: route({
    verb: "DELETE",
    path: "/tenants/{tenant}/schedules/{id}",
    summary: "End a schedule",
    params: ScheduleParams,
    answer: Nothing,
    scope: "write",
    mode: "write",
    tenant: tenantOf,
    to: {
      kind: "custom",
      async handle({ params }, call) {
        await command(call, params.tenant, { kind: "deleteSchedule", ...params });
        return {};
      },
    },
  }),
  tenant: route({
    verb: "GET",
    path: "/tenants/{tenant}",
    summary: "A tenant: its shard, its jobs by status, its limits with who waits",
    params: TenantParams,
    answer: z.object({
      tenant: z.string(),
      shard: z.string(),
      weight: z.number().optional(),
      paused: z.boolean().optional(),
      schedules: z.number().optional(),
      jobs: Counts.optional(),
      limits: z.array(z.unknown()),
    }),
    scope: "read",
    mode: "read",
    tenant: tenantOf,
    to: {
      kind: "custom",
      async handle({ params }, call) {
        const shard = new ShardCalls(call.access).shardOf(params.tenant);
        const shown = await ask(call, params.tenant, "read", "tenant", params);
        return { ...params, shard, ...(shown as Partial<TenantView> & { limits: LimitView[] }) };
      },
    },
  }),
  setTenant: route({
    verb: "PATCH",
    path: "/tenants/{tenant}",
    summary: "Pause or resume a tenant, or change its share",
    params: TenantParams,
    body: z.object({ paused: z.boolean().optional(), weight: z.number().min(0.001).max(1_000).optional() }),
    answer: Nothing,
    scope: "write",
    mode: "write",
    idempotent: true,
    tenant: tenantOf,
    to: {
      kind: "custom",
      async handle({ params, body }, call) {
        await command(call, params.tenant, { kind: "setTenant", ...params, ...body });
        return {};
      },
    },
  }),
  groups: route({
    verb: "GET",
    path: "/groups",
    summary: "Task groups: what is ready and what runs, by tenant",
    answer: z.object({ groups: z.array(GroupShown) }),
    scope: "read",
    mode: "read",
    to: {
      kind: "many",
      ask: () => ({ method: "groups", body: {} }),
      merge: (parts) => ({ groups: mergeGroups(parts.map(({ body }) => body as readonly GroupView[])) }),
    },
  }),
  pauseGroup: pausing(true),
  resumeGroup: pausing(false),
  stats: route({
    verb: "GET",
    path: "/stats",
    summary: "How many jobs there are, in all and by shard",
    answer: Stats,
    scope: "read",
    mode: "read",
    to: {
      kind: "many",
      ask: () => ({ method: "stats", body: {} }),
      merge: (parts: readonly Part[]) =>
        mergeStats(parts.map(({ shard, body }) => ({ shard, stats: body as EngineStats }))),
    },
  }),
  events: route({
    verb: "GET",
    path: "/events",
    summary: "What happens to jobs, from now on",
    query: z.object({ tenant: z.string().optional(), group: z.string().optional() }),
    answer: z.unknown(),
    scope: "read",
    mode: "read",
    to: {
      kind: "custom",
      async *handle({ query }, call) {
        for await (const event of followEvents(new ShardCalls(call.access), query, call.signal))
          yield event.kind === "progress" ? { ...event, progress: jsonOfValue(event.progress) } : event;
      },
    },
  }),
  shards: route({
    verb: "GET",
    path: "/shards",
    summary: "The shards and the tenants' hashes that they hold",
    answer: z.object({
      shards: z.array(z.object({ shard: z.string(), first: z.string(), last: z.string() })),
    }),
    scope: "read",
    mode: "read",
    to: {
      kind: "custom",
      handle: (_, call) => {
        const { ranges } = new ShardCalls(call.access).map;
        return Promise.resolve({
          shards: ranges.map(({ id, first, last }) => ({ shard: id, first: hex(first), last: hex(last) })),
        });
      },
    },
  }),
  split: route({
    verb: "POST",
    path: "/shards/{shard}/split",
    summary: "Split a shard in two, at a hash or in the middle",
    params: z.object({ shard: z.string() }),
    body: z.object({
      at: z
        .string()
        .regex(/^[0-9a-f]{16}$/)
        .optional(),
    }),
    answer: z.object({ left: z.string(), right: z.string() }),
    scope: "admin",
    mode: "write",
    limits: { timeoutMs: 60_000, inflightMax: 4 },
    to: {
      kind: "one",
      shard: ({ params }, shards) => existing(params.shard, shards),
      ask: ({ body }) => ({ method: "split", body }),
    },
  }),
  dump: route({
    verb: "GET",
    path: "/shards/{shard}/dump",
    summary: "Everything that a shard holds, as the keys of the design it follows",
    params: z.object({ shard: z.string() }),
    query: z.object({ prefix: z.string().default("") }),
    answer: z.object({ key: z.string(), value: z.unknown() }),
    scope: "admin",
    mode: "read",
    to: {
      kind: "custom",
      async *handle({ params, query }, call) {
        const calls = new ShardCalls(call.access);
        existing(params.shard, call.access.shards(SERVICE));
        for await (const lines of calls.stream(params.shard, "dump", query, call.signal))
          for (const { key, value } of lines as readonly { key: string; value: unknown }[])
            yield { key, value: jsonOfValue(value) };
      },
    },
  }),
};
