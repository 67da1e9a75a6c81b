/** The job queue as a plug-in: its configuration, its service, its APIs, its commands and its metrics. */
import { definePlugin } from "@keelson/runtime";
import { z } from "zod";
import { gubernatorService } from "./gubernator/grpc.ts";
import { bulkRoutes } from "./http/bulk-routes.ts";
import { jobRoutes } from "./http/job-routes.ts";
import { overviewRoutes } from "./http/overview-routes.ts";
import { queryRoutes } from "./http/query-routes.ts";
import { queueRoutes } from "./http/queue-routes.ts";
import { rateRoutes } from "./http/rate-routes.ts";
import { jobsMetrics } from "./metrics.ts";
import { jobsService } from "./service.ts";
import { siloService } from "./silo/service.ts";
import { jobsVerbs } from "./verbs.ts";

export const jobsPlugin = definePlugin({
  name: "jobs",
  about: "a durable multi-tenant job queue",
  config: z.object({
    shards: z
      .int()
      .min(1)
      .max(10_000)
      .default(8)
      .describe("how many shards it begins with; the same on all nodes, for ever"),
    pages: z
      .string()
      .default("")
      .describe("where pages lie, when not beside the fleet's objects: a folder or s3://bucket/prefix"),
    leaseMs: z
      .int()
      .min(100)
      .max(86_400_000)
      .default(10_000)
      .describe("how long a task may go without a heartbeat"),
    lostLeasesMax: z
      .int()
      .min(1)
      .max(1_000)
      .default(3)
      .describe("leases of an attempt that may be lost before it counts as failed"),
    retentionMs: z
      .int()
      .min(0)
      .default(7 * 86_400_000)
      .describe("how long jobs that have ended can be looked up"),
    journalTimeoutMs: z
      .int()
      .min(1_000)
      .max(600_000)
      .default(30_000)
      .describe("how long a write to the journal may take before the node gives its shards up"),
    gubernator: z
      .string()
      .default("")
      .describe("host:port of a Gubernator to ask for rate limits; empty: they are checked here"),
  }),
  needs: ["objects"],
  service: jobsService,
  http: { ...jobRoutes, ...bulkRoutes, ...queueRoutes, ...overviewRoutes, ...queryRoutes, ...rateRoutes },
  grpc: [siloService, gubernatorService],
  verbs: jobsVerbs,
  metrics: jobsMetrics,
  alerts: [
    {
      name: "JobsJournalBroken",
      expr: "jobs_journal_broken > 0",
      for: "1m",
      severity: "page",
      summary: "A node cannot write the journal of the job queue: it has given its shards up, and tries on.",
    },
    {
      name: "JobsCheckpointsFail",
      expr: "increase(jobs_checkpoint_failures[10m]) > 0",
      for: "10m",
      severity: "ticket",
      summary: "Checkpoints of the job queue fail: the journal grows and opening a shard takes longer.",
    },
  ],
  console: [
    {
      id: "queues",
      title: "Queues",
      about: "task groups, what waits and what runs",
      reads: ["groups", "stats", "history", "recent", "events"],
      actions: [{ route: "pauseGroup", title: "Pause", confirm: "Start no more jobs of this group?" }],
    },
    {
      id: "jobs",
      title: "Jobs",
      about: "what was enqueued and what became of it, with attempts and payload",
      reads: ["recent", "list", "get"],
      actions: [
        { route: "enqueue", title: "Enqueue", confirm: "Enqueue this job?" },
        { route: "cancel", title: "Cancel", confirm: "Cancel this job?" },
        { route: "restart", title: "Restart", confirm: "Run this job again?" },
        { route: "bulk", title: "Cancel or restart", confirm: "Do this to all of these jobs?" },
      ],
    },
    {
      id: "schedules",
      title: "Schedules",
      about: "what is made when",
      reads: ["schedules", "tenantSchedules"],
      actions: [{ route: "deleteSchedule", title: "End", confirm: "Make no more jobs for this schedule?" }],
    },
    {
      id: "tenants",
      title: "Tenants",
      about: "a tenant's jobs, limits and who waits for them",
      reads: ["tenants", "tenant", "list"],
      actions: [{ route: "setTenant", title: "Pause", confirm: "Start no more jobs of this tenant?" }],
    },
  ],
  errors: {
    INVALID: {
      status: 400,
      about: "something in the request is malformed or above a limit; the text says what",
    },
    CONFLICT: { status: 409, about: "the id exists with other content" },
    JOB_NOT_FOUND: { status: 404, about: "there is no such job of this tenant, or not any more" },
    SHARD_NOT_FOUND: { status: 404, about: "there is no such shard of the job queue, or not any more" },
    SCHEDULE_NOT_FOUND: { status: 404, about: "there is no such schedule of this tenant" },
    LEASE_NOT_FOUND: {
      status: 404,
      about: "the task is not leased any more: it was completed, lost, timed out or deleted",
    },
    LEASE_OWNER_MISMATCH: { status: 409, about: "another worker has the task" },
    WRONG_STATE: { status: 409, about: "the job's state does not allow it" },
    DEPENDENCY_NOT_FOUND: { status: 404, about: "a job to wait for is not there" },
    NOT_IN_RANGE: {
      status: 503,
      about: "the tenant belongs to another shard: the shard was split; ask again",
    },
    SPLITTING: { status: 503, about: "the shard is being split; ask again in a moment" },
    NO_SHARD: { status: 503, about: "no shard of the job queue is known yet" },
    JOBS_UNKNOWN: {
      status: 503,
      about:
        "the shard stopped while it worked; what was asked may have been done: ask again with the same id",
    },
    JOBS_CLOSED: { status: 503, about: "the shard was closed before it took the request; nothing changed" },
    JOBS_OVERLOADED: { status: 429, about: "too many requests wait for the journal; nothing changed" },
    SQL_INVALID: { status: 400, about: "the statement is malformed, or names what there is not" },
    SQL_UNSUPPORTED: { status: 501, about: "the statement needs SQL that is not there; the text says what" },
    SQL_TIMEOUT: { status: 504, about: "the statement took longer than 5 s: name a tenant, or a LIMIT" },
    SQL_TOO_LARGE: { status: 413, about: "the statement would keep too much in memory" },
    SQL_BUSY: { status: 429, about: "too many statements run on the shard" },
    NO_METHOD: { status: 400, about: "a shard of the job queue has no such method" },
  },
});
