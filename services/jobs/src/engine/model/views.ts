/** What the engine shows of its state. Views are copies: they do not change, and changing them changes nothing. */
import type { Input } from "../state/job.ts";
import type { AttemptOutcome, JobSpec, Limit, ScheduleSpec } from "./job-spec.ts";

export type JobStatus = "scheduled" | "running" | "succeeded" | "failed" | "cancelled";

export function isFinal(status: JobStatus): boolean {
  return status !== "scheduled" && status !== "running";
}

export interface JobView {
  /** Content as the caller gave it; after debouncing, as the last trigger gave it. */
  readonly spec: JobSpec;
  readonly status: JobStatus;
  /** When the status last changed. */
  readonly statusAtMs: number;
  readonly enqueuedAtMs: number;
  /** Not before this; moves with retries, expediting and debouncing. */
  readonly startAtMs: number;
  /** What a scheduled job waits for. */
  readonly waitsFor: "start" | "dependencies" | "limit" | "rate" | "pause" | "worker" | undefined;
  readonly attempts: readonly AttemptView[];
  readonly cancelledAtMs: number | undefined;
  readonly lostLeases: number;
  readonly expiresAtMs: number | undefined;
}

export interface AttemptView {
  /** From 1, over the job's whole life. */
  readonly number: number;
  /** From 1, since the last restart. */
  readonly relativeNumber: number;
  readonly startedAtMs: number;
  readonly finishedAtMs: number | undefined;
  readonly worker: string;
  /** Undefined while it runs. */
  readonly outcome: AttemptOutcome | undefined;
}

/** What a job that waited for others is given of them. */
export interface InputView {
  readonly id: string;
  readonly outcome: AttemptOutcome;
  /** The bytes were too many to pass on. */
  readonly omitted: boolean;
}

export interface LeasedTask {
  /** Names this lease of this attempt; never used again. */
  readonly task: number;
  readonly spec: JobSpec;
  readonly attempt: number;
  readonly relativeAttempt: number;
  readonly isLastAttempt: boolean;
  readonly leaseMs: number;
  readonly inputs: readonly InputView[];
}

/** A leased task with its content as memory keeps it. */
export interface TakenTask {
  readonly task: number;
  readonly tenant: string;
  readonly id: string;
  readonly body: string;
  readonly attempt: number;
  readonly relativeAttempt: number;
  readonly isLastAttempt: boolean;
  readonly leaseMs: number;
  readonly inputs: readonly Input[];
}

export interface RefreshTask {
  readonly task: number;
  readonly tenant: string;
  readonly group: string;
  readonly key: string;
  readonly currentMax: number;
  readonly lastRefreshedAtMs: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly leaseMs: number;
}

export interface LeaseView {
  readonly task: number;
  readonly tenant: string;
  readonly id: string;
  readonly worker: string;
  readonly attempt: number;
  readonly startedAtMs: number;
  /** On the engine's monotonic clock. */
  readonly deadlineMs: number;
}

export interface LimitView {
  readonly tenant: string;
  readonly kind: Limit["kind"];
  readonly key: string;
  readonly max: number;
  readonly held: number;
  readonly waiting: number;
}

export interface GroupView {
  readonly group: string;
  readonly paused: boolean;
  readonly ready: number;
  readonly running: number;
  readonly tenants: readonly {
    readonly tenant: string;
    readonly ready: number;
    readonly running: number;
    readonly weight: number;
  }[];
}

/** `jobs` counts those in memory: the ones that have not ended, and the last that have. */
export interface TenantView {
  readonly tenant: string;
  readonly weight: number;
  readonly paused: boolean;
  readonly schedules: number;
  readonly jobs: Readonly<Record<JobStatus, number>>;
}

export interface ScheduleView extends ScheduleSpec {
  /** Undefined: never again. */
  readonly nextAtMs: number | undefined;
}

export interface EngineStats {
  readonly jobs: Readonly<Record<JobStatus, number>>;
  readonly tenants: number;
  readonly leases: number;
  /** Ended, and still in memory. */
  readonly finishedInMemory: number;
  readonly schedules: number;
}
