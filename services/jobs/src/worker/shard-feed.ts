/**
 * A worker's end of one shard: the stream of tasks, opened again whenever it ends; credit and results, sent together in one call; heartbeats. It keeps no task
 * itself: `held` says which there are.
 */
import { randomUUID } from "node:crypto";
import { RouterError } from "@keelson/runtime";
import { Batches } from "../client/batches.ts";
import { JobsError } from "../client/errors.ts";
import { isPassing, pause, type ShardCalls } from "../client/shard-calls.ts";
import type { Beat, RefreshTask } from "../engine/index.ts";
import { packReports } from "../shard/packed/reports.ts";
import { unpackTasks, type GivenTask } from "../shard/packed/tasks.ts";
import type { Ack, AckAnswer, BeatAsk, TaskProgress, WorkItem, WorkOpen } from "../shard/protocol.ts";
import type { HeldTask } from "./held-task.ts";
import type { JobStopped } from "./running-job.ts";

export interface ShardFeedOptions {
  readonly shard: string;
  readonly group: string;
  readonly worker: string;
  readonly credit: number;
  readonly leaseMs: number | undefined;
  onTasks(tasks: readonly GivenTask[]): void;
  onRefresh(limit: RefreshTask): void;
  onStop(task: number, code: JobStopped["code"]): void;
  /** Without a problem it was accepted. */
  onReported(held: HeldTask, problem: Error | undefined): void;
  held(): readonly HeldTask[];
  onProblem(problem: Error): void;
}

const CALL_TIMEOUT_MS = 5_000;
const REOPEN_FIRST_MS = 50;
const REOPEN_MAX_MS = 2_000;
/** Until the first task says how long leases are. */
const LEASE_MS = 10_000;
/** A report must arrive while the lease may still be alive; later nobody would accept it. */
const REPORT_TIMEOUT_MS = 30_000;
const STOP_CODES = { cancelled: "CANCELLED", timeout: "TIMEOUT", lost: "LEASE_LOST" } as const;
const RETRY_PAUSE_MS = 50;

const NO_REPORTS = new Uint8Array(0);

/** By their place; those that were accepted have none. */
type Problems = readonly (Error | undefined)[];

const NO_PROBLEMS: Problems = [];

export class ShardFeed {
  readonly #calls: ShardCalls;
  readonly #options: ShardFeedOptions;
  readonly #closing = new AbortController();
  readonly #reports: Batches<HeldTask, Error | undefined>;
  readonly #progress = new Map<number, TaskProgress>();
  /** Credit that it has spent and not got back. */
  owed = 0;
  /** Tasks that the shard may still send. */
  granted = 0;
  #session = "";
  /** Credit that the shard has not been told of. */
  #untold = 0;
  #telling = false;
  #leaseMs: number;
  #beating: NodeJS.Timeout | undefined;

