/**
 * The queue of one shard, durable: commands go to the engine, its records to the journal, and answers back when they are safe. Checkpoints are taken on the way,
 * and finished jobs move to pages, where they can still be found. When the journal fails it stops for good: whoever opens the shard next has all that was
 * acknowledged.
 */
import type { Clock, Epoch, Random, Timer } from "@keelson/kernel";
import type { Objects } from "@keelson/objects";
import type { StoredJob } from "../engine/codec/stored-job.ts";
import type { Engine } from "../engine/engine.ts";
import type { Answer, Command, CommandKind, JobName } from "../engine/model/command.ts";
import type { Effect } from "../engine/model/effect.ts";
import {
  ENGINE_DEFAULTS,
  type CronAlgorithm,
  type EngineTerms,
  type Instant,
  type RateAlgorithm,
} from "../engine/model/ports.ts";
import type { JobView } from "../engine/model/views.ts";
import { jobKey } from "../engine/state/state.ts";
import { viewStored } from "../engine/views/job-view.ts";
import { Overview, type RecentQuery } from "../engine/views/overview.ts";
import { mergePages, placeOfView, type ListPage } from "../engine/views/list-page.ts";
import { Queries, type ListQuery } from "../engine/views/queries.ts";
import { Checkpointer } from "./checkpointer.ts";
import { Commits } from "./commits.ts";
import { JobsError } from "./errors.ts";
import type { FinishedJobs, RunShape } from "./finished/finished-jobs.ts";
import type { Manifest } from "./manifest.ts";
import type { NodeJournal } from "./node-journal.ts";
import type { Pages } from "./pages.ts";
import { recover, type Recovered } from "./recovery.ts";

export interface QueueTerms {
  /** A checkpoint is taken after so many bytes of records, or so many jobs that ended, but not sooner than so long after the last one failed. */
  readonly checkpointBytes: number;
  readonly checkpointFinished: number;
  readonly checkpointRetryMs: number;
  /** Commands wait while so much is on its way to the journal; so many may wait. */
  readonly inflightBytesMax: number;
  readonly waitingMax: number;
}

const QUEUE_DEFAULTS: QueueTerms = {
  checkpointBytes: 32 * 1024 * 1024,
  checkpointFinished: 20_000,
  checkpointRetryMs: 5000,
  inflightBytesMax: 4 * 1024 * 1024,
  waitingMax: 100_000,
};

/** Each has a page in memory, taken apart, which is a hundred kilobytes and more. */
const LOOKUPS_AT_ONCE = 64;

/** Tenants whose ended jobs are looked at for what happened last. */
const RECENT_TENANTS_MAX = 50;

export interface DurableQueueOptions {
  readonly shard: string;
  readonly epoch: Epoch;
  readonly pages: Pages;
  readonly journal: NodeJournal;
  readonly objects: Objects;
  readonly clock: Clock;
  readonly random: Random;
  /** Undefined: an outside limiter is asked by `checkRate` effects. */
  readonly rates: RateAlgorithm | undefined;
  readonly cron: CronAlgorithm;
  readonly terms?: Partial<EngineTerms> | undefined;
  readonly queueTerms?: Partial<QueueTerms> | undefined;
  /** Tenants that are the shard's; all when left out. What a split left of others is not loaded. */
  readonly keep?: ((tenant: string) => boolean) | undefined;
}

export interface QueueStats {
  readonly finishedInPages: number;
  readonly runs: number;
  readonly checkpoints: number;
  readonly checkpointFailures: number;
  readonly replayedRecords: number;
  readonly recordBytes: number;
}

/** How what the queue keeps is laid out. */
export interface StorageView {
  /** Journals with records that no checkpoint has. */
  readonly journals: number;
  /** Of this tenure's records since the last checkpoint. */
  readonly journalBytes: number;
  readonly runs: readonly RunShape[];
}

export class DurableQueue {
  readonly queries: Queries;
  readonly overview: Overview;
  /** Called in order, after what they speak of is durable. */
  onEffects: (effects: readonly Effect[]) => void = () => {};
  /** Called at once when a group has something that may run, before that is durable: what is leased now becomes durable in the same flush. */
  onReady: (group: string) => void = () => {};
  /** Called once when the queue stops by itself. */
  onFailure: (error: unknown) => void = () => {};
  readonly #options: DurableQueueOptions;
  readonly #terms: QueueTerms;
  readonly #retentionMs: number;
  readonly #engine: Engine;
  readonly #finished: FinishedJobs;
  readonly #commits: Commits;
  readonly #checkpointer: Checkpointer;
  readonly #replayed: number;
  #failure: JobsError | undefined;
  /** Commands that wait for a lookup or for the journal, in order. */
  #line: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #evictions = 0;
  #frozen = false;
  #timer: Timer | undefined;
  #timerAtMs = Infinity;
  #checkpointFailures = 0;
  #noCheckpointBeforeMs = 0;

