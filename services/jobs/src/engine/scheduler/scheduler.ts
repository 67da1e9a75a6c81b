/**
 * Where every job that has not ended waits: for others, for its time, for a limit, or for a worker; and who is next. All of it follows from durable state and
 * time, and is built again at every start. Nothing here is written to the journal.
 */
import type { Instant } from "../model/ports.ts";
import { Heap } from "../structure/heap.ts";
import type { Group } from "../state/group.ts";
import { fallsDueBefore, type Job } from "../state/job.ts";
import { Timeout, type Lease } from "../state/lease.ts";
import type { LimitKey, Refresh } from "../state/limit-key.ts";
import type { Schedule } from "../state/schedule.ts";
import type { State } from "../state/state.ts";
import type { Tenant } from "../state/tenant.ts";

export class Scheduler {
  readonly #state: State;
  /** Jobs whose time has not come. */
  readonly timed = new Heap<Job>(fallsDueBefore);
  readonly leases = new Heap<Lease>((a, b) =>
    a.deadlineMs === b.deadlineMs ? a.task < b.task : a.deadlineMs < b.deadlineMs,
  );
  readonly timeouts = new Heap<Timeout>((a, b) =>
    a.atMs === b.atMs ? a.lease.task < b.lease.task : a.atMs < b.atMs,
  );
  /** Limits that are blocked, or will be stale, until `dueAtMs`. */
  readonly keys = new Heap<LimitKey>((a, b) => a.dueAtMs < b.dueAtMs);
  readonly schedules = new Heap<Schedule>((a, b) => (a.nextAtMs ?? 0) < (b.nextAtMs ?? 0));
  /** Groups in which something became ready since they were last asked for. */
  readonly announced = new Set<Group>();
  readonly refreshes: Refresh[] = [];
  /** Checks by an outside limiter that have no answer yet. */
  readonly checks = new Map<number, Job>();

  constructor(state: State) {
    this.#state = state;
  }

  /** Puts a scheduled job, which is in no queue, where it belongs. */
  place(job: Job): void {
    if (job.waitsForOthers) return;
    if (job.dueAtMs > this.#state.wallMs) {
      job.queue = this.timed;
      this.timed.push(job);
    } else this.#ready(job);
  }

  /** Takes a job out of its queue, whichever that is. */
  unplace(job: Job): void {
    this.dropCheck(job);
    const { queue } = job;
    if (queue !== undefined) {
      queue.remove(job);
      job.queue = undefined;
      const lane = job.group.lanes.get(job.tenant);
      if (lane !== undefined && queue === lane.ready) job.group.arrange(lane);
    }
    const key = this.#tried(job);
    if (key !== undefined) this.wake(key);
  }

  /** Moves jobs whose time has come; at most so many. */
  due(max: number): void {
    const { wallMs } = this.#state;
    for (let left = max; left > 0; left--) {
      const job = this.timed.peek();
      if (job === undefined || job.dueAtMs > wallMs) return;
      this.timed.remove(job);
      job.queue = undefined;
      job.notBeforeMs = 0;
      this.#ready(job);
    }
  }

  /** The job whose turn it is in a group, out of its queue. It may still have to wait for a limit. */
  next(group: Group): Job | undefined {
    if (group.paused) return undefined;
    const lane = group.turns.peek();
    const job = lane?.ready.pop();
    if (lane === undefined || job === undefined) return undefined;
    job.queue = undefined;
    return job;
  }

  /** After `next`, when the job did not run: it waits at a limit that has no place. */
  wait(job: Job, key: LimitKey): void {
    const { waiters } = key.line(job.group);
    job.queue = waiters;
    waiters.push(job);
    const woke = this.#tried(job);
    this.#arrange(job);
    if (woke !== undefined) this.wake(woke);
  }

  /** After `next`, when the job has a lease. */
  leased(lease: Lease, timeoutMs: number | undefined, now: Instant): void {
    const { job } = lease;
    const woke = this.#tried(job);
    const lane = job.group.lane(job.tenant);
    lane.running += 1;
    const { group } = lane;
    if (lane.virtualTime < group.virtualTime) lane.virtualTime = group.virtualTime;
    group.virtualTime = lane.virtualTime;
    lane.virtualTime += 1 / job.tenant.weight;
    group.arrange(lane);
    this.#watch(lease, timeoutMs, now);
    if (woke !== undefined && woke.kind === "rate") this.wake(woke);
  }

