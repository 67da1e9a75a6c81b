/** Shows a job, in memory or stored, as callers see it. */
import { decodeBody } from "../codec/body.ts";
import { storeJob, type StoredJob } from "../codec/stored-job.ts";
import { outcomeView, specOf } from "../commands/leasing.ts";
import { isFinal, type AttemptView, type JobView } from "../model/views.ts";
import type { Job } from "../state/job.ts";

export function viewStored(job: StoredJob, retentionMs: number): JobView {
  const content = decodeBody(job.body);
  const { past, lease } = job;
  const attempts: AttemptView[] = (past?.attempts ?? []).map(({ outcome, ...rest }) => ({
    ...rest,
    outcome: outcomeView(outcome),
  }));
  const count = past?.count ?? 0;
  if (lease !== undefined)
    attempts.push({
      number: count + 1,
      relativeNumber: count - (past?.countAtRestart ?? 0) + 1,
      startedAtMs: lease.startedAtMs,
      finishedAtMs: undefined,
      worker: lease.worker,
      outcome: undefined,
    });
  return {
    spec: specOf(job.tenant, job.id, content),
    status: job.status,
    statusAtMs: job.statusAtMs,
    enqueuedAtMs: job.enqueuedAtMs,
    startAtMs: job.startAtMs,
    waitsFor: undefined,
    attempts,
    cancelledAtMs: past?.cancelledAtMs,
    lostLeases: past?.lostLeases ?? 0,
    expiresAtMs: expiryOf(job, retentionMs),
  };
}

export function viewJob(job: Job, retentionMs: number): JobView {
  return { ...viewStored(storeJob(job), retentionMs), waitsFor: waitsFor(job) };
}

/** When an ended job may be forgotten. */
function expiryOf(
  job: Pick<StoredJob, "status" | "statusAtMs" | "body">,
  retentionMs: number,
): number | undefined {
  if (!isFinal(job.status)) return undefined;
  return job.statusAtMs + (decodeBody(job.body).retentionMs ?? retentionMs);
}

function waitsFor(job: Job): JobView["waitsFor"] {
  if (job.status !== "scheduled") return undefined;
  if (job.waitsForOthers) return "dependencies";
  if (job.check !== undefined) return "rate";
  const { queue, group, tenant } = job;
  const lane = group.lanes.get(tenant);
  if (queue !== undefined && queue === lane?.ready) return group.paused || tenant.paused ? "pause" : "worker";
  const key = job.limits?.find((each) => each.lines.some(({ waiters }) => waiters === queue));
  if (key !== undefined) return key.kind === "rate" ? "rate" : "limit";
  return "start";
}
