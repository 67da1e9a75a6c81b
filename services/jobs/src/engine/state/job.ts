/**
 * A job in memory. Most jobs of a long queue only wait, so what few of them have (a past, inputs, limits) is in parts that are there when needed. Fields up to
 * `limits` are durable state, and only `Changes` writes them; the rest says where the job is in the scheduler's queues and in the indexes.
 */
import { packPast, unpackPast, type StoredPast } from "../codec/past.ts";
import type { Heap, HeapItem } from "../structure/heap.ts";
import { isFinal, type JobStatus } from "../model/views.ts";
import type { Group } from "./group.ts";
import type { Lease } from "./lease.ts";
import type { LimitKey } from "./limit-key.ts";
import type { DedupeKey } from "./dedupe-key.ts";
import type { Tenant } from "./tenant.ts";

/** An outcome as memory keeps it: bytes as a string of bytes. */
export interface Outcome {
  readonly kind: "succeeded" | "failed" | "cancelled";
  readonly code: string;
  readonly data: string;
}

export interface Attempt {
  readonly number: number;
  readonly relativeNumber: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
  readonly worker: string;
  readonly outcome: Outcome;
}

const NO_ATTEMPTS: readonly Attempt[] = [];

/** What a job has once it has run, or was cancelled. */
export class Past {
  /** Finished ones, oldest first, the last hundred. */
  attempts: readonly Attempt[] = NO_ATTEMPTS;
  /** Finished ones over the whole life. */
  count = 0;
  /** `count` at the last restart. */
  countAtRestart = 0;
  /** Of the attempt that is due or runs. */
  lostLeases = 0;
  /** It has had a lease since it was enqueued or restarted. */
  started = false;
  cancelledAtMs: number | undefined = undefined;
}

/** What most jobs have behind them while they run. All of them share it, and nobody changes it. */
const FIRST_RUN = new Past();
FIRST_RUN.started = true;

export interface Input {
  readonly id: string;
  readonly outcome: Outcome;
  readonly omitted: boolean;
}

/** What a job has that waits for others, or waited. */
export class Flow {
  missing: number;
  readonly inputs: Input[] = [];
  inputBytes = 0;

  constructor(missing: number) {
    this.missing = missing;
  }
}

export class Job implements HeapItem {
  /** In order of enqueue; names the job in records and places it in a page. */
  readonly seq: number;
  readonly tenant: Tenant;
  readonly id: string;
  group: Group;
  priority: number;
  body: string;
  enqueuedAtMs: number;
  startAtMs: number;
  status: JobStatus = "scheduled";
  statusAtMs: number;
  lease: Lease | undefined = undefined;
  openPast: Past | undefined = undefined;
  /** The past of a job that has ended, packed: there are many of them until the next checkpoint, and each would be five objects. */
  endedPast: string | undefined = undefined;
  flow: Flow | undefined = undefined;
  dedupe: DedupeKey | undefined = undefined;
  /** Ids of triggers that joined this job. */
  merged: string[] | undefined = undefined;
  limits: readonly LimitKey[] | undefined = undefined;

  /** The heap that it waits in, and its place there. */
  queue: Heap<Job> | undefined = undefined;
  slot = -1;
  /** Put back by a rate limit until then; 0 otherwise. */
  notBeforeMs = 0;
  /** A limit whose place was free put the job into its ready queue. */
  wokenBy: LimitKey | undefined = undefined;
  /** Jobs that wait for this one's end. */
  dependents: Job[] | undefined = undefined;
  /** An outside limiter is being asked, or has said yes. */
  check: number | undefined = undefined;
  /** Neighbours in the list of jobs of this tenant and status, in order of `statusAtMs`. */
  older: Job | undefined = undefined;
  newer: Job | undefined = undefined;

  constructor(seq: number, tenant: Tenant, id: string, group: Group, body: string, atMs: number) {
    this.seq = seq;
    this.tenant = tenant;
    this.id = id;
    this.group = group;
    this.priority = 0;
    this.body = body;
    this.enqueuedAtMs = atMs;
    this.startAtMs = atMs;
    this.statusAtMs = atMs;
  }

  /** Of a job that has ended, a copy. */
  get past(): StoredPast | undefined {
    return this.endedPast === undefined ? this.openPast : unpackPast(this.endedPast);
  }

  /** The number of the attempt that is due or runs. */
  get attempt(): number {
    return (this.openPast?.count ?? 0) + 1;
  }

  get relativeAttempt(): number {
    const { openPast } = this;
    return openPast === undefined ? 1 : openPast.count - openPast.countAtRestart + 1;
  }

  get started(): boolean {
    return this.openPast?.started ?? false;
  }

  /** The last attempt of a job that has ended and of which nothing is kept: it is not settled. */
  get forgotten(): Attempt | undefined {
    return isFinal(this.status) ? this.openPast?.attempts.at(-1) : undefined;
  }

  get waitsForOthers(): boolean {
    if (this.flow !== undefined && this.flow.missing > 0) return true;
    const { dedupe } = this;
    return dedupe !== undefined && dedupe.current !== undefined && dedupe.next === this;
  }

  /** May not run before this. */
  get dueAtMs(): number {
    return this.notBeforeMs > this.startAtMs ? this.notBeforeMs : this.startAtMs;
  }

  /** Its own, to be changed. */
  ensurePast(): Past {
    if (this.openPast === undefined) this.openPast = new Past();
    else if (this.openPast === FIRST_RUN) {
      this.openPast = new Past();
      this.openPast.started = true;
    }
    return this.openPast;
  }

  /** It has a lease, the first since it was enqueued or restarted. */
  begin(): void {
    if (this.openPast === undefined) this.openPast = FIRST_RUN;
    else this.ensurePast().started = true;
  }

  /** It has ended: nothing of it changes from here on. A restart makes another job of it. */
  settle(): void {
    if (this.openPast !== undefined) this.endedPast = packPast(this.openPast);
    this.openPast = undefined;
  }
}

/** Whose turn it is within a tenant. */
export function runsBefore(a: Job, b: Job): boolean {
  if (a.priority !== b.priority) return a.priority < b.priority;
  if (a.startAtMs !== b.startAtMs) return a.startAtMs < b.startAtMs;
  return a.seq < b.seq;
}

export function fallsDueBefore(a: Job, b: Job): boolean {
  const dueA = a.dueAtMs;
  const dueB = b.dueAtMs;
  return dueA === dueB ? a.seq < b.seq : dueA < dueB;
}