  /** The lease has ended, and `freed` have a place more. */
  unleased(lease: Lease, freed: readonly LimitKey[] | undefined): void {
    const { job, timeout } = lease;
    this.leases.remove(lease);
    if (timeout !== undefined && timeout.slot >= 0) this.timeouts.remove(timeout);
    const lane = job.group.lane(job.tenant);
    lane.running -= 1;
    job.group.arrange(lane);
    if (freed !== undefined) for (const key of freed) this.wake(key);
  }

  renewed(lease: Lease, now: Instant): void {
    lease.deadlineMs = now.monoMs + lease.leaseMs;
    this.leases.moved(lease);
  }

  /** Lets as many waiters of each group try as there are places. */
  wake(key: LimitKey): void {
    const free = key.free(this.#state.wallMs);
    if (free === 0) return;
    for (const line of key.lines) {
      while (line.woken < free) {
        const job = line.waiters.pop();
        if (job === undefined) break;
        line.woken += 1;
        job.wokenBy = key;
        this.#ready(job);
      }
    }
  }

  /** Nothing gets through a rate limit until then. */
  block(key: LimitKey, untilMs: number): void {
    key.blockedUntilMs = untilMs;
    this.remind(key, untilMs);
  }

  remind(key: LimitKey, atMs: number): void {
    key.dueAtMs = atMs;
    if (key.slot >= 0) this.keys.moved(key);
    else this.keys.push(key);
  }

  /** A floating limit that is used must have its time to be refreshed in the timers. */
  tend(key: LimitKey): void {
    const { floating } = key;
    if (floating === undefined || floating.refresh !== undefined || key.slot >= 0) return;
    this.remind(key, floating.refreshedAtMs + floating.refreshMs);
  }

  /** The job has its places while an outside limiter is asked. */
  beginCheck(job: Job, check: number): void {
    job.check = check;
    this.checks.set(check, job);
    for (const key of job.limits ?? []) key.held += 1;
    this.#tried(job);
    this.#arrange(job);
  }

  /** Gives the places back that a job has while it is checked, and after the limiter said yes. */
  dropCheck(job: Job): void {
    if (job.check === undefined) return;
    this.#endCheck(job);
    for (const key of job.limits ?? []) this.wake(key);
  }

  /** The same, when a lease takes the places at once. */
  useCheck(job: Job): void {
    this.#endCheck(job);
  }

  /** The limiter said yes: the job waits for a worker, and has its places. */
  passCheck(job: Job): void {
    this.checks.delete(job.check as number);
    this.#ready(job);
  }

  /** A tenant was paused or resumed, or weighs something else. */
  tenantChanged(tenant: Tenant): void {
    for (const group of this.#state.groups.values()) {
      const lane = group.lanes.get(tenant);
      if (lane === undefined) continue;
      group.arrange(lane);
      if (lane.slot >= 0) this.announced.add(group);
    }
  }

  watchAgain(lease: Lease, timeoutMs: number | undefined, now: Instant): void {
    lease.job.group.lane(lease.job.tenant).running += 1;
    this.#watch(lease, timeoutMs, now);
  }

  #endCheck(job: Job): void {
    this.checks.delete(job.check as number);
    job.check = undefined;
    for (const key of job.limits ?? []) key.held -= 1;
  }

  #watch(lease: Lease, timeoutMs: number | undefined, now: Instant): void {
    lease.deadlineMs = now.monoMs + lease.leaseMs;
    this.leases.push(lease);
    if (timeoutMs === undefined) return;
    const spentMs = Math.max(0, this.#state.wallMs - lease.startedAtMs);
    lease.timeout = new Timeout(lease, now.monoMs + Math.max(0, timeoutMs - spentMs));
    this.timeouts.push(lease.timeout);
  }

  #ready(job: Job): void {
    const lane = job.group.lane(job.tenant);
    job.queue = lane.ready;
    lane.ready.push(job);
    // A lane that already takes part keeps its turn: that does not depend on how much is ready.
    if (lane.slot < 0) job.group.arrange(lane);
    this.announced.add(job.group);
  }

  #arrange(job: Job): void {
    job.group.arrange(job.group.lane(job.tenant));
  }

  /** The job is no longer on its way for the limit that woke it; gives that limit. */
  #tried(job: Job): LimitKey | undefined {
    const key = job.wokenBy;
    if (key === undefined) return undefined;
    job.wokenBy = undefined;
    key.line(job.group).woken -= 1;
    return key;
  }
}
