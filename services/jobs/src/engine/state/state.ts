/** All that the engine knows. Durable parts are written by `Changes` only; queues and timers are the scheduler's. */
import type { JobStatus } from "../model/views.ts";
import type { StoredJob } from "../codec/stored-job.ts";
import { Group } from "./group.ts";
import type { Job } from "./job.ts";
import { JobPages } from "./job-pages.ts";
import type { Lease } from "./lease.ts";
import { Tenant } from "./tenant.ts";

export class State {
  readonly tenants = new Map<string, Tenant>();
  readonly groups = new Map<string, Group>();
  readonly leases = new Map<number, Lease>();
  readonly pages = new JobPages();
  /** Ended, and not in the pages of finished jobs yet. In order of their end. */
  readonly finished = new Set<Job>();
  /** Jobs that are in the pages of finished jobs and must not be any more, by `tenant\0id`. */
  readonly forgotten = new Map<string, { readonly tenant: string; readonly id: string }>();
  readonly counts: Record<JobStatus, number> = {
    scheduled: 0,
    running: 0,
    succeeded: 0,
    failed: 0,
    cancelled: 0,
  };
  lastSeq = 0;
  lastTask = 0;
  /** Wall clock of the last change; time does not go back. */
  wallMs = 0;
  schedules = 0;
  #tenantOrder = 0;

  tenant(name: string): Tenant {
    let tenant = this.tenants.get(name);
    if (tenant === undefined) {
      tenant = new Tenant(name, ++this.#tenantOrder);
      this.tenants.set(name, tenant);
    }
    return tenant;
  }

  group(name: string): Group {
    let group = this.groups.get(name);
    if (group === undefined) {
      group = new Group(name);
      this.groups.set(name, group);
    }
    return group;
  }

  /** Forgets a group of which nothing is left. */
  tidyGroup(group: Group): void {
    if (group.jobs === 0 && !group.paused && group.lanes.size === 0) this.groups.delete(group.name);
  }

  find(tenant: string, id: string): Job | undefined {
    return this.tenants.get(tenant)?.jobs.get(id);
  }

  /** Takes a job out of memory: its status list, its tenant, its page. */
  drop(job: Job): void {
    const { tenant } = job;
    this.pages.remove(job);
    tenant.jobs.delete(job.id);
    tenant.statuses[job.status].remove(job);
    this.counts[job.status] -= 1;
    this.finished.delete(job);
    if (tenant.isEmpty) this.tenants.delete(tenant.name);
  }
}

export function jobKey(job: Pick<StoredJob, "tenant" | "id">): string {
  return `${job.tenant}\0${job.id}`;
}
