/**
 * Watches a run from outside, with books of its own, and says which promise was broken. It is told what was acknowledged, what workers believe, and looks at the
 * engine after every step.
 */
import type { Engine } from "../engine/engine.ts";
import type { Answer, Command, CommandKind, Enqueued, Leased } from "../engine/model/command.ts";
import type { JobSpec } from "../engine/model/job-spec.ts";
import type { Instant } from "../engine/model/ports.ts";
import { isFinal, type LeasedTask } from "../engine/model/views.ts";
import type { SimShard } from "./sim-shard.ts";

interface LeaseBook {
  readonly job: string;
  readonly worker: string;
  readonly leaseMs: number;
  /** When the engine may give the task to another, on the monotonic clock. */
  deadlineMs: number;
}

interface Trigger {
  readonly tenant: string;
  readonly key: string;
  readonly content: number;
  readonly order: number;
  readonly atMs: number;
  readonly replaces: boolean;
}

/** What a worker was told it has, until it lets go itself. */
interface Belief {
  readonly worker: string;
  readonly job: string;
  untilMs: number;
}

export class Checker {
  readonly violations: string[] = [];
  /** Acknowledged, and not deleted by anybody: must be there. */
  readonly #acknowledged = new Map<string, { tenant: string; id: string }>();
  /** Were leased and are gone when they have ended. A request that is repeated then makes another. */
  readonly #fleeting = new Set<string>();
  readonly #succeeded = new Set<string>();
  readonly #runsAgain = new Set<string>();
  readonly #deleting = new Set<string>();
  readonly #books = new Map<number, LeaseBook>();
  readonly #beliefs = new Map<number, Belief>();
  readonly #triggers: Trigger[] = [];
  /** Runs of dedupe keys: content order and time of the lease. */
  readonly #runs = new Map<string, { content: number; atMs: number }[]>();
  readonly #contentOrder = new Map<number, number>();
  /** The last grant of each rate: in this life of the engine, and over all lives what a worker heard of. */
  readonly #rateGrants = new Map<string, number>();
  readonly #rateDelivered = new Map<string, number>();
  readonly #grantedAtMs = new Map<number, number>();
  #order = 0;
  /** Leases that the engine may end before the worker thinks so. */
  readonly #excused = new Set<string>();
  grants = 0;

  break(what: string): void {
    if (this.violations.length < 20) this.violations.push(what);
  }

  applied(engine: Engine, command: Command, answer: Answer<CommandKind>, now: Instant): void {
    if (command.kind === "heartbeat")
      for (const beat of answer as Answer<"heartbeat">) {
        const book = this.#books.get(beat.task);
        if (beat.state === "lost" || book === undefined) continue;
        if (book.deadlineMs <= now.monoMs)
          this.break(`task ${beat.task} was renewed after its lease had run out`);
        book.deadlineMs = now.monoMs + book.leaseMs;
      }
    if (command.kind === "report") this.#reported(command, answer as Answer<"report">, now);
    if (command.kind === "lease" && "tasks" in answer) this.#leased(engine, command, answer, now);
    if (command.kind === "enqueue") this.#triggered(command.jobs, answer as Answer<"enqueue">, now);
    this.#checkPlaces(engine);
  }

