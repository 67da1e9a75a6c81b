/**
 * The job queue as a Node program meets it: enqueue, await results, run workers, follow events. One client serves a whole process. Calls that are made at the
 * same time travel together; every call is safe to repeat, because jobs have ids before they are sent.
 */
import type { FleetAccess } from "@keelson/runtime";
import {
  isRefusal,
  type Answer,
  type Command,
  type Enqueued,
  type JobSpec,
  type JobView,
  type Refusal,
} from "../engine/index.ts";
import { packJobs } from "../shard/packed/jobs.ts";
import type { EventsOpen, JobEvent } from "../shard/protocol.ts";
import { DEFAULT_TENANT } from "../shard/ranges.ts";
import { JobWorker, type JobHandler, type WorkerOptions } from "../worker/worker.ts";
import { Batcher } from "./batcher.ts";
import { BATCH_DEFAULTS } from "./batches.ts";
import { JobsError } from "./errors.ts";
import { followEvents } from "./event-feed.ts";
import { JobHandle } from "./job-handle.ts";
import { specOf, type NewJob } from "./new-job.ts";
import { ResultWatch } from "./result-watch.ts";
import { isParted, ShardCalls } from "./shard-calls.ts";

export interface JobsClientOptions {
  readonly access: FleetAccess;
  /** For each call; 10 s when left out. */
  readonly timeoutMs?: number;
  /** Whose jobs these are when a job does not say. */
  readonly tenant?: string;
  /** Lets go of what `access` rests on. */
  readonly close?: () => Promise<void>;
}

const TIMEOUT_MS = 10_000;
/** What a job takes on the wire besides its payload, roughly. */
const JOB_OVERHEAD_BYTES = 200;

export class JobsClient {
  readonly calls: ShardCalls;
  readonly #options: JobsClientOptions;
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();
  readonly #results: ResultWatch;
  readonly #enqueuers = new Map<string, Batcher<JobSpec, Enqueued | Refusal>>();
  readonly #workers = new Set<JobWorker>();

  constructor(options: JobsClientOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
    this.calls = new ShardCalls(options.access);
    this.#results = new ResultWatch(this.calls, this.#closing.signal);
  }

