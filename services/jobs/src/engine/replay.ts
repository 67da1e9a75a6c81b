/** Does again what the operations of a record say. The exact inverse of what `Changes` writes. */
import { readList, decodeBody } from "./codec/body.ts";
import type { ByteReader } from "./codec/byte-reader.ts";
import { OP, openRecord } from "./codec/record-log.ts";
import { readAttempt, readOutcome } from "./codec/past.ts";
import { readInput, readStoredJob } from "./codec/stored-job.ts";
import type { Core } from "./core.ts";
import type { ScheduleSpec } from "./model/job-spec.ts";
import type { JobStatus } from "./model/views.ts";
import type { Job } from "./state/job.ts";
import type { Lease } from "./state/lease.ts";
import { limitName } from "./state/limit-key.ts";
import type { Schedule } from "./state/schedule.ts";

/** With `from`, skips everything up to that mark; true when it is behind us. */
export function replayRecord(
  core: Core,
  record: Uint8Array,
  from: { readonly mark: number } | undefined,
): boolean {
  const { wallMs, ops } = openRecord(record);
  if (from !== undefined) return ops.byte() === OP.mark && ops.whole() === from.mark;
  const { state, changes } = core;
  if (wallMs > state.wallMs) state.wallMs = wallMs;
  changes.logging = false;
  try {
    while (!ops.done) replayOp(core, ops.byte(), ops);
  } finally {
    changes.logging = true;
  }
  changes.released.length = 0;
  for (const job of changes.ended) state.tidyGroup(job.group);
  changes.ended.length = 0;
  return true;
}

function replayOp(core: Core, op: number, from: ByteReader): void {
  const { state, changes } = core;
  switch (op) {
    case OP.enqueued: {
      const name = { tenant: from.text(), id: from.text() };
      const body = from.binary();
      changes.enqueued(name, body, decodeBody(body), from.whole(), readList(from, readInput));
      break;
    }
    case OP.imported: {
      const name = { tenant: from.text(), id: from.text() };
      const body = from.binary();
      const startAtMs = from.whole();
      const enqueuedAtMs = from.whole();
      const attempts = readList(from, readAttempt);
      const status = from.text() as JobStatus;
      changes.imported(name, body, decodeBody(body), startAtMs, enqueuedAtMs, attempts, status);
      break;
    }
    case OP.leased:
      changes.leased(active(core, from.whole()), from.text(), from.whole());
      break;
    case OP.ended:
      changes.attemptEnded(leaseOf(core, from.whole()), readOutcome(from), from.optional());
      break;
    case OP.endedForgotten:
      changes.endedForgotten(leaseOf(core, from.whole()), readOutcome(from));
      break;
    case OP.lost:
      changes.lost(leaseOf(core, from.whole()));
      break;
    case OP.givenBack:
      changes.givenBack(leaseOf(core, from.whole()));
      break;
    case OP.cancelled:
      changes.cancelled(active(core, from.whole()));
      break;
    case OP.restarted:
      changes.restarted(readStoredJob(from));
      break;
    case OP.expedited:
      changes.expedited(active(core, from.whole()));
      break;
    case OP.deleted:
      changes.deleted({ tenant: from.text(), id: from.text() });
      break;
    case OP.groupSet:
      changes.groupSet(from.text(), from.byte() === 1);
      break;
    case OP.tenantSet:
      changes.tenantSet(from.text(), from.byte() === 1, from.double());
      break;
    case OP.floatingSet: {
      const key = state.tenants.get(from.text())?.limits?.get(limitName("floating", from.text()));
      if (key === undefined) throw damaged("a floating limit");
      changes.floatingSet(key, from.whole());
      break;
    }
    case OP.bucketSet:
      changes.bucketSet(from.text(), from.text(), from.text(), from.whole());
      break;
    case OP.schedulePut: {
      const tenant = from.text();
      const [id, cron, timeZone] = [from.text(), from.text(), from.text()];
      const missed = from.text() as ScheduleSpec["missed"];
      changes.schedulePut(tenant, { id, cron, timeZone, missed }, from.binary(), from.optional());
      break;
    }
    case OP.scheduleDeleted:
      changes.scheduleDeleted(scheduleOf(core, from));
      break;
    case OP.scheduleMoved:
      changes.scheduleMoved(scheduleOf(core, from), from.optional());
      break;
    case OP.joined: {
      const job = active(core, from.whole());
      const trigger = from.text();
      const body = from.binary();
      changes.joined(job, trigger, body === "" ? undefined : body, from.whole());
      break;
    }
    case OP.mark:
      from.whole();
      break;
    default:
      throw new RangeError(`a record of the job queue has the unknown operation ${op}`);
  }
}

function active({ state }: Core, seq: number): Job {
  const job = state.pages.find(seq);
  if (job === undefined) throw damaged(`the active job ${seq}`);
  return job;
}

function leaseOf({ state }: Core, task: number): Lease {
  const lease = state.leases.get(task);
  if (lease === undefined) throw damaged(`the lease ${task}`);
  return lease;
}

function scheduleOf({ state }: Core, from: ByteReader): Schedule {
  const schedule = state.tenants.get(from.text())?.schedules?.get(from.text());
  if (schedule === undefined) throw damaged("a schedule");
  return schedule;
}

function damaged(what: string): Error {
  return new Error(`a record of the job queue speaks of ${what}, which is not there`);
}
