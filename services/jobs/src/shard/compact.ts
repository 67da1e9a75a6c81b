/**
 * Tasks and reports as they travel between a shard and a worker: lists instead of objects, without what is empty. Every job passes here twice, and names of
 * fields were a third of what was sent. Positions are fixed; new ones come at the end.
 */
import type { AttemptOutcome, InputView, LeasedTask, TaskReport } from "../engine/index.ts";

/** task, tenant, id, attempt, relative attempt, is the last attempt, lease ms, payload, priority, metadata?, inputs? */
export type TaskTuple = readonly [
  task: number,
  tenant: string,
  id: string,
  attempt: number,
  relativeAttempt: number,
  isLastAttempt: boolean,
  leaseMs: number,
  payload: Uint8Array,
  metadata?: Readonly<Record<string, string>> | null,
  inputs?: readonly InputView[] | null,
];

export function taskTuple({
  task,
  spec,
  attempt,
  relativeAttempt,
  isLastAttempt,
  leaseMs,
  inputs,
}: LeasedTask): TaskTuple {
  const { tenant, id, payload, metadata } = spec;
  const common = [task, tenant, id, attempt, relativeAttempt, isLastAttempt, leaseMs, payload] as const;
  const hasMetadata = metadata !== undefined && Object.keys(metadata).length > 0;
  if (inputs.length > 0) return [...common, hasMetadata ? metadata : null, inputs];
  return hasMetadata ? [...common, metadata] : common;
}

/** What a worker needs of a task. */
export interface GivenTask {
  readonly task: number;
  readonly tenant: string;
  readonly id: string;
  readonly group: string;
  readonly attempt: number;
  readonly relativeAttempt: number;
  readonly isLastAttempt: boolean;
  readonly leaseMs: number;
  readonly payload: Uint8Array;
  readonly metadata: Readonly<Record<string, string>>;
  readonly inputs: readonly InputView[];
}

const NO_METADATA: Readonly<Record<string, string>> = Object.freeze({});
const NO_INPUTS: readonly InputView[] = Object.freeze([]);

export function givenTask(tuple: TaskTuple, group: string): GivenTask {
  const [task, tenant, id, attempt, relativeAttempt, isLastAttempt, leaseMs, payload, metadata, inputs] =
    tuple;
  return {
    task,
    tenant,
    id,
    group,
    attempt,
    relativeAttempt,
    isLastAttempt,
    leaseMs,
    payload,
    metadata: metadata ?? NO_METADATA,
    inputs: inputs ?? NO_INPUTS,
  };
}

/** A task's number and its outcome: `[task, result]`, `[task, data, code]` for a failure, `[task]` for a cancelled one. */
export type ReportTuple =
  | readonly [task: number]
  | readonly [task: number, result: Uint8Array]
  | readonly [task: number, data: Uint8Array, code: string];

export function reportTuple(task: number, outcome: AttemptOutcome): ReportTuple {
  if (outcome.kind === "succeeded") return [task, outcome.result];
  return outcome.kind === "failed" ? [task, outcome.data, outcome.code] : [task];
}

export function taskReport(tuple: ReportTuple, worker: string): TaskReport {
  const [task, bytes, code] = tuple;
  if (bytes === undefined) return { task, worker, outcome: { kind: "cancelled" } };
  if (code === undefined) return { task, worker, outcome: { kind: "succeeded", result: bytes } };
  return { task, worker, outcome: { kind: "failed", code, data: bytes } };
}

export function isReportTuple(value: unknown): value is ReportTuple {
  return (
    Array.isArray(value) &&
    typeof value[0] === "number" &&
    (value[1] === undefined || value[1] instanceof Uint8Array) &&
    (value[2] === undefined || typeof value[2] === "string")
  );
}