  /** Resolves once the job is durable. Rejects with JobsError: CONFLICT when the id exists with other content, INVALID when the job is malformed. */
  async enqueue<Result = unknown>(job: NewJob): Promise<JobHandle<Result>> {
    const spec = specOf(job, this.#tenant());
    const handle = this.#handleOrError(spec, await this.#enqueue(spec));
    if (handle instanceof JobsError) throw handle;
    return handle as JobHandle<Result>;
  }

  /** All at once; the answer has a job or an error for each, in order. */
  async enqueueBatch(jobs: readonly NewJob[]): Promise<readonly (JobHandle | JobsError)[]> {
    const answers: (JobHandle | JobsError)[] = [];
    const byShard = new Map<string, number[]>();
    const specs = jobs.map((job) => specOrError(job, this.#tenant()));
    for (const [index, spec] of specs.entries()) {
      if (spec instanceof JobsError) {
        answers[index] = spec;
        continue;
      }
      const shard = this.calls.shardOf(spec.tenant);
      const indexes = byShard.get(shard);
      if (indexes === undefined) byShard.set(shard, [index]);
      else indexes.push(index);
    }
    const sent = Array.from(byShard.values(), async (all) => {
      const sound = specs as readonly JobSpec[];
      for (const indexes of chunks(all, sound)) {
        // oxlint-disable-next-line no-await-in-loop -- in order, because a job may wait for one before it.
        const odd = await this.#add(indexes.map((index) => sound[index]!));
        for (const index of indexes) answers[index] = new JobHandle(sound[index]!, "created", this.#results);
        for (const [at, answer] of odd) {
          const index = indexes[at]!;
          answers[index] = this.#handleOrError(sound[index]!, answer);
        }
      }
    });
    await Promise.all(sent);
    return answers;
  }

  /** A job that somebody else enqueued. Nothing is asked until something is. */
  job<Result = unknown>(id: string, tenant = this.#tenant()): JobHandle<Result> {
    return new JobHandle<Result>({ tenant, id }, undefined, this.#results);
  }

  get(id: string, tenant = this.#tenant()): Promise<JobView | undefined> {
    return this.#call(tenant, "read", "get", { tenant, id }) as Promise<JobView | undefined>;
  }

  /** Reaches a worker that runs it. */
  cancel(id: string, tenant = this.#tenant()): Promise<void> {
    return this.#change(tenant, { kind: "cancel", tenant, id });
  }

  restart(id: string, tenant = this.#tenant()): Promise<void> {
    return this.#change(tenant, { kind: "restart", tenant, id });
  }

  expedite(id: string, tenant = this.#tenant()): Promise<void> {
    return this.#change(tenant, { kind: "expedite", tenant, id });
  }

  delete(id: string, tenant = this.#tenant()): Promise<void> {
    return this.#change(tenant, { kind: "delete", tenant, id });
  }

  /** Runs jobs of a group, from now until it is stopped. */
  worker<Payload = unknown, Result = unknown>(
    group: string,
    handler: JobHandler<Payload, Result>,
    options: WorkerOptions = {},
  ): JobWorker {
    const worker = new JobWorker(this.calls, group, handler as JobHandler, options);
    this.#workers.add(worker);
    return worker;
  }

  /** Status changes and progress, from all shards, as they happen. Ends when the loop is left or the client is closed. */
  events(filter: EventsOpen = {}): AsyncIterable<JobEvent> {
    return followEvents(this.calls, filter, this.#closing.signal);
  }

  /** Stops workers, letting what runs finish for a while, and lets go of connections. */
  async close(options: { readonly graceMs?: number } = {}): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop(options)));
    this.#closing.abort();
    await this.#options.close?.();
  }

  #enqueue(spec: JobSpec): Promise<Enqueued | Refusal> {
    const shard = this.calls.map.of(spec.tenant) ?? "";
    let batcher = this.#enqueuers.get(shard);
    if (batcher === undefined) {
      batcher = new Batcher((jobs) => this.#send(jobs), { inflightMax: 4 });
      this.#enqueuers.set(shard, batcher);
    }
    return batcher.add(spec, spec.payload.length + JOB_OVERHEAD_BYTES);
  }

  async #send(jobs: readonly JobSpec[]): Promise<readonly (Enqueued | Refusal)[]> {
    const odd = await this.#add(jobs);
    const answers: (Enqueued | Refusal)[] = jobs.map(({ id }) => ({ id, outcome: "created" }));
    for (const [index, answer] of odd) answers[index] = answer;
    return answers;
  }

  /** Answers for those that were not simply created, by their place. All were of one shard when they were added; a split may have parted them since. */
  async #add(jobs: readonly JobSpec[]): Promise<Answer<"add">> {
    const { tenant } = jobs[0]!;
    const terms = { timeoutMs: this.#timeoutMs, mayBeParted: jobs.length > 1 };
    try {
      return (await this.calls.byTenant(tenant, "write", "add", packJobs(jobs), terms)) as Answer<"add">;
    } catch (error) {
      if (jobs.length === 1 || !isParted(error)) throw error;
    }
    // A tenant's are in one half. Those that were in the wrong one have not been carried out.
    const odd: (readonly [number, Enqueued | Refusal])[] = [];
    const sent = [...indexesByTenant(jobs).values()].map(async (indexes) => {
      for (const [at, answer] of await this.#addOfOne(indexes.map((index) => jobs[index]!)))
        odd.push([indexes[at]!, answer]);
    });
    await Promise.all(sent);
    return odd;
  }

  /** Of one tenant, so that they are never parted. */
  #addOfOne(jobs: readonly JobSpec[]): Promise<Answer<"add">> {
    return this.#call(jobs[0]!.tenant, "write", "add", packJobs(jobs)) as Promise<Answer<"add">>;
  }

  async #change(tenant: string, command: Command): Promise<void> {
    const answer = await this.#call(tenant, "write", "execute", command);
    if (isRefusal(answer)) throw new JobsError(answer.refused, answer.message);
  }

  #call(tenant: string, mode: "read" | "write", method: string, body: unknown): Promise<unknown> {
    return this.calls.byTenant(tenant, mode, method, body, { timeoutMs: this.#timeoutMs });
  }

  #handleOrError({ tenant }: JobSpec, answer: Enqueued | Refusal): JobHandle | JobsError {
    if (isRefusal(answer)) return new JobsError(answer.refused, answer.message);
    return new JobHandle({ tenant, id: answer.id }, answer.outcome, this.#results);
  }

  #tenant(): string {
    return this.#options.tenant ?? DEFAULT_TENANT;
  }
}

function specOrError(job: NewJob, tenant: string): JobSpec | JobsError {
  try {
    return specOf(job, tenant);
  } catch (error) {
    if (error instanceof JobsError) return error;
    throw error;
  }
}

function indexesByTenant(jobs: readonly JobSpec[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [index, { tenant }] of jobs.entries()) {
    const indexes = found.get(tenant);
    if (indexes === undefined) found.set(tenant, [index]);
    else indexes.push(index);
  }
  return found;
}

/** Parts that one call takes. */
function* chunks(indexes: readonly number[], specs: readonly JobSpec[]): Generator<readonly number[]> {
  let [begin, bytes] = [0, 0];
  for (const [at, index] of indexes.entries()) {
    const more = specs[index]!.payload.length + JOB_OVERHEAD_BYTES;
    if (at > begin && (bytes + more > BATCH_DEFAULTS.bytesMax || at - begin >= BATCH_DEFAULTS.itemsMax)) {
      yield indexes.slice(begin, at);
      [begin, bytes] = [at, 0];
    }
    bytes += more;
  }
  if (begin < indexes.length) yield indexes.slice(begin);
}
