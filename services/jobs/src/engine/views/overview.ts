/** Questions about all tenants at once, for people who look at a shard: who is there, what is planned, what changed last. Answers are copies, and bounded. */
import { decodeBody } from "../codec/body.ts";
import {
  isFinal,
  type JobStatus,
  type JobView,
  type LimitView,
  type ScheduleView,
  type TenantView,
} from "../model/views.ts";
import type { Job } from "../state/job.ts";
import type { State } from "../state/state.ts";
import type { Tenant } from "../state/tenant.ts";
import { viewJob } from "./job-view.ts";
import { listedBefore } from "./list-page.ts";

export interface RecentQuery {
  readonly status?: JobStatus | undefined;
  readonly group?: string | undefined;
  readonly limit: number;
}

/** Jobs that a question about one group looks at, over all tenants. */
const LOOKED_AT_MAX = 100_000;

export class Overview {
  readonly #state: State;
  readonly #retentionMs: number;

  constructor(state: State, retentionMs: number) {
    this.#state = state;
    this.#retentionMs = retentionMs;
  }

  /** Those with the most to do first. */
  tenants(limit: number, prefix = ""): readonly TenantView[] {
    const found: Tenant[] = [];
    for (const tenant of this.#state.tenants.values()) if (tenant.name.startsWith(prefix)) found.push(tenant);
    return found.sort(busierFirst).slice(0, limit).map(viewTenant);
  }

  /** Undefined when memory knows nothing of it. */
  tenant(name: string): TenantView | undefined {
    const tenant = this.#state.tenants.get(name);
    return tenant === undefined ? undefined : viewTenant(tenant);
  }

  /** By tenant and id. */
  schedules(limit: number, tenant?: string): readonly ScheduleView[] {
    const views: ScheduleView[] = [];
    for (const each of this.#tenants(tenant))
      for (const { id, cron, timeZone, missed, nextAtMs, body } of each.schedules?.values() ?? [])
        views.push({ id, tenant: each.name, cron, timeZone, missed, nextAtMs, job: decodeBody(body) });
    return views.sort(inNameOrder).slice(0, limit);
  }

  /** Jobs that have not ended; of all tenants, or of one. Jobs that come meanwhile may be among them. */
  *active(tenant?: string): Generator<JobView> {
    for (const job of this.#open(tenant)) yield viewJob(job, this.#retentionMs);
  }

  /** Who holds places of concurrency limits, and who waits for them. */
  *limitEntries(tenant?: string): Generator<LimitEntry> {
    for (const job of this.#open(tenant)) {
      const { id, priority, lease, startAtMs, limits = [] } = job;
      const of = { tenant: job.tenant.name, id, priority };
      for (const { kind, key, lines } of limits) {
        if (kind === "rate") continue;
        if (lease !== undefined) yield { ...of, key, holds: true, task: lease.task, atMs: lease.startedAtMs };
        else if (lines.some(({ waiters }) => waiters === job.queue))
          yield { ...of, key, holds: false, task: undefined, atMs: startAtMs };
      }
    }
  }

  *limits(tenant?: string): Generator<LimitView> {
    for (const { name, limits } of this.#tenants(tenant))
      for (const { kind, key, max, held, waiting } of limits?.values() ?? [])
        yield { tenant: name, kind, key, max, held, waiting };
  }

  /** The jobs in memory that changed last, of all tenants. */
  recent({ status, group, limit }: RecentQuery): readonly JobView[] {
    const found: Job[] = [];
    let looked = 0;
    for (const { statuses } of this.#state.tenants.values())
      for (const { newest } of status === undefined ? Object.values(statuses) : [statuses[status]]) {
        let taken = 0;
        for (let job = newest; job !== undefined && taken < limit; job = job.older) {
          if (++looked > LOOKED_AT_MAX) break;
          if (group !== undefined && job.group.name !== group) continue;
          found.push(job);
          taken += 1;
        }
      }
    found.sort((a, b) => (listedBefore(a, b) ? -1 : listedBefore(b, a) ? 1 : 0));
    return found.slice(0, limit).map((job) => viewJob(job, this.#retentionMs));
  }

  *#open(tenant: string | undefined): Generator<Job> {
    for (const { jobs } of this.#tenants(tenant))
      for (const job of jobs.values()) if (!isFinal(job.status)) yield job;
  }

  #tenants(name: string | undefined): Iterable<Tenant> {
    if (name === undefined) return this.#state.tenants.values();
    const tenant = this.#state.tenants.get(name);
    return tenant === undefined ? [] : [tenant];
  }
}

/** A job that holds a place of a limit, or waits for one. */
export interface LimitEntry {
  readonly tenant: string;
  readonly key: string;
  readonly holds: boolean;
  readonly id: string;
  readonly priority: number;
  /** Of a holder. */
  readonly task: number | undefined;
  readonly atMs: number;
}

function viewTenant({ name, weight, paused, statuses, schedules }: Tenant): TenantView {
  const { scheduled, running, succeeded, failed, cancelled } = statuses;
  return {
    tenant: name,
    weight,
    paused,
    schedules: schedules?.size ?? 0,
    jobs: {
      scheduled: scheduled.size,
      running: running.size,
      succeeded: succeeded.size,
      failed: failed.size,
      cancelled: cancelled.size,
    },
  };
}

function busierFirst(a: Tenant, b: Tenant): number {
  const open = ({ statuses }: Tenant): number => statuses.scheduled.size + statuses.running.size;
  return open(b) - open(a) || (a.name < b.name ? -1 : 1);
}

function inNameOrder(a: ScheduleView, b: ScheduleView): number {
  if (a.tenant !== b.tenant) return a.tenant < b.tenant ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}
