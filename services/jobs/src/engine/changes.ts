/**
 * The only place that changes durable state. Each method is one operation: it writes itself to the log, unless it is being replayed, and does what it says.
 * It decides nothing: times, retries and winners come as arguments, so that replay does the same. What follows from an operation without a choice (a waiting
 * job gets its input, a failed dependency fails its dependents, a successor is let go) is part of it.
 */
import { decodeBody, isPlainBody, writeList, type Content } from "./codec/body.ts";
import { writeAttempt, writeOutcome } from "./codec/past.ts";
import { OP, type RecordLog } from "./codec/record-log.ts";
import { writeInput, writeStoredJob, type StoredJob } from "./codec/stored-job.ts";
import { JOB_LIMITS } from "./model/limits.ts";
import { isFinal, type JobStatus } from "./model/views.ts";
import { SettingChanges, SWEEP_MIN } from "./setting-changes.ts";
import { bindLimits, unbindLimits } from "./state/binding.ts";
import { DedupeKey } from "./state/dedupe-key.ts";
import { Flow, Job, type Attempt, type Input, type Outcome } from "./state/job.ts";
import { Lease } from "./state/lease.ts";
import { MetadataIndex } from "./state/metadata-index.ts";
import { jobKey, type State } from "./state/state.ts";
import type { Tenant } from "./state/tenant.ts";

const DEPENDENCY_FAILED = "DEPENDENCY_FAILED";

/** An outcome on its way to a job that waited for it. */
interface Passing {
  readonly to: Job;
  readonly id: string;
  readonly outcome: Outcome;
}

export class Changes extends SettingChanges {
  readonly #state: State;
  readonly #log: RecordLog;
  /** What followed from operations: jobs that nothing holds back any more, and jobs that ended. The engine empties both. */
  readonly released: Job[] = [];
  readonly ended: Job[] = [];
  /** A list instead of recursion: chains of dependents may be long. */
  readonly #passing: Passing[] = [];

  constructor(state: State, log: RecordLog) {
    super(state, log);
    this.#state = state;
    this.#log = log;
  }

  enqueued(
    name: { readonly tenant: string; readonly id: string },
    body: string,
    content: Content,
    startAtMs: number,
    inputs: readonly Input[],
  ): Job {
    if (this.writes) {
      const out = this.#log.op(OP.enqueued);
      out.text(name.tenant);
      out.text(name.id);
      out.binary(body);
      out.whole(startAtMs);
      writeList(out, inputs, writeInput);
    }
    const state = this.#state;
    const { wallMs } = state;
    const tenant = state.tenant(name.tenant);
    const job = new Job(++state.lastSeq, tenant, name.id, state.group(content.group), body, wallMs);
    job.priority = content.priority;
    job.startAtMs = startAtMs;
    tenant.jobs.set(job.id, job);
    tenant.statuses.scheduled.add(job);
    state.counts.scheduled += 1;
    this.#activate(job, content);
    if (content.after !== undefined) this.#wait(job, content, inputs);
    if (inputs.length === 0) return job;
    const failed = inputs.some(({ outcome }) => outcome.kind !== "succeeded");
    if (failed && content.onDependencyFailure !== "run") this.#end(job, "failed");
    return job;
  }

  /** A job with a past, and perhaps an end. */
  imported(
    name: { readonly tenant: string; readonly id: string },
    body: string,
    content: Content,
    startAtMs: number,
    enqueuedAtMs: number,
    attempts: readonly Attempt[],
    status: JobStatus,
  ): Job {
    if (this.writes) {
      const out = this.#log.op(OP.imported);
      out.text(name.tenant);
      out.text(name.id);
      out.binary(body);
      out.whole(startAtMs);
      out.whole(enqueuedAtMs);
      writeList(out, attempts, writeAttempt);
      out.text(status);
    }
    const state = this.#state;
    const tenant = state.tenant(name.tenant);
    const job = new Job(++state.lastSeq, tenant, name.id, state.group(content.group), body, state.wallMs);
    job.priority = content.priority;
    job.enqueuedAtMs = enqueuedAtMs;
    job.startAtMs = startAtMs;
    job.status = status;
    if (attempts.length > 0 || status === "cancelled") {
      const past = job.ensurePast();
      past.attempts = attempts.slice(-JOB_LIMITS.attemptsKeptMax);
      past.count = attempts.length;
      past.started = true;
      if (status === "cancelled") past.cancelledAtMs = state.wallMs;
      if (isFinal(status)) job.statusAtMs = attempts.at(-1)?.finishedAtMs ?? state.wallMs;
    }
    tenant.jobs.set(job.id, job);
    tenant.statuses[status].add(job);
    state.counts[status] += 1;
    if (isFinal(status)) {
      job.settle();
      state.finished.add(job);
    } else this.#activate(job, content);
    return job;
  }

