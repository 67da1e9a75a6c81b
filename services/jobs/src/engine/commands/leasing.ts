/** Gives tasks to workers. */
import { decodeBody, isPlainBody, type Body } from "../codec/body.ts";
import { fromBinary } from "../codec/byte-reader.ts";
import { refuse, tellStatus, type Core } from "../core.ts";
import type { Command, Leased, Refusal, Taken } from "../model/command.ts";
import type { AttemptOutcome, JobSpec } from "../model/job-spec.ts";
import { JOB_LIMITS } from "../model/limits.ts";
import type { InputView, LeasedTask, RefreshTask, TakenTask } from "../model/views.ts";
import { tryGate } from "../scheduler/gate.ts";
import type { Job, Outcome } from "../state/job.ts";
import type { Lease } from "../state/lease.ts";
import type { LimitKey } from "../state/limit-key.ts";
import { isWholeIn } from "./validate.ts";

/** Waiters that were woken in vain cost a try each; a lease that has tried so many in a row gives up until it is asked again. */
const TRIES_MAX = 20_000;

export function lease(core: Core, command: Command<"lease">): Leased | Refusal {
  return leaseAll(core, command, taskOf);
}

export function take(core: Core, command: Command<"take">): Taken | Refusal {
  const leased = leaseAll(core, command, takenOf);
  return "refused" in leased ? leased : { taken: leased.tasks, refreshes: leased.refreshes };
}

/** `Body` is there when it had to be decoded anyway. */
type Shown<T> = (lease: Lease, content: Body | undefined) => T;

function leaseAll<T>(
  core: Core,
  command: Command<"lease" | "take">,
  show: Shown<T>,
): { readonly tasks: readonly T[]; readonly refreshes: readonly RefreshTask[] } | Refusal {
  const problem = problemOf(command);
  if (problem !== undefined) return refuse("INVALID", problem);
  const { worker, max } = command;
  const leaseMs = command.leaseMs ?? core.terms.leaseMs;
  const group = core.state.groups.get(command.group);
  const tasks: T[] = [];
  const refreshes =
    core.scheduler.refreshes.length > 0 ? takeRefreshes(core, command, leaseMs) : NO_REFRESHES;
  if (group === undefined) return { tasks, refreshes };
  // What is passed on encoded is cut into blocks by whoever does; an answer has to fit into one.
  let bytesLeft = command.kind === "lease" ? JOB_LIMITS.leaseBytesMax : Infinity;
  for (let tries = 0; tasks.length < max && bytesLeft > 0 && tries < TRIES_MAX; tries++) {
    const job = core.scheduler.next(group);
    if (job === undefined) break;
    const task = tryLease(core, job, worker, leaseMs, show);
    if (task === undefined) continue;
    tasks.push(task);
    bytesLeft -= job.body.length + (job.flow?.inputBytes ?? 0);
  }
  if (tasks.length < max && bytesLeft > 0) core.scheduler.announced.delete(group);
  return { tasks, refreshes };
}

const NO_REFRESHES: readonly RefreshTask[] = [];

export function leaseJob(core: Core, command: Command<"leaseJob">): LeasedTask | Refusal {
  const problem = problemOf({ ...command, max: 1, group: "-" });
  if (problem !== undefined) return refuse("INVALID", problem);
  const job = core.state.find(command.tenant, command.id);
  if (job === undefined) return refuse("JOB_NOT_FOUND", "job not found");
  if (job.status !== "scheduled" || job.waitsForOthers)
    return refuse("WRONG_STATE", `job ${job.id} cannot be leased: it is ${job.status}`);
  core.scheduler.unplace(job);
  const task = tryLease(core, job, command.worker, command.leaseMs ?? core.terms.leaseMs, taskOf);
  return task ?? refuse("WRONG_STATE", `job ${job.id} cannot be leased: a limit is exhausted`);
}

/** The job is in no queue; afterwards it has a lease, or is in one again. */
function tryLease<T>(core: Core, job: Job, worker: string, leaseMs: number, show: Shown<T>): T | undefined {
  const passage = tryGate(core, job);
  switch (passage.kind) {
    case "shut":
      core.scheduler.wait(job, passage.by);
      return undefined;
    case "ask": {
      const check = ++core.checkNumber;
      core.scheduler.beginCheck(job, check);
      core.effects.push({ kind: "checkRate", check, tenant: job.tenant.name, limits: passage.limits });
      return undefined;
    }
    case "open": {
      const content = isPlainBody(job.body) ? undefined : decodeBody(job.body);
      const granted = core.changes.leased(job, worker, leaseMs);
      granted.isLastAttempt = granted.relativeAttempt > (content?.retry?.retries ?? 0);
      core.scheduler.leased(granted, content?.timeoutMs, core.now);
      tellStatus(core, job);
      return show(granted, content);
    }
  }
}

