/** Schedules: setting them, and making the jobs whose time has come. A run's job and the schedule's next time are in one record, so no run is doubled or skipped. */
import { decodeBody, encodeBody } from "../codec/body.ts";
import { DONE, refuse, type Core } from "../core.ts";
import type { Answer, Command, Done, JobName, Refusal } from "../model/command.ts";
import { JOB_LIMITS } from "../model/limits.ts";
import type { Schedule } from "../state/schedule.ts";
import { enqueueBody } from "./enqueueing.ts";
import { contentProblem, nameProblem } from "./validate.ts";

/** A run that is later than this was missed: nobody served, or the clock was set. */
const MISSED_AFTER_MS = 60_000;

export function putSchedule(core: Core, { schedule: spec }: Command<"putSchedule">): Answer<"putSchedule"> {
  const { id, cron, timeZone, tenant } = spec;
  const problem =
    nameProblem("a tenant", tenant, JOB_LIMITS.tenantCharsMax) ??
    nameProblem("a schedule's id", id, JOB_LIMITS.scheduleIdCharsMax) ??
    core.ports.cron.problem(cron, timeZone) ??
    contentProblem(spec.job);
  if (problem !== undefined) return refuse("INVALID", problem);
  const body = encodeBody(spec.job);
  const old = core.state.tenants.get(tenant)?.schedules?.get(id);
  if (old !== undefined) {
    const same =
      old.cron === cron && old.timeZone === timeZone && old.missed === spec.missed && old.body === body;
    if (same) return { nextAtMs: old.nextAtMs };
    if (old.slot >= 0) core.scheduler.schedules.remove(old);
  }
  const nextAtMs = core.ports.cron.next(cron, timeZone, core.state.wallMs);
  const made = core.changes.schedulePut(tenant, spec, body, nextAtMs);
  if (nextAtMs !== undefined) core.scheduler.schedules.push(made);
  return { nextAtMs };
}

export function deleteSchedule(core: Core, { tenant, id }: JobName): Done | Refusal {
  const schedule = core.state.tenants.get(tenant)?.schedules?.get(id);
  if (schedule === undefined) return refuse("SCHEDULE_NOT_FOUND", `schedule ${id} does not exist`);
  if (schedule.slot >= 0) core.scheduler.schedules.remove(schedule);
  core.changes.scheduleDeleted(schedule);
  return DONE;
}

/** The schedule's time has come, and it is out of the timers. Gives the bytes of the jobs that it made; above `bytesMax` it stops, and is still due. */
export function fire(core: Core, schedule: Schedule, bytesMax: number): number {
  const { wallMs } = core.state;
  const { cron } = core.ports;
  const { cron: expression, timeZone, missed } = schedule;
  const after = (ms: number): number | undefined => cron.next(expression, timeZone, ms);
  let at = schedule.nextAtMs;
  let bytes = 0;
  let last: number | undefined;
  for (; at !== undefined && at <= wallMs && bytes < bytesMax; at = after(at)) {
    const onTime = at > wallMs - MISSED_AFTER_MS;
    if (onTime || missed === "all") {
      run(core, schedule, at);
      bytes += schedule.body.length;
    } else if (missed === "once") last = at;
    if (++schedule.behind >= JOB_LIMITS.missedRunsMax) {
      // Too far behind to go through them one by one.
      at = after(Math.max(at, wallMs - 1));
      break;
    }
  }
  if (last !== undefined) run(core, schedule, last);
  if (at === undefined || at > wallMs) schedule.behind = 0;
  core.changes.scheduleMoved(schedule, at);
  if (at !== undefined) core.scheduler.schedules.push(schedule);
  return bytes;
}

function run(core: Core, schedule: Schedule, atMs: number): void {
  const name = { tenant: schedule.tenant.name, id: `${schedule.id}@${atMs}` };
  // A run whose id is taken by other content stays away: the id says that it was made.
  enqueueBody(core, name, schedule.body, decodeBody(schedule.body));
}
