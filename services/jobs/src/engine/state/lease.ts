/** A task in a worker's hands. The lease is what holds the places of the job's limits: it takes them when it begins and gives them back when it ends. */
import type { HeapItem } from "../structure/heap.ts";
import type { Job } from "./job.ts";

export class Lease implements HeapItem {
  readonly task: number;
  readonly job: Job;
  readonly worker: string;
  readonly startedAtMs: number;
  leaseMs: number;
  /** On the monotonic clock; memory only. */
  deadlineMs = 0;
  slot = -1;
  timeout: Timeout | undefined = undefined;

  constructor(task: number, job: Job, worker: string, startedAtMs: number, leaseMs: number) {
    this.task = task;
    this.job = job;
    this.worker = worker;
    this.startedAtMs = startedAtMs;
    this.leaseMs = leaseMs;
  }
}

/** When the attempt has taken too long, on the monotonic clock. */
export class Timeout implements HeapItem {
  readonly lease: Lease;
  readonly atMs: number;
  slot = -1;

  constructor(lease: Lease, atMs: number) {
    this.lease = lease;
    this.atMs = atMs;
  }
}
