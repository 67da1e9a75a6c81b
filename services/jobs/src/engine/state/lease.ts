/**
 * A task in a worker's hands. The lease is what holds the places of the job's limits: it takes them when it begins and gives them back when it ends. It also is what
 * a worker is told of the task, so that nothing has to be made for that.
 */
import type { HeapItem } from "../structure/heap.ts";
import type { TakenTask } from "../model/views.ts";
import type { Input, Job } from "./job.ts";

export class Lease implements HeapItem, TakenTask {
  readonly task: number;
  readonly job: Job;
  readonly worker: string;
  readonly startedAtMs: number;
  readonly leaseMs: number;
  readonly attempt: number;
  readonly relativeAttempt: number;
  /** Whoever leases knows the job's content; memory only. */
  isLastAttempt = true;
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
    this.attempt = job.attempt;
    this.relativeAttempt = job.relativeAttempt;
  }

  get tenant(): string {
    return this.job.tenant.name;
  }

  get id(): string {
    return this.job.id;
  }

  get body(): string {
    return this.job.body;
  }

  get inputs(): readonly Input[] {
    return this.job.flow?.inputs ?? NO_INPUTS;
  }
}

const NO_INPUTS: readonly Input[] = [];

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
