/** What a caller says of a job. Together this is a job's content: two enqueues with one id are the same job exactly if all of it is equal. */

/** 0 runs first, 99 last. */
export const PRIORITY_DEFAULT = 50;
export const PRIORITY_MAX = 99;

export interface JobSpec {
  /** Unique within its tenant. Made by the client, so that a repeated request names the same job. */
  readonly id: string;
  readonly tenant: string;
  readonly group: string;
  readonly payload: Uint8Array;
  readonly priority?: number | undefined;
  /** Wall clock, ms since 1970; now when not given. */
  readonly startAtMs?: number | undefined;
  readonly retry?: RetryPolicy | undefined;
  readonly limits?: readonly Limit[] | undefined;
  /** Indexed. Keys in any order. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** An attempt that takes longer has failed with `TIMEOUT`. */
  readonly timeoutMs?: number | undefined;
  /** How long the job stays queryable after its end; the engine's default when not given. */
  readonly retentionMs?: number | undefined;
  /** Waits until these jobs of the same tenant have ended, and gets their results. They must exist, or come before it in the same batch. */
  readonly after?: readonly string[] | undefined;
  /** What happens when one of them did not succeed: this job fails with `DEPENDENCY_FAILED` (the default), or runs and sees it. */
  readonly onDependencyFailure?: "fail" | "run" | undefined;
  readonly dedupe?: Dedupe | undefined;
}

/**
 * A job of which a caller says no more than group, priority and payload, with its content encoded already. Most jobs are such, and most of what a queue does is
 * done to them.
 */
export interface PlainJob {
  readonly id: string;
  readonly tenant: string;
  readonly group: string;
  readonly priority: number;
  /** What `encodeBody` makes of group, priority and payload. */
  readonly body: string;
}

export interface RetryPolicy {
  /** Tries after the first. */
  readonly retries: number;
  /** The wait before the first retry; the wait before retry k is `initialMs × factor^(k−1)`, at most `maxMs`. */
  readonly initialMs: number;
  readonly maxMs: number;
  readonly factor: number;
  /** Multiplies each wait by a number from [1, 2), then bounds it again. */
  readonly jitter: boolean;
}

/** Limits of a job hold all at once, or the job waits holding none. Keys are per tenant. */
export type Limit = ConcurrencyLimit | FloatingLimit | RateLimit;

export interface ConcurrencyLimit {
  readonly kind: "concurrency";
  readonly key: string;
  /** The last job enqueued with this key decides for all of them. */
  readonly max: number;
}

export interface FloatingLimit {
  readonly kind: "floating";
  readonly key: string;
  readonly defaultMax: number;
  /** Workers are asked for a new maximum when the last one is this old. */
  readonly refreshMs: number;
  /** Handed to the worker that is asked. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** Fields and flag values are Gubernator's. */
export interface RateLimit {
  readonly kind: "rate";
  readonly name: string;
  readonly uniqueKey: string;
  readonly limit: number;
  readonly durationMs: number;
  readonly hits: number;
  /** 0 token bucket, 1 leaky bucket. */
  readonly algorithm: number;
  readonly behavior: number;
  readonly burst: number;
  /** How to wait after a refusal that names no time. */
  readonly backoff: { readonly initialMs: number; readonly maxMs: number; readonly factor: number };
}

/**
 * Triggers with one key become few jobs, and the content of the last trigger always runs, after that trigger.
 * `unique`: joins a job of the key that has not started. `debounce`: the same, replaces its content, and puts its start off to `waitMs` from now, at
 * most `maxWaitMs` after the first trigger. `throttle`: runs at once, then at most once in `windowMs`, with the last content.
 * While a job of the key runs, the first trigger makes a successor that waits for its end; later ones join that.
 */
export type Dedupe =
  | { readonly key: string; readonly mode: "unique" }
  | { readonly key: string; readonly mode: "debounce"; readonly waitMs: number; readonly maxWaitMs: number }
  | { readonly key: string; readonly mode: "throttle"; readonly windowMs: number };

/** A job that comes with a past. With a final `status` it is finished already. */
export interface ImportedJob extends JobSpec {
  readonly enqueuedAtMs: number;
  readonly attempts: readonly ImportedAttempt[];
}

export interface ImportedAttempt {
  readonly outcome: AttemptOutcome;
  readonly startedAtMs: number;
  readonly finishedAtMs: number;
}

/** What a worker says of an attempt. */
export type AttemptOutcome =
  | { readonly kind: "succeeded"; readonly result: Uint8Array }
  | { readonly kind: "failed"; readonly code: string; readonly data: Uint8Array }
  | { readonly kind: "cancelled" };

export interface ScheduleSpec {
  readonly id: string;
  readonly tenant: string;
  readonly cron: string;
  readonly timeZone: string;
  /** What to do about runs that fell into a time when nobody served: none, the last one, or each. */
  readonly missed: "skip" | "once" | "all";
  /** Content of the jobs; each gets the id `<schedule id>@<ms of the run>`. */
  readonly job: Omit<JobSpec, "id" | "tenant" | "startAtMs" | "after">;
}
