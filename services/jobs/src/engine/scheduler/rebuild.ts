/** Builds queues and timers from durable state, after a replay. */
import { decodeBody } from "../codec/body.ts";
import type { Core } from "../core.ts";

export function rebuild(core: Core): void {
  const { state, scheduler, now } = core;
  // Leases first: a lane enters its group's turns with the running tasks that it has.
  for (const lease of state.leases.values())
    scheduler.watchAgain(lease, decodeBody(lease.job.body).timeoutMs, now);
  for (const job of state.pages.jobs()) if (job.lease === undefined) scheduler.place(job);
  for (const tenant of state.tenants.values()) {
    for (const key of tenant.limits?.values() ?? []) if (key.uses > 0) scheduler.tend(key);
    for (const schedule of tenant.schedules?.values() ?? [])
      if (schedule.nextAtMs !== undefined) scheduler.schedules.push(schedule);
  }
  scheduler.announced.clear();
}
