/** Questions about all tenants at once, for people who look at a shard: who is there, what is planned, what changed last. Answers are copies, and bounded. */
import { decodeBody } from "../codec/body.ts";
import type { JobStatus, JobView, ScheduleView, TenantView } from "../model/views.ts";
import type { Job } from "../state/job.ts";
import type { State } from "../state/state.ts";
import type { Tenant } from "../state/tenant.ts";
import { viewJob } from "./job-view.ts";
import { listedBefore } from "./queries.ts";

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
    const tenants = tenant === undefined ? this.#state.tenants.values() : [this.#state.tenants.get(tenant)];
    const views: ScheduleView[] = [];
    for (const each of tenants)
      for (const { id, cron, timeZone, missed, nextAtMs, body } of each?.schedules?.values() ?? [])
        views.push({ id, tenant: each!.name, cron, timeZone, missed, nextAtMs, job: decodeBody(body) });
    return views.sort(inNameOrder).slice(0, limit);
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
