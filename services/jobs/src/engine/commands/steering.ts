/** What operators and callers do to jobs that exist, and to groups and tenants. */
import { storedBytes, storeJob, type StoredJob } from "../codec/stored-job.ts";
import { DONE, recalledJob, refuse, tellStatus, type Core } from "../core.ts";
import type { Answer, Command, Done, JobName, Refusal } from "../model/command.ts";
import { JOB_LIMITS } from "../model/limits.ts";
import { isFinal } from "../model/views.ts";
import type { Attempt } from "../state/job.ts";
import { WEIGHT_DEFAULT } from "../state/tenant.ts";
import { tendLimits } from "./enqueueing.ts";
import { takeBack } from "./reporting.ts";
import { nameProblem } from "./validate.ts";

const NOT_FOUND = refuse("JOB_NOT_FOUND", "job not found");
const WEIGHT_MAX = 1_000_000;

export function cancel(core: Core, name: JobName): Done | Refusal {
  const job = core.state.find(name.tenant, name.id);
  const status = job?.status ?? recalledJob(core, name)?.status;
  if (status === undefined) return NOT_FOUND;
  if (job === undefined || isFinal(status))
    return refuse("WRONG_STATE", `job ${name.id} cannot be cancelled: it is ${status}`);
  if (job.past?.cancelledAtMs !== undefined)
    return refuse("WRONG_STATE", `job ${name.id} cannot be cancelled: it is already being cancelled`);
  if (job.lease === undefined) core.scheduler.unplace(job);
  const { limits } = job;
  core.changes.cancelled(job);
  if (job.lease !== undefined) {
    const { worker, task } = job.lease;
    core.effects.push({ kind: "stop", worker, task, reason: "cancelled" });
  } else if (limits !== undefined) for (const key of limits) core.scheduler.wake(key);
  return DONE;
}

export function restart(core: Core, name: JobName): Done | Refusal {
  const active = core.state.find(name.tenant, name.id);
  const stored = recalledJob(core, name);
  const status = active?.status ?? stored?.status;
  if (status === undefined) return NOT_FOUND;
  if (status !== "failed" && status !== "cancelled")
    return refuse("WRONG_STATE", `job ${name.id} cannot be restarted: it is ${status}`);
  const whole = active === undefined ? (stored as StoredJob) : storeJob(active);
  const job = core.changes.restarted(withoutOldest(whole));
  core.scheduler.place(job);
  tendLimits(core, job);
  tellStatus(core, job);
  return DONE;
}

/** Without its oldest attempts, as many as do not fit into the record. */
function withoutOldest(job: StoredJob): StoredJob {
  const { past } = job;
  let over = storedBytes(job) - JOB_LIMITS.restartBytesMax;
  if (past === undefined || over <= 0) return job;
  let first = 0;
  for (; over > 0 && first < past.attempts.length; first++)
    over -= (past.attempts[first] as Attempt).outcome.data.length;
  return { ...job, past: { ...past, attempts: past.attempts.slice(first) } };
}

export function expedite(core: Core, name: JobName): Done | Refusal {
  const job = core.state.find(name.tenant, name.id);
  const status = job?.status ?? recalledJob(core, name)?.status;
  if (status === undefined) return NOT_FOUND;
  if (job === undefined || status !== "scheduled" || job.startAtMs <= core.state.wallMs)
    return refuse(
      "WRONG_STATE",
      `job ${name.id} cannot be expedited: it is ${status === "scheduled" ? "due already" : status}`,
    );
  core.scheduler.unplace(job);
  core.changes.expedited(job);
  core.scheduler.place(job);
  return DONE;
}

export function deleteJob(core: Core, name: JobName): Done | Refusal {
  const status = core.state.find(name.tenant, name.id)?.status ?? recalledJob(core, name)?.status;
  if (status === undefined) return NOT_FOUND;
  if (!isFinal(status))
    return refuse("WRONG_STATE", `job ${name.id} cannot be deleted: it is ${status}; cancel it first`);
  core.changes.deleted(name);
  return DONE;
}

export function setGroup(core: Core, { group: name, paused }: Command<"setGroup">): Done | Refusal {
  const problem = nameProblem("a task group", name, JOB_LIMITS.groupCharsMax);
  if (problem !== undefined) return refuse("INVALID", problem);
  core.changes.groupSet(name, paused);
  const group = core.state.group(name);
  if (!paused && group.turns.size > 0) core.scheduler.announced.add(group);
  core.state.tidyGroup(group);
  return DONE;
}

export function setTenant(core: Core, command: Command<"setTenant">): Done | Refusal {
  const problem = nameProblem("a tenant", command.tenant, JOB_LIMITS.tenantCharsMax);
  if (problem !== undefined) return refuse("INVALID", problem);
  const known = core.state.tenants.get(command.tenant);
  const weight = command.weight ?? known?.weight ?? WEIGHT_DEFAULT;
  if (!(weight > 0) || weight > WEIGHT_MAX)
    return refuse("INVALID", `a weight is a number above 0, at most ${WEIGHT_MAX}, not ${weight}`);
  core.changes.tenantSet(command.tenant, command.paused ?? known?.paused ?? false, weight);
  const tenant = core.state.tenants.get(command.tenant);
  if (tenant !== undefined) core.scheduler.tenantChanged(tenant);
  return DONE;
}

export function dropLeases(core: Core, { tenant }: Command<"dropLeases">): Answer<"dropLeases"> {
  const running = core.state.tenants.get(tenant)?.statuses.running;
  let dropped = 0;
  for (let job = running?.oldest; job !== undefined;) {
    const { newer, lease } = job;
    if (lease !== undefined) {
      const { worker, task } = lease;
      core.effects.push({ kind: "stop", worker, task, reason: "lost" });
      takeBack(core, lease);
      dropped += 1;
    }
    job = newer;
  }
  return { dropped };
}