  leased(job: Job, worker: string, leaseMs: number): Lease {
    const state = this.#state;
    if (this.writes) {
      const out = this.#log.op(OP.leased);
      out.whole(job.seq);
      out.text(worker);
      out.whole(leaseMs);
    }
    state.pages.touch(job);
    const lease = new Lease(++state.lastTask, job, worker, state.wallMs, leaseMs);
    state.leases.set(lease.task, lease);
    job.lease = lease;
    this.#setStatus(job, "running");
    if (!job.started) this.#start(job);
    if (job.limits !== undefined) for (const key of job.limits) key.held += 1;
    return lease;
  }

  /** An attempt ended. Without `retryAtMs` so does the job, as its outcome says. */
  attemptEnded(lease: Lease, outcome: Outcome, retryAtMs: number | undefined): void {
    if (this.writes) {
      const out = this.#log.op(OP.ended);
      out.whole(lease.task);
      writeOutcome(out, outcome);
      out.optional(retryAtMs);
    }
    this.#endAttempt(lease, outcome);
    const { job } = lease;
    if (retryAtMs === undefined) this.#end(job, outcome.kind);
    else {
      job.startAtMs = retryAtMs;
      this.#setStatus(job, "scheduled");
    }
  }

  /** The last attempt ended, and with it the job, of which nothing is kept. */
  endedForgotten(lease: Lease, outcome: Outcome): void {
    if (this.writes) {
      const out = this.#log.op(OP.endedForgotten);
      out.whole(lease.task);
      writeOutcome(out, outcome);
    }
    this.#endAttempt(lease, outcome);
    const { job } = lease;
    this.#end(job, outcome.kind, { keep: false });
    this.#state.drop(job);
  }

  /** A lease ran out, and the attempt may go on under another. */
  lost(lease: Lease): void {
    if (this.writes) this.#log.op(OP.lost).whole(lease.task);
    this.#release(lease);
    lease.job.ensurePast().lostLeases += 1;
    this.#setStatus(lease.job, "scheduled");
  }

  /** The task goes back as if it had not been leased. */
  givenBack(lease: Lease): void {
    if (this.writes) this.#log.op(OP.givenBack).whole(lease.task);
    this.#release(lease);
    this.#setStatus(lease.job, "scheduled");
  }

  /** A running job is only marked: its worker has the last word. */
  cancelled(job: Job): void {
    if (this.writes) this.#log.op(OP.cancelled).whole(job.seq);
    this.#state.pages.touch(job);
    job.ensurePast().cancelledAtMs = this.#state.wallMs;
    if (job.lease === undefined) this.#end(job, "cancelled");
  }

  /** An ended job, in memory or not, begins anew. The record holds all of it: a checkpoint may have taken it out of memory. It waits for nobody any more. */
  restarted(stored: StoredJob): Job {
    if (this.writes) writeStoredJob(this.#log.op(OP.restarted), stored);
    const state = this.#state;
    const ended = state.find(stored.tenant, stored.id);
    if (ended !== undefined) this.#replace(ended);
    const job = this.#recall(stored);
    this.#forget(stored);
    const past = job.ensurePast();
    past.countAtRestart = past.count;
    past.lostLeases = 0;
    past.started = false;
    past.cancelledAtMs = undefined;
    if (job.flow !== undefined) job.flow.missing = 0;
    job.startAtMs = state.wallMs;
    job.group = state.group(job.group.name);
    this.#setStatus(job, "scheduled");
    this.#activate(job, decodeBody(job.body));
    return job;
  }

  expedited(job: Job): void {
    if (this.writes) this.#log.op(OP.expedited).whole(job.seq);
    this.#state.pages.touch(job);
    job.startAtMs = this.#state.wallMs;
  }

  /** Of an ended job, in memory or not. */
  deleted(name: { readonly tenant: string; readonly id: string }): void {
    if (this.writes) {
      const out = this.#log.op(OP.deleted);
      out.text(name.tenant);
      out.text(name.id);
    }
    const state = this.#state;
    const job = state.find(name.tenant, name.id);
    if (job !== undefined) state.drop(job);
    this.#forget(name);
  }

  /** A trigger became part of a job that has not started; with a body, that is the job's content from now on. */
  joined(job: Job, trigger: string, body: string | undefined, startAtMs: number): void {
    if (this.writes) {
      const out = this.#log.op(OP.joined);
      out.whole(job.seq);
      out.text(trigger);
      out.binary(body ?? "");
      out.whole(startAtMs);
    }
    this.#state.pages.touch(job);
    job.merged ??= [];
    job.merged.push(trigger);
    if (job.merged.length > JOB_LIMITS.mergedTriggersMax) job.merged.shift();
    job.startAtMs = startAtMs;
    if (body === undefined) return;
    this.#unindex(job);
    unbindLimits(job);
    job.group.jobs -= 1;
    const content = decodeBody(body);
    job.body = body;
    job.priority = content.priority;
    job.group = this.#state.group(content.group);
    job.group.jobs += 1;
    bindLimits(job, content, this.#state.wallMs);
    this.#index(job, content);
  }

  /** A checkpoint begins here. */
  mark(checkpoint: number): void {
    if (this.writes) this.#log.op(OP.mark).whole(checkpoint);
  }

  /** Puts what is stored of a job into a new one. Lists and links are the caller's. */
  restore(job: Job, stored: StoredJob): void {
    job.startAtMs = stored.startAtMs;
    job.status = stored.status;
    job.statusAtMs = stored.statusAtMs;
    if (stored.merged.length > 0) job.merged = [...stored.merged];
    if (stored.past !== undefined) {
      Object.assign(job.ensurePast(), stored.past);
    }
    if (stored.flow === undefined) return;
    job.flow = new Flow(stored.flow.missing);
    for (const input of stored.flow.inputs) this.#give(job.flow, input);
  }

  /** Another takes its place under its name. Whoever writes it to pages may not have come to it yet, so it stays as it is. */
  #replace(ended: Job): void {
    const state = this.#state;
    state.finished.delete(ended);
    ended.tenant.statuses[ended.status].remove(ended);
    state.counts[ended.status] -= 1;
  }

  #recall(stored: StoredJob): Job {
    const state = this.#state;
    const tenant = state.tenant(stored.tenant);
    const group = state.group(decodeBody(stored.body).group);
    const job = new Job(stored.seq, tenant, stored.id, group, stored.body, stored.enqueuedAtMs);
    this.restore(job, stored);
    tenant.jobs.set(job.id, job);
    tenant.statuses[job.status].add(job);
    state.counts[job.status] += 1;
    return job;
  }

