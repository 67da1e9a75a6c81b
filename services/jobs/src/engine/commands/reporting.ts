/** Ends of attempts: reported by workers, lost with their lease, or out of time. */
import { toBinary } from "../codec/byte-reader.ts";
import { decodeBody, isPlainBody } from "../codec/body.ts";
import { DONE, refuse, tellStatus, type Core } from "../core.ts";
import type { Answer, Beat, Command, Refusal, StoredReport } from "../model/command.ts";
import type { AttemptOutcome, RetryPolicy } from "../model/job-spec.ts";
import { JOB_LIMITS } from "../model/limits.ts";
import type { Job, Outcome } from "../state/job.ts";
import type { Lease } from "../state/lease.ts";

const LEASE_NOT_FOUND = refuse("LEASE_NOT_FOUND", "lease not found");
const OWNER_MISMATCH = refuse("LEASE_OWNER_MISMATCH", "lease owner mismatch");
const CANCELLED: Outcome = { kind: "cancelled", code: "", data: "" };

export function report(core: Core, { reports }: Command<"report">): Answer<"report"> {
  return reports.map(({ task, worker, outcome }) => {
    const lease = held(core, task);
    if (lease === undefined) return LEASE_NOT_FOUND;
    if (worker !== undefined && worker !== lease.worker) return OWNER_MISMATCH;
    const problem = outcomeProblem(outcome);
    if (problem !== undefined) return refuse("INVALID", problem);
    finish(core, lease, stored(outcome));
    return { ...DONE, status: lease.job.status };
  });
}

export function ack(core: Core, { worker, reports }: Command<"ack">): Answer<"ack"> {
  const refused: [number, Refusal][] = [];
  for (let index = 0; index < reports.length; index++) {
    const { task, outcome } = reports[index] as StoredReport;
    const lease = held(core, task);
    if (lease === undefined) refused.push([index, LEASE_NOT_FOUND]);
    else if (worker !== lease.worker) refused.push([index, OWNER_MISMATCH]);
    else {
      const problem = lengthProblem(outcome.kind, outcome.code.length, outcome.data.length);
      if (problem === undefined) finish(core, lease, outcome);
      else refused.push([index, refuse("INVALID", problem)]);
    }
  }
  return refused;
}

export function heartbeat(core: Core, { worker, tasks }: Command<"heartbeat">): readonly Beat[] {
  return tasks.map((task) => {
    const lease = held(core, task);
    if (lease === undefined || lease.worker !== worker) return { task, state: "lost" };
    core.scheduler.renewed(lease, core.now);
    const cancelledAtMs = lease.job.past?.cancelledAtMs;
    return cancelledAtMs === undefined ? { task, state: "held" } : { task, state: "cancel", cancelledAtMs };
  });
}

export function giveBack(core: Core, { worker, tasks }: Command<"giveBack">): Answer<"giveBack"> {
  return tasks.map((task) => {
    const lease = held(core, task);
    if (lease === undefined) return LEASE_NOT_FOUND;
    if (lease.worker !== worker) return OWNER_MISMATCH;
    takeBack(core, lease);
    return DONE;
  });
}

/** Puts the task back for another worker, without counting anything. A cancelled job ends instead. */
export function takeBack(core: Core, lease: Lease): void {
  if (lease.job.past?.cancelledAtMs !== undefined) return end(core, lease, CANCELLED, undefined);
  const { job } = lease;
  core.changes.givenBack(lease);
  core.scheduler.unleased(lease, job.limits);
  core.scheduler.place(job);
  tellStatus(core, job);
}

/** The lease has run out. */
export function lose(core: Core, lease: Lease): void {
  const { job } = lease;
  stop(core, lease, "lost");
  if (job.past?.cancelledAtMs !== undefined) return end(core, lease, CANCELLED, undefined);
  if ((job.past?.lostLeases ?? 0) + 1 >= core.terms.lostLeasesMax)
    return finish(core, lease, { kind: "failed", code: "WORKER_CRASHED", data: "" });
  core.changes.lost(lease);
  core.scheduler.unleased(lease, job.limits);
  core.scheduler.place(job);
  tellStatus(core, job);
}

