/** A tenant of the shard: its jobs by id and by status, and everything whose keys are its own. */
import type { JobStatus } from "../model/views.ts";
import type { DedupeKey } from "./dedupe-key.ts";
import type { Job } from "./job.ts";
import type { LimitKey } from "./limit-key.ts";
import type { MetadataIndex } from "./metadata-index.ts";
import type { RateBucket } from "./rate-bucket.ts";
import type { Schedule } from "./schedule.ts";

export const WEIGHT_DEFAULT = 1;

/** Jobs of one status, in the order of `statusAtMs`. Time does not go back, so only imported jobs have to look for their place. */
export class StatusList {
  oldest: Job | undefined = undefined;
  newest: Job | undefined = undefined;
  size = 0;

  add(job: Job): void {
    let older = this.newest;
    while (older !== undefined && older.statusAtMs > job.statusAtMs) older = older.older;
    const newer = older === undefined ? this.oldest : older.newer;
    job.older = older;
    job.newer = newer;
    if (older === undefined) this.oldest = job;
    else older.newer = job;
    if (newer === undefined) this.newest = job;
    else newer.older = job;
    this.size += 1;
  }

  remove(job: Job): void {
    if (job.older === undefined) this.oldest = job.newer;
    else job.older.newer = job.newer;
    if (job.newer === undefined) this.newest = job.older;
    else job.newer.older = job.older;
    job.older = undefined;
    job.newer = undefined;
    this.size -= 1;
  }
}

export class Tenant {
  readonly name: string;
  /** Order of appearance, to decide between equals. */
  readonly order: number;
  weight = WEIGHT_DEFAULT;
  paused = false;
  readonly jobs = new Map<string, Job>();
  readonly statuses: Readonly<Record<JobStatus, StatusList>> = {
    scheduled: new StatusList(),
    running: new StatusList(),
    succeeded: new StatusList(),
    failed: new StatusList(),
    cancelled: new StatusList(),
  };
  limits: Map<string, LimitKey> | undefined = undefined;
  buckets: Map<string, RateBucket> | undefined = undefined;
  dedupes: Map<string, DedupeKey> | undefined = undefined;
  /** How many keys were left when old ones were last looked for. */
  bucketsSwept = 32;
  dedupesSwept = 32;
  schedules: Map<string, Schedule> | undefined = undefined;
  metadata: MetadataIndex | undefined = undefined;

  constructor(name: string, order: number) {
    this.name = name;
    this.order = order;
  }

  /** Nothing is left that anybody could ask for. */
  get isEmpty(): boolean {
    return (
      this.jobs.size === 0 &&
      this.weight === WEIGHT_DEFAULT &&
      !this.paused &&
      (this.limits?.size ?? 0) === 0 &&
      (this.buckets?.size ?? 0) === 0 &&
      (this.dedupes?.size ?? 0) === 0 &&
      (this.schedules?.size ?? 0) === 0
    );
  }
}
