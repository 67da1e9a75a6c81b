/** Questions about what is in memory. Answers are copies. */
import { decodeBody } from "../codec/body.ts";
import type { JobName } from "../model/command.ts";
import type { EngineStats, GroupView, JobStatus, JobView, LeaseView, LimitView } from "../model/views.ts";
import type { Job } from "../state/job.ts";
import type { State } from "../state/state.ts";
import { viewJob } from "./job-view.ts";
import { listedBefore, type ListCursor } from "./list-page.ts";

/** In the order of lists; after `before` where one is given. */
export interface ListQuery {
  readonly tenant: string;
  readonly status?: JobStatus | undefined;
  readonly group?: string | undefined;
  /** Only jobs with this piece of metadata. */
  readonly metadata?: { readonly key: string; readonly value: string } | undefined;
  readonly limit: number;
  readonly before?: ListCursor | undefined;
}

export class Queries {
  readonly #state: State;
  readonly #retentionMs: number;

  constructor(state: State, retentionMs: number) {
    this.#state = state;
    this.#retentionMs = retentionMs;
  }

  get({ tenant, id }: JobName): JobView | undefined {
    const job = this.#state.find(tenant, id);
    return job === undefined ? undefined : viewJob(job, this.#retentionMs);
  }

  list(query: ListQuery): readonly JobView[] {
    const jobs = query.metadata === undefined ? this.#byStatus(query) : this.#byMetadata(query);
    return jobs.map((job) => viewJob(job, this.#retentionMs));
  }

  leases(): readonly LeaseView[] {
    return Array.from(this.#state.leases.values(), ({ task, job, worker, startedAtMs, deadlineMs }) => ({
      task,
      tenant: job.tenant.name,
      id: job.id,
      worker,
      attempt: job.attempt,
      startedAtMs,
      deadlineMs,
    }));
  }

  limits(tenantName: string): readonly LimitView[] {
    const tenant = this.#state.tenants.get(tenantName);
    return Array.from(tenant?.limits?.values() ?? [], ({ kind, key, max, held, waiting }) => ({
      tenant: tenantName,
      kind,
      key,
      max,
      held,
      waiting,
    }));
  }

  groups(): readonly GroupView[] {
    return Array.from(this.#state.groups.values(), ({ name, paused, lanes }) => {
      const tenants = Array.from(lanes.values(), ({ tenant, ready, running }) => ({
        tenant: tenant.name,
        ready: ready.size,
        running,
        weight: tenant.weight,
      }));
      const ready = tenants.reduce((sum, each) => sum + each.ready, 0);
      const running = tenants.reduce((sum, each) => sum + each.running, 0);
      return { group: name, paused, ready, running, tenants };
    });
  }

  stats(): EngineStats {
    const { counts, tenants, leases, finished, schedules } = this.#state;
    return {
      jobs: { ...counts },
      tenants: tenants.size,
      leases: leases.size,
      finishedInMemory: finished.size,
      schedules,
    };
  }

  #byStatus({ tenant: name, status, group, limit, before }: ListQuery): readonly Job[] {
    const tenant = this.#state.tenants.get(name);
    if (tenant === undefined) return [];
    const lists = status === undefined ? Object.values(tenant.statuses) : [tenant.statuses[status]];
    const found: Job[] = [];
    for (const { newest } of lists) {
      let taken = 0;
      // Equal times are in no order of ids, so all of them are taken before the rest is cut off.
      let lastMs = Infinity;
      for (let job = newest; job !== undefined; job = job.older) {
        if (before !== undefined && !listedBefore(before, job)) continue;
        if (group !== undefined && job.group.name !== group) continue;
        if (taken >= limit && job.statusAtMs < lastMs) break;
        found.push(job);
        taken += 1;
        lastMs = job.statusAtMs;
      }
    }
    return found.sort(inListOrder).slice(0, limit);
  }

  #byMetadata({ tenant, status, group, metadata, limit, before }: ListQuery): readonly Job[] {
    if (metadata === undefined) return [];
    const index = this.#state.tenants.get(tenant)?.metadata;
    const found: Job[] = [];
    for (const job of index?.find(metadata.key, metadata.value) ?? []) {
      if (status !== undefined && job.status !== status) continue;
      if (group !== undefined && job.group.name !== group) continue;
      if (before === undefined || listedBefore(before, job)) found.push(job);
    }
    for (const job of this.#endedWith(tenant, metadata.key, metadata.value)) {
      if (status !== undefined && job.status !== status) continue;
      if (group !== undefined && job.group.name !== group) continue;
      if (before === undefined || listedBefore(before, job)) found.push(job);
    }
    return found.sort(inListOrder).slice(0, limit);
  }

  /** Jobs that have ended are not in the index any more, and not in pages yet. There are few of them. */
  *#endedWith(tenant: string, key: string, value: string): Generator<Job> {
    for (const job of this.#state.finished)
      if (job.tenant.name === tenant && decodeBody(job.body).metadata?.[key] === value) yield job;
  }
}

function inListOrder(a: ListCursor, b: ListCursor): number {
  return listedBefore(a, b) ? -1 : listedBefore(b, a) ? 1 : 0;
}
