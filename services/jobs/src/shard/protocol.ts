/**
 * What clients and workers say to a shard, and what it answers: bodies of the fleet's requests, as plain data. Methods of `handle` change or ask, those of
 * `stream` push. The engine's own commands go through `execute` unchanged; this file is what comes on top of them.
 */
import type { AttemptOutcome, JobName, JobStatus, RefreshTask } from "../engine/index.ts";

/** `stream work`: tasks for a worker as long as it has given credit. Credit comes with `ack`. */
export interface WorkOpen {
  /** Drawn by the worker; names this stream in its acks. */
  readonly session: string;
  readonly worker: string;
  readonly group: string;
  /** Tasks that may be sent before the first ack. */
  readonly credit: number;
  readonly leaseMs?: number | undefined;
}

/** One item of `stream work`: whatever has come up. */
export interface WorkItem {
  /** Packed; `packed/tasks.ts` takes them apart. */
  readonly tasks?: Uint8Array;
  readonly refreshes?: readonly RefreshTask[];
  readonly stops?: readonly { readonly task: number; readonly reason: "cancelled" | "timeout" | "lost" }[];
}

/** `ack`: results of tasks and new credit in one call. Answers with the refusals among the reports, by their place; most often there is none. */
export interface Ack {
  readonly session: string;
  readonly worker: string;
  /** Packed, as `packed/reports.ts` does; empty when there are none. */
  readonly reports: Uint8Array;
  readonly credit: number;
}

export type AckAnswer = readonly (readonly [index: number, refused: string, message: string])[];

/** `beat`: renews leases and tells progress, which is shown and not kept. */
export interface BeatAsk {
  readonly worker: string;
  readonly tasks: readonly number[];
  readonly progress?: readonly TaskProgress[] | undefined;
}

export interface TaskProgress extends JobName {
  readonly group: string;
  readonly progress: unknown;
}

/** `stream results`: each job's end, as it comes; ends after the last. */
export interface ResultsOpen {
  readonly jobs: readonly JobName[];
}

export interface ResultItem extends JobName {
  readonly status: JobStatus;
  /** Undefined with `gone`: there is no such job (any more). */
  readonly outcome: AttemptOutcome | undefined;
  readonly gone?: true;
}

/** `stream events`: what happens to jobs from now on. */
export interface EventsOpen {
  readonly tenant?: string | undefined;
  readonly group?: string | undefined;
}

export type JobEvent =
  | ({
      readonly kind: "status";
      readonly group: string;
      readonly status: JobStatus;
      readonly atMs: number;
    } & JobName)
  | ({ readonly kind: "progress"; readonly progress: unknown; readonly atMs: number } & JobName)
  /** The reader was too slow: so many events were left out. */
  | { readonly kind: "missed"; readonly count: number };

export const PROTOCOL_LIMITS = {
  creditMax: 10_000,
  resultsPerStreamMax: 10_000,
  eventsBufferedMax: 10_000,
  sessionsMax: 10_000,
  awaitedMax: 1_000_000,
} as const;
