/** What can be asked of the engine, and what it answers. A command never throws for what its caller got wrong: it is answered with a refusal, and changes nothing. */
import type { Outcome } from "../state/job.ts";
import type { AttemptOutcome, ImportedJob, JobSpec, PlainJob, ScheduleSpec } from "./job-spec.ts";
import type { JobStatus, LeasedTask, RefreshTask, TakenTask } from "./views.ts";

export type RefusalCode =
  /** Something in the request is malformed, or above a limit. */
  | "INVALID"
  /** The id exists with other content. */
  | "CONFLICT"
  | "JOB_NOT_FOUND"
  | "SCHEDULE_NOT_FOUND"
  /** The task is not leased (any more): it was completed, lost, timed out or deleted. */
  | "LEASE_NOT_FOUND"
  /** Another worker has the lease. */
  | "LEASE_OWNER_MISMATCH"
  /** The job's state does not allow it. */
  | "WRONG_STATE"
  /** A job that others wait for, or that waits, is not there. */
  | "DEPENDENCY_NOT_FOUND";

export interface Refusal {
  readonly refused: RefusalCode;
  readonly message: string;
}

export interface Done {
  readonly done: true;
}

export interface Enqueued {
  /** The job's id: another one than asked for when the trigger joined a job of its dedupe key. */
  readonly id: string;
  /** `created`; `same` for a repeated request; `joined` for a trigger that became part of another job. */
  readonly outcome: "created" | "same" | "joined";
}

export interface Leased {
  readonly tasks: readonly LeasedTask[];
  readonly refreshes: readonly RefreshTask[];
}

export interface Taken {
  readonly taken: readonly TakenTask[];
  readonly refreshes: readonly RefreshTask[];
}

export interface Beat {
  readonly task: number;
  /** `lost`: stop, the result will be refused. */
  readonly state: "held" | "cancel" | "lost";
  readonly cancelledAtMs?: number;
}

export interface JobName {
  readonly tenant: string;
  readonly id: string;
}

export interface TaskReport {
  readonly task: number;
  /** Given: must be the lease's worker. */
  readonly worker?: string | undefined;
  readonly outcome: AttemptOutcome;
}

/** A report with its bytes as memory keeps them. */
export interface StoredReport {
  readonly task: number;
  readonly outcome: Outcome;
}

/** Each kind of command with its answer. Commands that take several things answer in their order, and do each or refuse it by itself. */
export interface Exchanges {
  enqueue: { ask: { jobs: readonly JobSpec[] }; answer: readonly (Enqueued | Refusal)[] };
  /** The same for jobs most of which come encoded. Answers only where a job was not simply created, each with its place. */
  add: {
    ask: { jobs: readonly (JobSpec | PlainJob)[] };
    answer: readonly (readonly [index: number, answer: Enqueued | Refusal])[];
  };
  import: {
    ask: { jobs: readonly ImportedJob[] };
    answer: readonly ((Enqueued & { status: JobStatus }) | Refusal)[];
  };
  /** The best `max` tasks of a group that may run now. */
  lease: {
    ask: { group: string; worker: string; max: number; leaseMs?: number | undefined };
    answer: Leased | Refusal;
  };
  /** The same for whoever passes tasks on: their content stays encoded. */
  take: {
    ask: { group: string; worker: string; max: number; leaseMs?: number | undefined };
    answer: Taken | Refusal;
  };
  /** One named job, out of turn; its limits still hold. */
  leaseJob: { ask: JobName & { worker: string; leaseMs?: number | undefined }; answer: LeasedTask | Refusal };
  report: {
    ask: { reports: readonly TaskReport[] };
    answer: readonly ((Done & { status: JobStatus }) | Refusal)[];
  };
  /** The same for reports that come encoded; all of one worker. Answers with refusals only, each with the place of its report. */
  ack: {
    ask: { worker: string; reports: readonly StoredReport[] };
    answer: readonly (readonly [index: number, refusal: Refusal])[];
  };
  /** Renews leases. Not a record: who opens the shard next gives every lease a full time again. */
  heartbeat: { ask: { worker: string; tasks: readonly number[] }; answer: readonly Beat[] };
  /** A worker that stops gives back what it has not begun: no attempt and no lost lease is counted. */
  giveBack: { ask: { worker: string; tasks: readonly number[] }; answer: readonly (Done | Refusal)[] };
  reportRefresh: {
    ask: { task: number; outcome: { max: number } | { failed: string } };
    answer: Done | Refusal;
  };
  /** The answer of an outside limiter to a `checkRate` effect. */
  rateChecked: {
    ask: {
      check: number;
      allowed: boolean;
      /** Which of the limits that were asked about refused, so that only jobs that name it wait. */
      refusedBy?: number | undefined;
      retryAtMs?: number | undefined;
    };
    answer: Done;
  };
  cancel: { ask: JobName; answer: Done | Refusal };
  restart: { ask: JobName; answer: Done | Refusal };
  expedite: { ask: JobName; answer: Done | Refusal };
  delete: { ask: JobName; answer: Done | Refusal };
  setGroup: { ask: { group: string; paused: boolean }; answer: Done | Refusal };
  setTenant: {
    ask: { tenant: string; paused?: boolean | undefined; weight?: number | undefined };
    answer: Done | Refusal;
  };
  /** Takes every lease of a tenant from its worker, as if lost, without counting it. */
  dropLeases: { ask: { tenant: string }; answer: { dropped: number } };
  putSchedule: { ask: { schedule: ScheduleSpec }; answer: { nextAtMs: number | undefined } | Refusal };
  deleteSchedule: { ask: JobName; answer: Done | Refusal };
  /** Nothing but time passing. */
  tick: { ask: object; answer: Done };
}

export type CommandKind = keyof Exchanges;
export type Command<K extends CommandKind = CommandKind> = {
  [Each in K]: { readonly kind: Each } & Readonly<Exchanges[Each]["ask"]>;
}[K];
export type Answer<K extends CommandKind> = Exchanges[K]["answer"];

export function isRefusal(answer: unknown): answer is Refusal {
  return typeof answer === "object" && answer !== null && "refused" in answer;
}