/** The attempt has taken too long. */
export function timeOut(core: Core, lease: Lease): void {
  stop(core, lease, "timeout");
  finish(core, lease, { kind: "failed", code: "TIMEOUT", data: "" });
}

function finish(core: Core, lease: Lease, outcome: Outcome): void {
  if (outcome.kind !== "failed") return end(core, lease, outcome, undefined);
  if (lease.job.past?.cancelledAtMs !== undefined) return end(core, lease, CANCELLED, undefined);
  const { body } = lease.job;
  const retry = isPlainBody(body) ? undefined : decodeBody(body).retry;
  const retriesUsed = lease.job.relativeAttempt - 1;
  const retries = retry !== undefined && retriesUsed < retry.retries;
  end(core, lease, outcome, retries ? core.state.wallMs + waitMs(core, retry, retriesUsed) : undefined);
}

function end(core: Core, lease: Lease, outcome: Outcome, retryAtMs: number | undefined): void {
  const { job } = lease;
  const { limits } = job;
  if (retryAtMs === undefined && keepsNothing(core, job)) core.changes.endedForgotten(lease, outcome);
  else core.changes.attemptEnded(lease, outcome, retryAtMs);
  core.scheduler.unleased(lease, limits);
  if (retryAtMs === undefined) return;
  core.scheduler.place(job);
  tellStatus(core, job);
}

/** Of such a job nobody could look up anything, not for a moment. */
function keepsNothing({ terms }: Core, { body }: Job): boolean {
  const own = isPlainBody(body) ? undefined : decodeBody(body).retentionMs;
  return (own ?? terms.retentionMs) === 0;
}

function waitMs(core: Core, retry: RetryPolicy, used: number): number {
  const grown = retry.initialMs * retry.factor ** Math.min(used, 1000);
  const spread = retry.jitter ? grown * (1 + core.ports.random()) : grown;
  return Math.floor(Math.min(spread, retry.maxMs));
}

/** The lease of a task, unless its time is up; then it is lost now and not when its turn comes. */
function held(core: Core, task: number): Lease | undefined {
  const lease = core.state.leases.get(task);
  if (lease === undefined || lease.deadlineMs > core.now.monoMs) return lease;
  lose(core, lease);
  return undefined;
}

function stop(core: Core, { worker, task }: Lease, reason: "timeout" | "lost"): void {
  core.effects.push({ kind: "stop", worker, task, reason });
}

export function stored(outcome: AttemptOutcome): Outcome {
  switch (outcome.kind) {
    case "succeeded":
      return { kind: "succeeded", code: "", data: toBinary(outcome.result) };
    case "failed":
      return { kind: "failed", code: outcome.code, data: toBinary(outcome.data) };
    case "cancelled":
      return CANCELLED;
  }
}

export function outcomeProblem(outcome: AttemptOutcome): string | undefined {
  switch (outcome.kind) {
    case "succeeded":
      return lengthProblem("succeeded", 0, outcome.result.length);
    case "failed":
      return lengthProblem("failed", outcome.code.length, outcome.data.length);
    case "cancelled":
      return undefined;
  }
}

function lengthProblem(kind: Outcome["kind"], codeChars: number, bytes: number): string | undefined {
  if (bytes > JOB_LIMITS.resultBytesMax)
    return kind === "succeeded"
      ? `a result has at most ${JOB_LIMITS.resultBytesMax} bytes`
      : `an error's data has at most ${JOB_LIMITS.resultBytesMax} bytes`;
  return codeChars > JOB_LIMITS.errorCodeCharsMax
    ? `an error code has at most ${JOB_LIMITS.errorCodeCharsMax} characters`
    : undefined;
}