function takenOf(lease: Lease): TakenTask {
  return lease;
}

function taskOf(lease: Lease, content = decodeBody(lease.body)): LeasedTask {
  const { task, tenant, id, attempt, relativeAttempt, isLastAttempt, leaseMs } = lease;
  return {
    task,
    spec: specOf(tenant, id, content),
    attempt,
    relativeAttempt,
    isLastAttempt,
    leaseMs,
    inputs: lease.inputs.map(inputView),
  };
}

function inputView({ id, outcome, omitted }: { id: string; outcome: Outcome; omitted: boolean }): InputView {
  return { id, outcome: outcomeView(outcome), omitted };
}

export function specOf(tenant: string, id: string, content: Body): JobSpec {
  return { ...content, tenant, id };
}

export function outcomeView({ kind, code, data }: Outcome): AttemptOutcome {
  if (kind === "succeeded") return { kind, result: fromBinary(data) };
  return kind === "failed" ? { kind, code, data: fromBinary(data) } : { kind };
}

/** Floating limits of this group that are stale, and those whose group has no jobs left to ask for workers with. */
function takeRefreshes(
  core: Core,
  command: Command<"lease" | "take">,
  leaseMs: number,
): readonly RefreshTask[] {
  const { state, scheduler } = core;
  const taken: RefreshTask[] = [];
  for (const refresh of scheduler.refreshes) {
    const { key } = refresh;
    const { floating } = key;
    if (floating === undefined || refresh.task !== 0 || key.uses === 0) continue;
    if (floating.group.name !== command.group && floating.group.jobs > 0) continue;
    refresh.task = ++core.refreshNumber;
    refresh.worker = command.worker;
    scheduler.remind(key, state.wallMs + leaseMs);
    taken.push({
      task: refresh.task,
      tenant: key.tenant.name,
      group: command.group,
      key: key.key,
      currentMax: key.max,
      lastRefreshedAtMs: floating.refreshedAtMs,
      metadata: floating.metadata,
      leaseMs,
    });
    if (taken.length >= command.max) break;
  }
  return taken;
}

export function reportRefresh(
  core: Core,
  { task, outcome }: Command<"reportRefresh">,
): Refusal | { done: true } {
  const { scheduler, state } = core;
  const at = scheduler.refreshes.findIndex((each) => each.task === task && task !== 0);
  const refresh = scheduler.refreshes[at];
  if (refresh === undefined) return refuse("LEASE_NOT_FOUND", "lease not found");
  const problem = "max" in outcome && !isWholeIn(outcome.max, 0, Number.MAX_SAFE_INTEGER);
  if (problem) return refuse("INVALID", "the new maximum must be a whole number, 0 or more");
  const { key } = refresh;
  scheduler.refreshes.splice(at, 1);
  const floating = key.floating as NonNullable<LimitKey["floating"]>;
  floating.refresh = undefined;
  if ("max" in outcome) {
    floating.failures = 0;
    core.changes.floatingSet(key, outcome.max);
    scheduler.wake(key);
    scheduler.remind(key, state.wallMs + floating.refreshMs);
  } else {
    floating.failures += 1;
    const waitMs = Math.min(floating.refreshMs, 1000 * 2 ** Math.min(floating.failures, 10));
    scheduler.remind(key, state.wallMs + waitMs);
  }
  return { done: true };
}

function problemOf(command: {
  readonly worker: string;
  readonly max: number;
  readonly group: string;
  readonly leaseMs?: number | undefined;
}): string | undefined {
  if (command.worker === "" || command.worker.length > JOB_LIMITS.workerCharsMax)
    return `a worker's id has 1 to ${JOB_LIMITS.workerCharsMax} characters`;
  if (!isWholeIn(command.max, 1, JOB_LIMITS.leaseTasksMax))
    return `one request leases 1 to ${JOB_LIMITS.leaseTasksMax} tasks`;
  if (command.leaseMs !== undefined && !isWholeIn(command.leaseMs, 1, JOB_LIMITS.leaseMsMax))
    return `a lease lasts 1 to ${JOB_LIMITS.leaseMsMax} ms`;
  if (command.group === "" || command.group.length > JOB_LIMITS.groupCharsMax)
    return `a task group has 1 to ${JOB_LIMITS.groupCharsMax} characters`;
  return undefined;
}