  constructor(calls: ShardCalls, options: ShardFeedOptions) {
    this.#calls = calls;
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
    this.#reports = new Batches(
      {
        send: (reports) => this.#ack(reports),
        bytesOf: ({ bytes }) => bytes,
        done: (held, problem) => options.onReported(held, problem),
        failed: (held, error) => options.onReported(held, error as Error),
      },
      { inflightMax: 2 },
    );
  }

  start(): void {
    void this.#follow();
    this.#beatLater();
  }

  /** It has its outcome; `onReported` tells when that has arrived. */
  report(held: HeldTask): void {
    if (this.#progress.size > 0) this.#progress.delete(held.task);
    this.#reports.push(held);
  }

  /** One more task may come. It is told with the next reports, or in a moment if there are none. */
  credit(count: number): void {
    this.owed -= count;
    this.granted += count;
    this.#untold += count;
    if (this.#telling) return;
    this.#telling = true;
    setImmediate(() => {
      this.#telling = false;
      // Reports that wait for their turn take it along.
      if (this.#untold > 0 && this.#reports.waiting === 0 && !this.#closing.signal.aborted)
        void this.#ack([]).catch((error: unknown) => this.#options.onProblem(error as Error));
    });
  }

  tell({ task, tenant, id, group }: GivenTask, progress: unknown): void {
    this.#progress.set(task, { tenant, id, group, progress });
    this.#beatSoon();
  }

  async giveBack(tasks: readonly number[]): Promise<void> {
    const command = { kind: "giveBack", worker: this.#options.worker, tasks };
    try {
      await this.#call("execute", command);
    } catch (error) {
      // Their leases end by themselves then.
      this.#options.onProblem(error as Error);
    }
  }

  async reportRefresh(task: number, outcome: { max: number } | { failed: string }): Promise<void> {
    try {
      await this.#call("execute", { kind: "reportRefresh", task, outcome });
    } catch (error) {
      this.#options.onProblem(error as Error);
    }
  }

  close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#beating);
    return Promise.resolve();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    const { shard, worker, group, credit, leaseMs } = this.#options;
    let pauseMs = REOPEN_FIRST_MS;
    while (!signal.aborted) {
      const session = randomUUID();
      this.#session = session;
      this.#untold = 0;
      const free = Math.max(0, credit - this.#options.held().length);
      this.granted = free;
      this.owed = 0;
      const body: WorkOpen = { session, worker, group, credit: free, leaseMs };
      try {
        // oxlint-disable-next-line no-await-in-loop -- one stream after another.
        for await (const item of this.#calls.stream(shard, "work", body, signal)) {
          pauseMs = REOPEN_FIRST_MS;
          this.#take(item as WorkItem);
        }
      } catch (error) {
        if (!(error instanceof RouterError)) this.#options.onProblem(error as Error);
      }
      // oxlint-disable-next-line no-await-in-loop -- as above.
      await pause(pauseMs, signal);
      pauseMs = Math.min(REOPEN_MAX_MS, pauseMs * 2);
    }
  }

  #take({ tasks, refreshes, stops }: WorkItem): void {
    if (tasks !== undefined) {
      const given = unpackTasks(tasks);
      this.#leaseMs = given[0]?.leaseMs ?? this.#leaseMs;
      this.granted -= given.length;
      this.#options.onTasks(given);
    }
    for (const limit of refreshes ?? []) this.#options.onRefresh(limit);
    for (const { task, reason } of stops ?? []) this.#options.onStop(task, STOP_CODES[reason]);
  }

  async #ack(reports: readonly HeldTask[]): Promise<Problems> {
    const until = performance.now() + REPORT_TIMEOUT_MS;
    for (;;) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- again, when the shard was elsewhere.
        return await this.#tryAck(reports);
      } catch (error) {
        if (!isPassing(error) || performance.now() > until || this.#closing.signal.aborted) throw error;
      }
      // oxlint-disable-next-line no-await-in-loop -- as above.
      await pause(RETRY_PAUSE_MS, this.#closing.signal);
    }
  }

  async #tryAck(reports: readonly HeldTask[]): Promise<Problems> {
    if (!this.#isListed()) return this.#ackElsewhere(reports);
    const credit = this.#untold;
    this.#untold = 0;
    const session = this.#session;
    const { worker } = this.#options;
    const packed = reports.length === 0 ? NO_REPORTS : packReports(reports);
    const body: Ack = { session, worker, reports: packed, credit };
    try {
      const refused = (await this.#call("ack", body)) as AckAnswer;
      if (refused.length === 0) return NO_PROBLEMS;
      const problems: (Error | undefined)[] = reports.map(() => undefined);
      for (const [index, code, message] of refused) problems[index] = new JobsError(code, message);
      return problems;
    } catch (error) {
      // Told once more while the stream lasts: credit that counts twice brings tasks that are given back, lost credit brings none for ever.
      if (session === this.#session) this.#untold += credit;
      throw error;
    }
  }

  /** The shard was split: each task is in the half that its tenant belongs to. */
  #ackElsewhere(reports: readonly HeldTask[]): Promise<Problems> {
    const { worker } = this.#options;
    const asked = reports.map(async (report) => {
      const body: Ack = { session: "", worker, reports: packReports([report]), credit: 0 };
      const terms = { timeoutMs: CALL_TIMEOUT_MS };
      const answer = await this.#calls.byTenant(report.tenant, "write", "ack", body, terms);
      const [refused] = answer as AckAnswer;
      return refused && new JobsError(refused[1], refused[2]);
    });
    return Promise.all(asked);
  }

  #isListed(): boolean {
    return this.#calls.map.ranges.some(({ id }) => id === this.#options.shard);
  }

  #beatLater(): void {
    this.#beating = setTimeout(() => {
      void this.#beat().finally(() => {
        if (!this.#closing.signal.aborted) this.#beatLater();
      });
    }, this.#leaseMs / 3);
  }

  /** Progress is worth a beat of its own. */
  #beatSoon(): void {
    if (this.#progress.size === 1) setImmediate(() => void this.#beat());
  }

  async #beat(): Promise<void> {
    const held = this.#options.held();
    if (held.length === 0) return;
    const progress = [...this.#progress.values()];
    this.#progress.clear();
    try {
      for (const { task, state } of await this.#sendBeat(held, progress)) {
        if (state === "cancel") this.#options.onStop(task, "CANCELLED");
        // It may have been reported while the beat was on its way; then nobody runs it any more.
        if (state === "lost") this.#options.onStop(task, "LEASE_LOST");
      }
    } catch (error) {
      this.#options.onProblem(error as Error);
    }
  }

  async #sendBeat(held: readonly HeldTask[], progress: readonly TaskProgress[]): Promise<readonly Beat[]> {
    const { worker } = this.#options;
    if (this.#isListed()) {
      const tasks = held.map(({ task }) => task);
      const body: BeatAsk = { worker, tasks, ...(progress.length > 0 ? { progress } : {}) };
      return (await this.#call("beat", body)) as readonly Beat[];
    }
    const terms = { timeoutMs: CALL_TIMEOUT_MS };
    const beats = held.map(({ task, tenant }) =>
      this.#calls.byTenant(tenant, "write", "beat", { worker, tasks: [task] }, terms),
    );
    return (await Promise.all(beats)).flat() as Beat[];
  }

  #call(method: string, body: unknown): Promise<unknown> {
    return this.#calls.byShard(this.#options.shard, "write", method, body, { timeoutMs: CALL_TIMEOUT_MS });
  }
}
