/** Builds a state from a checkpoint: jobs page by page, then the rest, then what ties them together. */
import { decodeBody } from "../codec/body.ts";
import type { StoredJob } from "../codec/stored-job.ts";
import type { Core } from "../core.ts";
import { bindLimits } from "../state/binding.ts";
import { Job } from "../state/job.ts";
import { Lease } from "../state/lease.ts";
import { MetadataIndex } from "../state/metadata-index.ts";
import { restoreRest } from "./rest.ts";

export class Restore {
  readonly #core: Core;
  readonly #jobs: Job[] = [];
  readonly #waiting: Job[] = [];

  constructor(core: Core) {
    this.#core = core;
  }

  add(stored: StoredJob): void {
    const { state, changes } = this.#core;
    const tenant = state.tenant(stored.tenant);
    const content = decodeBody(stored.body);
    const group = state.group(content.group);
    const job = new Job(stored.seq, tenant, stored.id, group, stored.body, stored.enqueuedAtMs);
    changes.restore(job, stored);
    job.priority = content.priority;
    group.jobs += 1;
    tenant.jobs.set(job.id, job);
    state.pages.add(job);
    bindLimits(job, content, 0);
    if (content.metadata !== undefined) {
      tenant.metadata ??= new MetadataIndex();
      tenant.metadata.add(job, content.metadata);
    }
    if (stored.lease !== undefined) {
      const { task, worker, startedAtMs, leaseMs } = stored.lease;
      job.lease = new Lease(task, job, worker, startedAtMs, leaseMs);
      state.leases.set(task, job.lease);
      for (const key of job.limits ?? []) key.held += 1;
    }
    if (job.flow !== undefined && job.flow.missing > 0) this.#waiting.push(job);
    this.#jobs.push(job);
  }

  /** After all jobs. Then records may be replayed. */
  finish(rest: Uint8Array): void {
    const { state, changes } = this.#core;
    restoreRest(state, rest);
    this.#jobs.sort((a, b) => a.statusAtMs - b.statusAtMs || a.seq - b.seq);
    for (const job of this.#jobs) {
      job.tenant.statuses[job.status].add(job);
      state.counts[job.status] += 1;
    }
    for (const job of this.#waiting) {
      const given = new Set(job.flow?.inputs.map(({ id }) => id));
      for (const id of new Set(decodeBody(job.body).after)) if (!given.has(id)) changes.link(job, id);
    }
    state.pages.markAllStored();
  }
}
