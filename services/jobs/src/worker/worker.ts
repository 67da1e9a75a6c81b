/**
 * Runs jobs of one task group: takes tasks from every shard as they are pushed, runs at most `concurrency` of them at once, renews their leases, and reports
 * results in batches. What it was given beyond its capacity it gives back at once, so that tasks never wait here while another worker is idle.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { pause, type ShardCalls } from "../client/shard-calls.ts";
import { JOB_LIMITS, type AttemptOutcome, type RefreshTask } from "../engine/index.ts";
import type { GivenTask } from "../shard/packed/tasks.ts";
import { HeldTask } from "./held-task.ts";
import { failed, succeeded } from "./outcome.ts";
import { RunningJob, type JobStopped } from "./running-job.ts";
import { ShardFeed } from "./shard-feed.ts";

export type JobHandler<Payload = unknown, Result = unknown> = (
  job: RunningJob<Payload>,
) => Promise<Result> | Result;

export interface WorkerOptions {
  /** Jobs at once; 1 when left out. */
  readonly concurrency?: number;
  /** Tasks that may wait here while all places are taken, to save a round trip; as many as `concurrency`, at most 100, when left out. */
  readonly prefetch?: number;
  /** Shown with the job; host and a random part when left out. */
  readonly name?: string;
  /** How long a lease lasts without a heartbeat; the queue's own when left out. */
  readonly leaseMs?: number;
  /** Asked for a new maximum of a floating limit. */
  readonly refresh?: (limit: RefreshTask) => Promise<number> | number;
  /** Told of what the worker itself mends: shards that are out of reach, reports that were refused. */
  readonly onProblem?: (problem: Error) => void;
}

type Held = HeldTask<ShardFeed>;

const PREFETCH_MAX = 100;
const SHARDS_LOOK_MS = 1_000;
const STOP_GRACE_MS = 10_000;
const TOP_UP_MS = 50;

export class JobWorker {
  readonly name: string;
  readonly group: string;
  readonly concurrency: number;
  readonly #calls: ShardCalls;
  readonly #handler: JobHandler;
  readonly #options: WorkerOptions;
  readonly #prefetch: number;
  readonly #feeds = new Map<string, ShardFeed>();
  /** Given to us and not reported yet, by task. */
  readonly #held = new Map<ShardFeed, Map<number, Held>>();
  readonly #queue: Held[] = [];
  /** All feeds, and which of them is the next to get credit. */
  readonly #turn: ShardFeed[] = [];
  #turnAt = 0;
  readonly #topping: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #running = 0;
  /** Reports that were not answered yet. */
  #reporting = 0;
  #completed = 0;
  #idle: (() => void)[] = [];

  constructor(calls: ShardCalls, group: string, handler: JobHandler, options: WorkerOptions) {
    const { concurrency = 1 } = options;
    const problem = problemOf(group, handler, options);
    if (problem !== undefined) throw new RangeError(problem);
    this.name = options.name ?? `${hostname()}-${randomUUID().slice(0, 8)}`;
    this.group = group;
    this.concurrency = concurrency;
    this.#calls = calls;
    this.#handler = handler;
    this.#options = options;
    this.#prefetch = options.prefetch ?? Math.min(concurrency, PREFETCH_MAX);
    this.#topping = setInterval(() => this.#topUp(), TOP_UP_MS);
    void this.#followShards();
  }

  get running(): number {
    return this.#running;
  }

  /** Jobs that were reported, whatever their outcome. */
  get completed(): number {
    return this.#completed;
  }

