/** Routes for people who look at the whole queue: tenants, schedules, what happened last, and throughput and waiting over time. They ask all shards. */
import { route } from "@keelson/runtime";
import { z } from "zod";
import type { JobView, ScheduleView, TenantView } from "../engine/index.ts";
import { STEP_MS, type HistoryStep } from "../shard/history.ts";
import { ask } from "./job-routes.ts";
import { mergeHistory } from "./merge-history.ts";
import { Counts, Job, Schedule, StatusQuery, TenantParams, jobOf, scheduleOf } from "./schemas.ts";

const limitUpTo = (max: number, otherwise: number) =>
  z.coerce.number().int().min(1).max(max).default(otherwise);
const Tenant = z.object({
  tenant: z.string(),
  weight: z.number(),
  paused: z.boolean(),
  schedules: z.number(),
  jobs: Counts.describe("in memory: all that have not ended, and the last that have"),
});
const Point = Counts.extend({
  atMs: z.number(),
  waitMsP50: z.number().optional().describe("from the time a job might start to its start"),
  waitMsP99: z.number().optional(),
  runMsP50: z.number().optional().describe("from the last attempt's start to the job's end"),
  runMsP99: z.number().optional(),
});

export const overviewRoutes = {
  tenants: route({
    verb: "GET",
    path: "/tenants",
    summary: "Tenants, those with the most to do first",
    query: z.object({ limit: limitUpTo(1_000, 100), prefix: z.string().max(64).default("") }),
    answer: z.object({ tenants: z.array(Tenant) }),
    scope: "read",
    mode: "read",
    to: {
      kind: "many",
      ask: ({ query }) => ({ method: "tenants", body: query }),
      merge(parts, { query }) {
        const all = parts.flatMap(({ body }) => body as readonly TenantView[]);
        const open = ({ jobs }: TenantView): number => jobs.scheduled + jobs.running;
        return { tenants: all.sort((a, b) => open(b) - open(a)).slice(0, query.limit) };
      },
    },
  }),
  schedules: route({
    verb: "GET",
    path: "/schedules",
    summary: "All schedules, the next to run first",
    query: z.object({ limit: limitUpTo(1_000, 100) }),
    answer: z.object({ schedules: z.array(Schedule) }),
    scope: "read",
    mode: "read",
    to: {
      kind: "many",
      ask: ({ query }) => ({ method: "schedules", body: query }),
      merge(parts, { query }) {
        const all = parts.flatMap(({ body }) => body as readonly ScheduleView[]);
        all.sort((a, b) => (a.nextAtMs ?? Infinity) - (b.nextAtMs ?? Infinity));
        return { schedules: all.slice(0, query.limit).map(scheduleOf) };
      },
    },
  }),
  tenantSchedules: route({
    verb: "GET",
    path: "/tenants/{tenant}/schedules",
    summary: "A tenant's schedules",
    params: TenantParams,
    query: z.object({ limit: limitUpTo(1_000, 100) }),
    answer: z.object({ schedules: z.array(Schedule) }),
    scope: "read",
    mode: "read",
    tenant: ({ params }) => params.tenant,
    to: {
      kind: "custom",
      async handle({ params, query }, call) {
        const body = { ...params, ...query };
        const found = (await ask(call, params.tenant, "read", "schedules", body)) as readonly ScheduleView[];
        return { schedules: found.map(scheduleOf) };
      },
    },
  }),
  recent: route({
    verb: "GET",
    path: "/jobs",
    summary: "Jobs of all tenants, those that changed last first",
    query: z.object({
      status: StatusQuery,
      group: z.string().optional(),
      limit: limitUpTo(200, 50),
    }),
    answer: z.object({ jobs: z.array(Job) }),
    scope: "read",
    mode: "read",
    to: {
      kind: "many",
      ask: ({ query }) => ({ method: "recent", body: query }),
      merge(parts, { query }) {
        const all = parts.flatMap(({ body }) => body as readonly JobView[]);
        return {
          jobs: all
            .sort((a, b) => b.statusAtMs - a.statusAtMs)
            .slice(0, query.limit)
            .map(jobOf),
        };
      },
    },
  }),
  history: route({
    verb: "GET",
    path: "/history",
    summary: "Throughput, waiting and running times of the last hour",
    description:
      "Counts are changes of status. Each shard remembers since its holder opened it. Times are those of at most 200 jobs a shard and step, of all groups.",
    query: z.object({
      seconds: z.coerce.number().int().min(10).max(3_600).default(900),
      stepSeconds: z.coerce.number().int().min(10).max(600).default(10).describe("a multiple of 10"),
      group: z.string().optional().describe("counts of this group only"),
    }),
    answer: z.object({ stepMs: z.number(), points: z.array(Point) }),
    scope: "read",
    mode: "read",
    to: {
      kind: "many",
      ask: ({ query }) => ({ method: "history", body: { fromMs: Date.now() - query.seconds * 1_000 } }),
      merge(parts, { query }) {
        const stepMs = Math.ceil((query.stepSeconds * 1_000) / STEP_MS) * STEP_MS;
        const steps = parts.flatMap(({ body }) => body as readonly HistoryStep[]);
        return { stepMs, points: mergeHistory(steps, stepMs, query.group) };
      },
    },
  }),
};