  private constructor(options: DurableQueueOptions, terms: EngineTerms, recovered: Recovered) {
    const { clock, journal, shard, epoch, pages } = options;
    const { engine, finished, manifest, versions, stale, stream, replayed } = recovered;
    this.#options = options;
    this.#terms = { ...QUEUE_DEFAULTS, ...options.queueTerms };
    this.#retentionMs = terms.retentionMs;
    this.#engine = engine;
    this.#finished = finished;
    this.#replayed = replayed;
    this.queries = new Queries(engine.state, terms.retentionMs);
    this.overview = new Overview(engine.state, terms.retentionMs);
    this.#commits = new Commits({
      stream,
      room: journal.room,
      onEffects: (effects) => this.onEffects(effects),
      onFailure: (error) => this.#fail(error),
    });
    this.#checkpointer = new Checkpointer({
      engine,
      pages,
      commits: this.#commits,
      finished,
      manifest,
      versions,
      stale,
      tail: { journal: journal.name, epoch },
      wallMs: () => clock.wall(),
      pause: () => new Promise((resolve) => void clock.after(0, resolve)),
      onEvict: () => void (this.#evictions += 1),
      onPassed: async (from, released) => {
        journal.passed(shard, from);
        await Promise.all(released.map((name) => journal.release(name, shard)));
        await journal.trim();
      },
    });
    this.#arm();
  }

  static async open(options: DurableQueueOptions): Promise<DurableQueue> {
    const { rates, cron } = options;
    const terms = { ...ENGINE_DEFAULTS, ...options.terms };
    const recovered = await recover({ ...options, terms, ports: { rates, cron } });
    return new DurableQueue(options, terms, recovered);
  }

  /** Why it has stopped; undefined while it has not. */
  get failure(): JobsError | undefined {
    return this.#failure;
  }

  get stats(): QueueStats {
    return {
      finishedInPages: this.#finished.size,
      runs: this.#finished.runIds.length,
      checkpoints: this.#checkpointer.manifest.checkpoint,
      checkpointFailures: this.#checkpointFailures,
      replayedRecords: this.#replayed,
      recordBytes: this.#commits.bytes,
    };
  }

  get storage(): StorageView {
    const { manifest, bytesAtLast } = this.#checkpointer;
    return {
      journals: new Set(manifest.tails.map(({ journal }) => journal)).size,
      journalBytes: this.#commits.bytes - bytesAtLast,
      runs: this.#finished.shape,
    };
  }

  get manifest(): Manifest {
    return this.#checkpointer.manifest;
  }

  /** Resolves with the answer once it is durable. Rejects with a JobsError. */
  execute<K extends CommandKind>(command: Command<K>): Promise<Answer<K>> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#frozen) return Promise.reject(new JobsError("JOBS_CLOSED", "the shard is being split"));
    const atOnce = this.#waiting === 0 && this.#hasRoom && !this.#mustLookUp(command as Command);
    if (!atOnce) return this.#applyInTurn(command);
    try {
      return this.#apply(command, []);
    } catch (error) {
      // A mistake of the engine's is told to whoever asked, and not to whoever happened to be under way.
      return Promise.reject(error instanceof Error ? error : new Error(String(error)));
    }
  }

  async get(name: JobName): Promise<JobView | undefined> {
    await this.#commits.durable;
    const view = this.queries.get(name);
    if (view !== undefined || this.#engine.state.forgotten.has(jobKey(name))) return view;
    const stored = await this.#finished.get(name, this.#options.clock.wall());
    return stored === undefined ? undefined : viewStored(stored, this.#retentionMs);
  }

  /** Active and finished jobs, newest change first: as many as one look finds. */
  async list(query: ListQuery): Promise<readonly JobView[]> {
    return (await this.page(query)).jobs;
  }

  /** The same, and where the next look begins. */
  async page(query: ListQuery): Promise<ListPage> {
    await this.#commits.durable;
    const { state } = this.#engine;
    let stored: ListPage<StoredJob>;
    let evictions: number;
    do {
      evictions = this.#evictions;
      // oxlint-disable-next-line no-await-in-loop -- again when jobs left memory meanwhile: they could be in neither.
      stored = await this.#finished.list(query, this.#options.clock.wall());
    } while (evictions !== this.#evictions);
    const active = this.queries.list(query);
    const last = active.length < query.limit ? undefined : active.at(-1);
    const old = stored.jobs.filter(
      (job) => state.find(job.tenant, job.id) === undefined && !state.forgotten.has(jobKey(job)),
    );
    const pages = [
      { jobs: active, next: last && placeOfView(last) },
      { jobs: old.map((job) => viewStored(job, this.#retentionMs)), next: stored.next },
    ];
    return mergePages(pages, query.limit, placeOfView);
  }

  /** Of all tenants, newest change first. When memory has too few, ended jobs of so many tenants are looked at. */
  async recent(query: RecentQuery, keep: (tenant: string) => boolean): Promise<readonly JobView[]> {
    await this.#commits.durable;
    const inMemory = this.overview.recent(query);
    if (inMemory.length >= query.limit) return inMemory;
    const tenants = (await this.tenantsWithEnded(RECENT_TENANTS_MAX)).filter(keep);
    const lists = await Promise.all(tenants.map((tenant) => this.list({ ...query, tenant })));
    const views = new Map(
      [...inMemory, ...lists.flat()].map((view) => [`${view.spec.tenant}\0${view.spec.id}`, view]),
    );
    return mergePages([{ jobs: [...views.values()] }], query.limit, placeOfView).jobs;
  }

  /** Tenants of which pages hold jobs, by name. */
  tenantsWithEnded(limit: number): Promise<readonly string[]> {
    return this.#finished.tenants(limit);
  }

  /** Every job there is, once, active ones first. Jobs that change meanwhile are shown as they were or as they are; those that come meanwhile may be left out. */
  async *everyJob(): AsyncGenerator<JobView> {
    await this.#commits.durable;
    const { state } = this.#engine;
    const { wallMs } = state;
    // What memory held at some moment: it may be in pages, or back in memory, when that is read.
    const shown = new Set<string>();
    yield* this.#everyActive(shown, Infinity);
    for await (const job of this.#finished.all(this.#options.clock.wall())) {
      const key = jobKey(job);
      if (!shown.has(key) && state.find(job.tenant, job.id) === undefined && !state.forgotten.has(key))
        yield viewStored(job, this.#retentionMs);
    }
    yield* this.#everyActive(shown, wallMs);
  }

  /** Those that are in `shown` are not shown again. */
  *#everyActive(shown: Set<string>, untilMs: number): Generator<JobView> {
    for (const { name, jobs } of this.#engine.state.tenants.values())
      for (const id of jobs.keys()) {
        const key = jobKey({ tenant: name, id });
        const view = shown.has(key) ? undefined : this.queries.get({ tenant: name, id });
        if (view === undefined || view.enqueuedAtMs > untilMs) continue;
        shown.add(key);
        yield view;
      }
  }

  /** Takes no more commands, and puts everything into a checkpoint: nothing changes from then on, not even by time. */
  async freeze(): Promise<void> {
    this.#frozen = true;
    this.#timer?.cancel();
    await this.#line;
    // One that runs may have begun before the last command.
    if (this.#checkpointer.running) await this.#checkpointer.run();
    await this.checkpoint();
  }

  /** Goes on after all. */
  thaw(): void {
    this.#frozen = false;
    this.#timerAtMs = Infinity;
    this.#arm();
  }

  checkpoint(): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return this.#checkpointer.run();
  }

  /** Lets go without a last checkpoint. What was answered is durable; commands under way are answered as they can be. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#failure ??= new JobsError("JOBS_CLOSED", `the queue of shard ${this.#options.shard} was closed`);
    // Whoever waits for either is told how it ended. Here it only must be over: what a failed checkpoint left out is in the journal.
    await this.#commits.durable?.catch(() => {});
    if (this.#checkpointer.running) await this.#checkpointer.run().catch(() => {});
    this.#options.journal.leave(this.#options.shard);
    await this.#options.pages.close();
  }

  #apply<K extends CommandKind>(command: Command<K>, recalled: readonly StoredJob[]): Promise<Answer<K>> {
    const { records, answer, effects } = this.#engine.apply(command, this.#now(), recalled);
    this.#commits.commit(records, effects);
    this.#arm();
    if (records.length > 0) this.#considerCheckpoint();
    const { durable } = this.#commits;
    const answered = durable === undefined ? Promise.resolve(answer) : this.#whenDurable(durable, answer);
    for (const effect of effects) if (effect.kind === "ready") this.onReady(effect.group);
    return answered;
  }

  async #whenDurable<T>(durable: Promise<number>, answer: T): Promise<T> {
    try {
      await durable;
    } catch (error) {
      throw this.#unknown(error);
    }
    return answer;
  }

  /** Behind all that wait already, so that one caller's commands stay in order. */
  #applyInTurn<K extends CommandKind>(command: Command<K>): Promise<Answer<K>> {
    if (this.#waiting >= this.#terms.waitingMax)
      return Promise.reject(
        new JobsError("JOBS_OVERLOADED", `${this.#waiting} commands wait for the journal`),
      );
    this.#waiting += 1;
    const turn = this.#line.then(async () => {
      try {
        while (!this.#hasRoom && this.#failure === undefined)
          // oxlint-disable-next-line no-await-in-loop -- until there is room.
          await (this.#commits.durable ?? this.#options.journal.room.opened()).catch(() => {});
        const recalled = await this.#lookUp(command as Command);
        if (this.#failure !== undefined) throw this.#failure;
        return { answer: this.#apply(command, recalled) };
      } finally {
        this.#waiting -= 1;
      }
    });
    // The next in line need not wait for this one to be durable, and does not care how it ended.
    this.#line = turn.catch(() => {});
    return turn.then(({ answer }) => answer);
  }

  /** Of its own and of the node's: what other shards send comes first, if they came first. */
  get #hasRoom(): boolean {
    return this.#commits.inflightBytes < this.#terms.inflightBytesMax && this.#options.journal.room.isOpen;
  }

  #mustLookUp(command: Command): boolean {
    if (this.#finished.isEmpty) return false;
    return this.#engine.needs(command, this.#mayBeFinished).length > 0;
  }

  readonly #mayBeFinished = (name: JobName): boolean =>
    this.#finished.mayHold(name) && !this.#engine.state.forgotten.has(jobKey(name));

  /** Jobs that the command needs and that have left memory. Again, when jobs left memory while it looked. */
  async #lookUp(command: Command): Promise<StoredJob[]> {
    for (;;) {
      const evictions = this.#evictions;
      const names = this.#engine.needs(command, this.#mayBeFinished);
      const { clock } = this.#options;
      const found: (StoredJob | undefined)[] = [];
      for (let at = 0; at < names.length; at += LOOKUPS_AT_ONCE) {
        const some = names.slice(at, at + LOOKUPS_AT_ONCE);
        // oxlint-disable-next-line no-await-in-loop -- so many at once and no more.
        found.push(...(await Promise.all(some.map((name) => this.#finished.get(name, clock.wall())))));
      }
      if (evictions === this.#evictions)
        return found.filter(
          (job) => job !== undefined && !this.#engine.state.forgotten.has(jobKey(job)),
        ) as StoredJob[];
    }
  }

  #now(): Instant {
    const { clock } = this.#options;
    return { wallMs: clock.wall(), monoMs: clock.now() };
  }

  /** Has the engine woken when something falls due. */
  #arm(): void {
    const now = this.#now();
    const waitMs = this.#engine.waitMs(now);
    if (waitMs === undefined || this.#failure !== undefined || this.#frozen) return;
    const atMs = now.monoMs + waitMs;
    if (atMs >= this.#timerAtMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = atMs;
    this.#timer = this.#options.clock.after(waitMs, () => {
      this.#timerAtMs = Infinity;
      if (this.#failure !== undefined || this.#frozen) return;
      // What time brings about has to wait for room too. Whoever fails here is told as below.
      if (!this.#hasRoom)
        return void (this.#commits.durable ?? this.#options.journal.room.opened()).then(
          () => this.#arm(),
          () => {},
        );
      // Whoever fails here fails everybody: `onFailure` tells.
      this.#apply({ kind: "tick" }, []).catch(() => {});
    });
  }

  #considerCheckpoint(): void {
    const { checkpointBytes, checkpointFinished } = this.#terms;
    const due =
      this.#commits.bytes - this.#checkpointer.bytesAtLast >= checkpointBytes ||
      this.#engine.state.finished.size >= checkpointFinished;
    if (!due || this.#checkpointer.running) return;
    const now = this.#options.clock.now();
    if (now < this.#noCheckpointBeforeMs) return;
    this.#checkpointer.run().catch(() => {
      // The journal still has everything; the next one will be tried later, and `stats` tells.
      this.#checkpointFailures += 1;
      this.#noCheckpointBeforeMs = this.#options.clock.now() + this.#terms.checkpointRetryMs;
    });
  }

  #fail(error: unknown): void {
    this.#failure ??= this.#unknown(error);
    this.#timer?.cancel();
    this.onFailure(error);
  }

  #unknown(error: unknown): JobsError {
    const reason = error instanceof Error ? error.message : String(error);
    return new JobsError("JOBS_UNKNOWN", `the queue of shard ${this.#options.shard} has stopped: ${reason}`, {
      cause: error,
    });
  }
}