  /** Takes nothing new, gives back what has not begun, lets what runs finish for `graceMs`, then tells it to stop. */
  async stop({ graceMs = STOP_GRACE_MS }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#topping);
    const waiting = this.#queue.splice(0);
    await Promise.all(
      [...this.#feeds.values()].map((feed) =>
        this.#giveBack(
          feed,
          waiting.filter((held) => held.feed === feed),
        ),
      ),
    );
    const timer = setTimeout(() => this.#stopAll("WORKER_STOPPED"), graceMs);
    while (this.#running + this.#reporting > 0)
      await new Promise<void>((resolve) => this.#idle.push(resolve));
    clearTimeout(timer);
    await Promise.all([...this.#feeds.values()].map((feed) => feed.close()));
  }

  /** Shards come and go with splits. */
  async #followShards(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const ids = new Set(this.#calls.map.ranges.map(({ id }) => id));
      for (const id of ids) if (!this.#feeds.has(id)) this.#open(id);
      // oxlint-disable-next-line no-await-in-loop -- looks again now and then.
      await pause(this.#feeds.size === 0 ? 50 : SHARDS_LOOK_MS, signal);
      for (const [id, feed] of this.#feeds)
        if (!ids.has(id) && (this.#held.get(feed)?.size ?? 0) === 0) {
          this.#feeds.delete(id);
          this.#held.delete(feed);
          this.#turn.splice(this.#turn.indexOf(feed), 1);
          void feed.close();
        }
    }
  }

  #open(shard: string): void {
    const { leaseMs, onProblem } = this.#options;
    const feed: ShardFeed = new ShardFeed(this.#calls, {
      shard,
      group: this.group,
      worker: this.name,
      credit: this.concurrency + this.#prefetch,
      leaseMs,
      onTasks: (tasks) => this.#take(feed, tasks),
      onRefresh: (limit) => void this.#refresh(feed, limit),
      onStop: (task, code) => this.#stopOne(feed, task, code),
      onReported: (held, problem) => this.#reported(held as Held, problem),
      held: () => [...(this.#held.get(feed)?.values() ?? [])],
      onProblem: onProblem ?? (() => undefined),
    });
    this.#held.set(feed, new Map());
    this.#feeds.set(shard, feed);
    this.#turn.push(feed);
    feed.start();
  }

  #take(feed: ShardFeed, tasks: readonly GivenTask[]): void {
    const back: Held[] = [];
    const holding = this.#held.get(feed);
    for (const task of tasks) {
      const held: Held = new HeldTask(task, feed);
      const isFull = this.#running + this.#queue.length >= this.concurrency + this.#prefetch;
      if (isFull || this.#stopping.signal.aborted) back.push(held);
      else {
        holding?.set(task.task, held);
        this.#queue.push(held);
        this.#startNext();
      }
    }
    if (back.length > 0) void this.#giveBack(feed, back);
  }

  #startNext(): void {
    while (this.#running < this.concurrency) {
      const held = this.#queue.shift();
      if (held === undefined) return;
      this.#running += 1;
      this.#run(held);
    }
  }

  /** A handler that returns no promise costs none. */
  #run(held: Held): void {
    const job = new RunningJob(held.given!, held.feed);
    held.job = job;
    let returned: unknown;
    try {
      returned = this.#handler(job);
    } catch (error) {
      return this.#ran(held, job, failed(error, job.stopped));
    }
    if (!isThenable(returned)) return this.#ran(held, job, succeeded(returned));
    const later = (outcome: AttemptOutcome): void => {
      this.#ran(held, job, outcome);
      this.#startNext();
    };
    Promise.resolve(returned).then(
      (value) => later(succeeded(value)),
      (error: unknown) => later(failed(error, job.stopped)),
    );
  }

  #ran(held: Held, job: RunningJob, outcome: AttemptOutcome): void {
    this.#running -= 1;
    const stopped = job.stopped?.code;
    // A lease that is lost has nothing to report to.
    if (stopped === "LEASE_LOST" || stopped === "TIMEOUT") this.#letGo(held);
    else if (stopped !== "WORKER_STOPPED" || outcome.kind !== "failed") return this.#report(held, outcome);
    else {
      this.#reporting += 1;
      void this.#giveBack(held.feed, [held]).finally(() => this.#settled());
      return;
    }
    this.#replace(held.feed);
    this.#tellIdle();
  }

  /** What cannot be reported is told; the lease ends by itself then, and the job runs again. Its place is free meanwhile, unless too many reports wait. */
  #report(held: Held, outcome: AttemptOutcome): void {
    this.#reporting += 1;
    held.end(outcome);
    held.feed.report(held);
    if (this.#isBehind) held.feed.owed += 1;
    else this.#replace(held.feed);
  }

  #reported(held: Held, problem: Error | undefined): void {
    if (problem !== undefined) this.#options.onProblem?.(problem);
    this.#letGo(held);
    this.#completed += 1;
    this.#settled();
  }

  /** More reports wait for their answer than there are places. Results are in memory until then, so nothing more is asked for. */
  get #isBehind(): boolean {
    return this.#reporting > this.concurrency + this.#prefetch;
  }

  #settled(): void {
    this.#reporting -= 1;
    this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#running + this.#reporting === 0) for (const tell of this.#idle.splice(0)) tell();
  }

