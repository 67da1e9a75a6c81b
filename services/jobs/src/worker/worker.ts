/**
 * Runs jobs of one task group: takes tasks from every shard as they are pushed, runs at most `concurrency` of them at once, renews their leases, and reports
 * results in batches. What it was given beyond its capacity it gives back at once, so that tasks never wait here while another worker is idle.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { pause, type ShardCalls } from "../client/shard-calls.ts";
import type { AttemptOutcome, RefreshTask } from "../engine/index.ts";
import type { GivenTask } from "../shard/compact.ts";
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

interface Held {
  readonly task: GivenTask;
  readonly feed: ShardFeed;
  job: RunningJob | undefined;
}

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
  /** All feeds; the one that was longest without new credit first. */
  readonly #turn: ShardFeed[] = [];
  readonly #topping: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #running = 0;
  #completed = 0;
  #idle: (() => void)[] = [];

  constructor(calls: ShardCalls, group: string, handler: JobHandler, options: WorkerOptions) {
    const { concurrency = 1 } = options;
    if (!(Number.isInteger(concurrency) && concurrency > 0))
      throw new RangeError(`concurrency must be a whole number above 0, not ${concurrency}`);
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
    while (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
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
      held: () => Array.from(this.#held.get(feed)?.values() ?? [], ({ task }) => task),
      onProblem: onProblem ?? (() => undefined),
    });
    this.#held.set(feed, new Map());
    this.#feeds.set(shard, feed);
    this.#turn.push(feed);
    feed.start();
  }

  #take(feed: ShardFeed, tasks: readonly GivenTask[]): void {
    const back: Held[] = [];
    for (const task of tasks) {
      const held: Held = { task, feed, job: undefined };
      const isFull = this.#running + this.#queue.length >= this.concurrency + this.#prefetch;
      if (isFull || this.#stopping.signal.aborted) back.push(held);
      else {
        this.#held.get(feed)?.set(task.task, held);
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
      void this.#run(held);
    }
  }

  async #run(held: Held): Promise<void> {
    const { task, feed } = held;
    const job = new RunningJob(task, (progress) => feed.tell(task, progress));
    held.job = job;
    let outcome;
    try {
      outcome = succeeded(await this.#handler(job));
    } catch (error) {
      outcome = failed(error, job.stopped);
    }
    this.#running -= 1;
    this.#startNext();
    // A lease that is lost has nothing to report to.
    const stopped = job.stopped?.code;
    if (stopped === "LEASE_LOST" || stopped === "TIMEOUT") this.#ended(held);
    else if (stopped === "WORKER_STOPPED" && outcome.kind === "failed") await this.#giveBack(feed, [held]);
    else {
      await this.#report(held, outcome);
      this.#ended(held);
      this.#completed += 1;
    }
    if (this.#running === 0) for (const tell of this.#idle.splice(0)) tell();
  }

  /** What cannot be reported is told; the lease ends by itself then, and the job runs again. */
  async #report({ task, feed }: Held, outcome: AttemptOutcome): Promise<void> {
    try {
      const refusal = await feed.report(task, outcome);
      if (refusal !== undefined) this.#options.onProblem?.(refusal);
    } catch (error) {
      this.#options.onProblem?.(error as Error);
    }
  }

  /** Room for one more: for one of the shards that are owed credit, each in its turn. */
  #ended({ task, feed }: Held): void {
    this.#held.get(feed)?.delete(task.task);
    feed.owed += 1;
    if (this.#stopping.signal.aborted) return;
    const next = this.#turn.find(({ owed }) => owed > 0) ?? feed;
    this.#turn.push(...this.#turn.splice(this.#turn.indexOf(next), 1));
    next.credit(1);
  }

  /** A shard may have as much credit as there is room; what several of them then send beyond it goes back. */
  #topUp(): void {
    const room = this.concurrency + this.#prefetch - this.#running - this.#queue.length;
    for (const feed of this.#turn) {
      const count = Math.min(feed.owed, room - feed.granted);
      if (count > 0) feed.credit(count);
    }
  }

  async #giveBack(feed: ShardFeed, back: readonly Held[]): Promise<void> {
    if (back.length === 0) return;
    for (const held of back) this.#held.get(feed)?.delete(held.task.task);
    // Its credit comes when there is room, or it would send the same tasks at once.
    feed.owed += back.length;
    await feed.giveBack(back.map(({ task }) => task.task));
  }

  #stopOne(feed: ShardFeed, task: number, code: JobStopped["code"]): void {
    const held = this.#held.get(feed)?.get(task);
    if (held === undefined) return;
    if (held.job !== undefined) return held.job.stop(code);
    // It has not begun, and must not.
    const index = this.#queue.indexOf(held);
    if (index >= 0) this.#queue.splice(index, 1);
    if (code === "CANCELLED") void this.#report(held, { kind: "cancelled" }).then(() => this.#ended(held));
    else this.#ended(held);
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
