/** What time alone brings about: leases run out, attempts take too long, jobs fall due, limits open, schedules fire. A bounded amount at a time. */
import { lose, timeOut } from "./commands/reporting.ts";
import { fire } from "./commands/schedules.ts";
import { tellStatus, type Core } from "./core.ts";
import { JOB_LIMITS } from "./model/limits.ts";
import type { LimitKey } from "./state/limit-key.ts";

export function due(core: Core): void {
  const { scheduler, state } = core;
  const { monoMs } = core.now;
  let left = JOB_LIMITS.dueWorkMax;
  const { leases, timeouts, keys, schedules } = scheduler;
  for (let lease = leases.peek(); lease !== undefined && lease.deadlineMs <= monoMs && left-- > 0;) {
    lose(core, lease);
    lease = leases.peek();
  }
  for (let timeout = timeouts.peek(); timeout !== undefined && timeout.atMs <= monoMs && left-- > 0;) {
    timeOut(core, timeout.lease);
    timeout = timeouts.peek();
  }
  for (let key = keys.peek(); key !== undefined && key.dueAtMs <= state.wallMs && left-- > 0;) {
    keys.remove(key);
    open(core, key);
    key = keys.peek();
  }
  let bytesLeft: number = JOB_LIMITS.dueBytesMax;
  for (let schedule = schedules.peek(); schedule !== undefined && bytesLeft > 0 && left-- > 0;) {
    if (schedule.nextAtMs === undefined || schedule.nextAtMs > state.wallMs) break;
    schedules.remove(schedule);
    bytesLeft -= fire(core, schedule, bytesLeft);
    schedule = schedules.peek();
  }
  scheduler.due(Math.max(left, 0));
}

/** A rate limit is open again, or a floating one is stale. */
function open(core: Core, key: LimitKey): void {
  const { floating } = key;
  if (floating === undefined) return core.scheduler.wake(key);
  if (floating.refresh !== undefined) {
    // The worker that was asked has not answered in time.
    floating.refresh.task = 0;
    if (key.uses === 0) dropRefresh(core, key);
  } else if (key.uses > 0) {
    floating.refresh = { key, task: 0, worker: "" };
    core.scheduler.refreshes.push(floating.refresh);
  }
  if (floating.refresh !== undefined) core.effects.push({ kind: "ready", group: floating.group.name });
}

function dropRefresh(core: Core, key: LimitKey): void {
  const { refreshes } = core.scheduler;
  refreshes.splice(
    refreshes.findIndex((each) => each.key === key),
    1,
  );
  if (key.floating !== undefined) key.floating.refresh = undefined;
}

/** What followed from changes: jobs that nothing holds back any more are placed, and whoever waits for an end hears of it. */
export function follow(core: Core): void {
  const { changes, scheduler, state } = core;
  for (const job of changes.released)
    if (job.status === "scheduled" && job.queue === undefined && job.check === undefined)
      scheduler.place(job);
  changes.released.length = 0;
  for (const job of changes.ended) {
    tellStatus(core, job);
    state.tidyGroup(job.group);
  }
  changes.ended.length = 0;
}