  /** Every lease has its full time again. */
  restarted(engine: Engine, now: Instant): void {
    this.#books.clear();
    this.#rateGrants.clear();
    for (const { task, job, worker, leaseMs } of engine.state.leases.values())
      this.#books.set(task, {
        job: nameOf(job.tenant.name, job.id),
        worker,
        leaseMs,
        deadlineMs: now.monoMs + leaseMs,
      });
    this.#checkPlaces(engine);
  }

  acknowledged(spec: JobSpec, { id }: Enqueued): void {
    const name = nameOf(spec.tenant, id);
    if (!this.#deleting.has(name)) this.#acknowledged.set(name, { tenant: spec.tenant, id });
  }

  /** Somebody asked for it to be deleted: it may be there or not. */
  deleting(tenant: string, id: string): void {
    this.#acknowledged.delete(nameOf(tenant, id));
    this.#deleting.add(nameOf(tenant, id));
    this.restarting(nameOf(tenant, id));
  }

  excuse(job: string): void {
    this.#excused.add(job);
  }

  /** A worker heard that it has a task. It asked at `askedMs`, and counts its lease from there. */
  heard(worker: string, { task, spec }: LeasedTask, untilMs: number, nowMs: number): void {
    const job = nameOf(spec.tenant, spec.id);
    for (const limit of spec.limits ?? [])
      if (limit.kind === "rate")
        this.#rateDelivered.set(rateName(spec.tenant, limit), this.#grantedAtMs.get(task) ?? 0);
    // The answer took longer than the lease lasts: the worker knows that it has nothing.
    if (untilMs <= nowMs) return;
    if (spec.retentionMs === 0) {
      this.excuse(job);
      this.restarting(job);
    }
    for (const [other, belief] of this.#beliefs) {
      if (belief.job !== job || other === task || belief.untilMs <= nowMs) continue;
      if (!this.#excused.has(job))
        this.break(
          `${job} is with ${worker} (task ${task}) and with ${belief.worker} (task ${other}) at once`,
        );
    }
    if (this.#succeeded.has(job) && !this.#runsAgain.has(job))
      this.break(`${job} runs again after its success was acknowledged`);
    this.#beliefs.set(task, { worker, job, untilMs });
  }

  renewed(task: number, untilMs: number): void {
    const belief = this.#beliefs.get(task);
    if (belief !== undefined) belief.untilMs = Math.max(belief.untilMs, untilMs);
  }

  /** The worker let go, or knows that it has lost it. */
  letGo(task: number): void {
    this.#beliefs.delete(task);
  }

  succeeded(job: string): void {
    this.#succeeded.add(job);
  }

  /** It may run again, now or when a doubled request arrives. */
  restarting(job: string): void {
    this.#runsAgain.add(job);
  }

  /** After everything has come to rest. */
  finish(shard: SimShard): void {
    const { engine } = shard;
    if (engine === undefined) return this.break("nobody serves at the end");
    for (const { tenant, id } of this.#acknowledged.values()) {
      const job = shard.find(tenant, id);
      if (job === undefined && this.#fleeting.has(nameOf(tenant, id))) continue;
      if (job === undefined) this.break(`job ${id} of ${tenant} was acknowledged and is lost`);
      else if (!isFinal(job.status))
        this.break(`job ${id} of ${tenant} is still ${job.status} after everything came to rest`);
    }
    const { state } = engine;
    for (const job of state.pages.jobs())
      this.break(`job ${job.id} is still ${job.status} after everything came to rest`);
    for (const tenant of state.tenants.values())
      for (const key of tenant.limits?.values() ?? [])
        if (key.held !== 0 || key.waiting !== 0)
          this.break(`limit ${key.name} has ${key.held} holders and ${key.waiting} waiters at the end`);
    this.#checkTriggers();
  }

  #reported(command: Command<"report">, answers: Answer<"report">, now: Instant): void {
    for (const [at, { task }] of command.reports.entries()) {
      const answer = answers[at];
      if (answer === undefined || "refused" in answer) continue;
      const book = this.#books.get(task);
      if (book === undefined) this.break(`a result was accepted for task ${task}, which is nobody's`);
      else if (book.deadlineMs <= now.monoMs)
        this.break(`a result was accepted for task ${task} after its lease had run out`);
      this.#books.delete(task);
    }
  }

  #leased(engine: Engine, command: Command<"lease">, { tasks }: Leased, now: Instant): void {
    for (const { task, spec, leaseMs } of tasks) {
      const job = nameOf(spec.tenant, spec.id);
      this.grants += 1;
      if (spec.retentionMs === 0) this.#fleeting.add(job);
      for (const [other, book] of this.#books)
        if (book.job === job && engine.state.leases.has(other))
          this.break(`${job} has two leases, ${other} and ${task}`);
      this.#books.set(task, { job, worker: command.worker, leaseMs, deadlineMs: now.monoMs + leaseMs });
      this.#checkGrant(engine, spec);
      this.#grantedAtMs.set(task, engine.state.wallMs);
      if (spec.dedupe === undefined) continue;
      const runs = this.#runs.get(`${spec.tenant}/${spec.dedupe.key}`) ?? [];
      runs.push({ content: contentOf(spec), atMs: now.monoMs });
      this.#runs.set(`${spec.tenant}/${spec.dedupe.key}`, runs);
    }
  }

  /** A grant may not go over any limit of the job, and two grants of a rate are apart. */
  #checkGrant(engine: Engine, spec: JobSpec): void {
    for (const limit of spec.limits ?? []) {
      if (limit.kind === "concurrency") {
        let held = 0;
        for (const { job } of engine.state.leases.values())
          if (
            job.tenant.name === spec.tenant &&
            job.limits?.some(({ kind, key }) => kind === "concurrency" && key === limit.key) === true
          )
            held += 1;
        if (held > limit.max) this.break(`limit ${limit.key} of ${limit.max} has ${held} holders`);
      }
      if (limit.kind === "rate") {
        const key = rateName(spec.tenant, limit);
        const { wallMs } = engine.state;
        const spacingMs = Math.ceil(limit.durationMs / limit.limit);
        const last = Math.max(this.#rateGrants.get(key) ?? 0, this.#rateDelivered.get(key) ?? 0);
        if (wallMs - last < spacingMs)
          this.break(`two grants of rate ${key} are ${wallMs - last} ms apart instead of ${spacingMs}`);
        this.#rateGrants.set(key, wallMs);
      }
    }
  }

  /** Places are held by leases, and by nothing else. */
  #checkPlaces(engine: Engine): void {
    const { state, core } = engine;
    const held = new Map<object, number>();
    for (const { job } of state.leases.values())
      for (const key of job.limits ?? []) held.set(key, (held.get(key) ?? 0) + 1);
    for (const tenant of state.tenants.values())
      for (const key of tenant.limits?.values() ?? []) {
        if (key.held !== (held.get(key) ?? 0))
          this.break(`limit ${key.name} counts ${key.held} holders and has ${held.get(key) ?? 0}`);
        if (key.kind === "rate") continue;
        const free = key.free(state.wallMs);
        for (const { woken, waiters } of key.lines)
          if (waiters.size > 0 && woken < free)
            this.break(
              `limit ${key.name} has ${free} places, ${waiters.size} waiters, and ${woken} on their way`,
            );
      }
    if (core.scheduler.leases.size !== state.leases.size) this.break("a lease is not watched");
  }

  #triggered(jobs: readonly JobSpec[], answers: Answer<"enqueue">, now: Instant): void {
    for (const [at, spec] of jobs.entries()) {
      const answer = answers[at];
      if (
        spec.dedupe === undefined ||
        answer === undefined ||
        "refused" in answer ||
        answer.outcome === "same"
      )
        continue;
      this.#contentOrder.set(contentOf(spec), ++this.#order);
      this.#triggerApplied.set(contentOf(spec), { order: this.#order, atMs: now.monoMs });
    }
  }

  readonly #triggerApplied = new Map<number, { order: number; atMs: number }>();

  /** A trigger's sender heard that it counts. */
  triggerAcknowledged(spec: JobSpec): void {
    const applied = this.#triggerApplied.get(contentOf(spec));
    if (spec.dedupe === undefined || applied === undefined) return;
    const { tenant, dedupe } = spec;
    this.#triggers.push({
      tenant,
      key: dedupe.key,
      content: contentOf(spec),
      ...applied,
      replaces: dedupe.mode !== "unique",
    });
  }

  /** Every acknowledged trigger is followed by a run; where triggers replace content, by a run with its content or a later one's. */
  #checkTriggers(): void {
    for (const { tenant, key, content, order, atMs, replaces } of this.#triggers) {
      const runs = this.#runs.get(`${tenant}/${key}`) ?? [];
      const followed = runs.some(
        (run) => run.atMs >= atMs && (!replaces || (this.#contentOrder.get(run.content) ?? 0) >= order),
      );
      if (!followed && !this.#excused.has(`${tenant}/${key}`))
        this.break(`trigger ${content} of ${tenant}/${key} was acknowledged, and nothing ran after it`);
    }
  }
}

export function nameOf(tenant: string, id: string): string {
  return `${tenant}/${id}`;
}

function rateName(
  tenant: string,
  { name, uniqueKey }: { readonly name: string; readonly uniqueKey: string },
): string {
  return `${tenant}/${name}/${uniqueKey}`;
}

/** Payloads of the simulator are numbers. */
function contentOf({ payload }: Pick<JobSpec, "payload">): number {
  return Number(Buffer.from(payload).toString());
}