  #forget({ tenant, id }: { readonly tenant: string; readonly id: string }): void {
    this.#state.forgotten.set(jobKey({ tenant, id }), { tenant, id });
  }

  /** Everything that a job has which has not ended. */
  #activate(job: Job, content: Content): void {
    job.priority = content.priority;
    job.group.jobs += 1;
    this.#state.pages.add(job);
    bindLimits(job, content, this.#state.wallMs);
    this.#index(job, content);
    if (content.dedupe !== undefined && !job.started) this.#claimDedupe(job, content.dedupe.key);
  }

  #claimDedupe(job: Job, key: string): void {
    const { tenant } = job;
    tenant.dedupes ??= new Map();
    let entry = tenant.dedupes.get(key);
    if (entry === undefined) {
      this.#sweepDedupes(tenant);
      entry = new DedupeKey(key);
      tenant.dedupes.set(key, entry);
    }
    // What has passed is as good as never, so that a state does not depend on when old keys were looked for.
    if (entry.openAtMs <= this.#state.wallMs) entry.openAtMs = 0;
    // A restarted job runs beside the key when the key has a later one.
    if (entry.next !== undefined) return;
    entry.next = job;
    entry.firstAtMs = this.#state.wallMs;
    job.dedupe = entry;
  }

  #sweepDedupes(tenant: Tenant): void {
    const { dedupes } = tenant;
    if (dedupes === undefined || dedupes.size <= 2 * tenant.dedupesSwept) return;
    const { wallMs } = this.#state;
    for (const [key, { next, current, openAtMs }] of dedupes)
      if (next === undefined && current === undefined && openAtMs <= wallMs) dedupes.delete(key);
    tenant.dedupesSwept = Math.max(dedupes.size, SWEEP_MIN);
  }

  /** The first lease since the job was enqueued or restarted. */
  #start(job: Job): void {
    job.begin();
    const entry = job.dedupe;
    if (entry === undefined || entry.next !== job) return;
    entry.next = undefined;
    entry.current = job;
    const dedupe = decodeBody(job.body).dedupe;
    if (dedupe?.mode === "throttle") entry.openAtMs = this.#state.wallMs + dedupe.windowMs;
  }

  #endAttempt(lease: Lease, outcome: Outcome): void {
    const { wallMs } = this.#state;
    this.#release(lease);
    const past = lease.job.ensurePast();
    const { attempt: number, relativeAttempt: relativeNumber, startedAtMs, worker } = lease;
    const attempt = { number, relativeNumber, startedAtMs, finishedAtMs: wallMs, worker, outcome };
    past.attempts = [...past.attempts, attempt].slice(-JOB_LIMITS.attemptsKeptMax);
    past.count += 1;
    past.lostLeases = 0;
  }

  #release(lease: Lease): void {
    const { job } = lease;
    this.#state.pages.touch(job);
    this.#state.leases.delete(lease.task);
    job.lease = undefined;
    if (job.limits !== undefined) for (const key of job.limits) key.held -= 1;
  }

  #end(job: Job, status: Exclude<JobStatus, "scheduled" | "running">, { keep } = { keep: true }): void {
    const state = this.#state;
    this.#setStatus(job, status);
    state.pages.remove(job);
    if (keep) {
      job.settle();
      state.finished.add(job);
    }
    job.group.jobs -= 1;
    unbindLimits(job);
    this.#unindex(job);
    this.ended.push(job);
    const entry = job.dedupe;
    if (entry !== undefined) this.#leaveDedupe(job, entry);
    const { dependents } = job;
    if (dependents === undefined) return;
    job.dependents = undefined;
    const outcome = outcomeOf(job);
    const first = this.#passing.length === 0;
    for (const to of dependents) this.#passing.push({ to, id: job.id, outcome });
    if (!first) return;
    // Stays in the list while it is worked on, so that ends on the way only add to it.
    for (let at = 0; at < this.#passing.length; at++) this.#pass(this.#passing[at] as Passing);
    this.#passing.length = 0;
  }

  #leaveDedupe(job: Job, entry: DedupeKey): void {
    job.dedupe = undefined;
    if (entry.next === job) entry.next = undefined;
    if (entry.current === job) {
      entry.current = undefined;
      if (entry.next !== undefined) {
        if (entry.next.startAtMs < entry.openAtMs) {
          this.#state.pages.touch(entry.next);
          entry.next.startAtMs = entry.openAtMs;
        }
        this.released.push(entry.next);
      }
    }
    if (entry.next === undefined && entry.current === undefined && entry.openAtMs <= this.#state.wallMs)
      job.tenant.dedupes?.delete(entry.key);
  }

  #wait(job: Job, content: Content, inputs: readonly Input[]): void {
    const { after = [] } = content;
    const flow = new Flow(0);
    job.flow = flow;
    const given = new Set<string>();
    for (const input of inputs) {
      given.add(input.id);
      this.#give(flow, input);
    }
    for (const id of new Set(after)) {
      if (given.has(id)) continue;
      flow.missing += 1;
      this.link(job, id);
    }
  }

  /** The other job must be there: what has ended is passed as an input. */
  link(job: Job, id: string): void {
    const other = job.tenant.jobs.get(id);
    if (other === undefined || isFinal(other.status))
      throw new Error(`job ${job.id} waits for ${id}, which is not active`);
    other.dependents ??= [];
    other.dependents.push(job);
  }

  #pass({ to: job, id, outcome }: Passing): void {
    const { flow } = job;
    // It failed with another dependency, was cancelled, or was restarted since.
    if (isFinal(job.status) || flow === undefined || flow.missing === 0) return;
    this.#state.pages.touch(job);
    flow.missing -= 1;
    this.#give(flow, { id, outcome, omitted: false });
    if (outcome.kind !== "succeeded" && decodeBody(job.body).onDependencyFailure !== "run")
      this.#end(job, "failed");
    else if (flow.missing === 0) this.released.push(job);
  }

  #give(flow: Flow, input: Input): void {
    const { length } = input.outcome.data;
    const fits = flow.inputBytes + length <= JOB_LIMITS.inputBytesMax;
    if (fits) flow.inputBytes += length;
    flow.inputs.push(fits ? input : { id: input.id, outcome: { ...input.outcome, data: "" }, omitted: true });
  }

  #setStatus(job: Job, status: JobStatus): void {
    const { statuses } = job.tenant;
    statuses[job.status].remove(job);
    this.#state.counts[job.status] -= 1;
    job.status = status;
    job.statusAtMs = this.#state.wallMs;
    statuses[status].add(job);
    this.#state.counts[status] += 1;
  }

  #index(job: Job, content: Content): void {
    if (content.metadata === undefined) return;
    job.tenant.metadata ??= new MetadataIndex();
    job.tenant.metadata.add(job, content.metadata);
  }

  #unindex(job: Job): void {
    if (job.tenant.metadata === undefined || isPlainBody(job.body)) return;
    const { metadata } = decodeBody(job.body);
    if (metadata !== undefined) job.tenant.metadata.remove(job, metadata);
  }
}

/** How a job ended, for those who waited for it. */
export function outcomeOf(job: {
  readonly status: JobStatus;
  readonly past: { readonly attempts: readonly Attempt[] } | undefined;
}): Outcome {
  if (job.status === "cancelled") return { kind: "cancelled", code: "", data: "" };
  const last = job.past?.attempts.at(-1)?.outcome;
  if (last !== undefined && last.kind === job.status) return last;
  return { kind: "failed", code: DEPENDENCY_FAILED, data: "" };
}