  #letGo({ task, feed }: Held): void {
    this.#held.get(feed)?.delete(task);
  }

  /** Room for one more: for one of the shards that are owed credit, each in its turn. */
  #replace(feed: ShardFeed): void {
    feed.owed += 1;
    if (!this.#stopping.signal.aborted) this.#nextOwed(feed).credit(1);
  }

  #nextOwed(feed: ShardFeed): ShardFeed {
    const { length } = this.#turn;
    for (let step = 0; step < length; step += 1) {
      const at = (this.#turnAt + step) % length;
      const each = this.#turn[at] as ShardFeed;
      if (each.owed === 0) continue;
      this.#turnAt = (at + 1) % length;
      return each;
    }
    return feed;
  }

  /** A shard may have as much credit as there is room; what several of them then send beyond it goes back. */
  #topUp(): void {
    if (this.#isBehind) return;
    const room = this.concurrency + this.#prefetch - this.#running - this.#queue.length;
    for (const feed of this.#turn) {
      const count = Math.min(feed.owed, room - feed.granted);
      if (count > 0) feed.credit(count);
    }
  }

  async #giveBack(feed: ShardFeed, back: readonly Held[]): Promise<void> {
    if (back.length === 0) return;
    for (const held of back) this.#held.get(feed)?.delete(held.task);
    // Its credit comes when there is room, or it would send the same tasks at once.
    feed.owed += back.length;
    await feed.giveBack(back.map(({ task }) => task));
  }

  #stopOne(feed: ShardFeed, task: number, code: JobStopped["code"]): void {
    const held = this.#held.get(feed)?.get(task);
    // What has run is reported, and the shard decides.
    if (held?.given === undefined) return;
    if (held.job !== undefined) return held.job.stop(code);
    // It has not begun, and must not.
    const index = this.#queue.indexOf(held);
    if (index >= 0) this.#queue.splice(index, 1);
    if (code === "CANCELLED") return this.#report(held, { kind: "cancelled" });
    this.#letGo(held);
    this.#replace(feed);
  }

  #stopAll(code: JobStopped["code"]): void {
    for (const tasks of this.#held.values()) for (const { job } of tasks.values()) job?.stop(code);
  }

  async #refresh(feed: ShardFeed, limit: RefreshTask): Promise<void> {
    const { refresh } = this.#options;
    try {
      if (refresh === undefined) throw new Error("this worker has no refresh function");
      await feed.reportRefresh(limit.task, { max: await refresh(limit) });
    } catch (error) {
      await feed.reportRefresh(limit.task, { failed: String(error).slice(0, 500) });
    }
  }
}

/** What would otherwise be a worker that never gets a job, and never says why. */
function problemOf(group: unknown, handler: unknown, options: WorkerOptions): string | undefined {
  const { concurrency = 1, prefetch = 0, leaseMs = 1, name = "-" } = options;
  if (typeof handler !== "function") return "a worker needs a function that runs its jobs";
  if (typeof group !== "string" || group === "" || group.length > JOB_LIMITS.groupCharsMax)
    return `a worker needs a task group, a text of 1 to ${JOB_LIMITS.groupCharsMax} characters`;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    return `concurrency must be a whole number above 0, not ${concurrency}`;
  if (!Number.isInteger(prefetch) || prefetch < 0)
    return `prefetch must be a whole number, 0 or more, not ${prefetch}`;
  if (!Number.isInteger(leaseMs) || leaseMs < 1 || leaseMs > JOB_LIMITS.leaseMsMax)
    return `leaseMs must be a whole number from 1 to ${JOB_LIMITS.leaseMsMax}, not ${leaseMs}`;
  if (typeof name !== "string" || name === "" || name.length > JOB_LIMITS.workerCharsMax)
    return `a worker's name has 1 to ${JOB_LIMITS.workerCharsMax} characters`;
  return undefined;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
