/**
 * A shard of the job queue as the fleet sees it: requests come in, go to the durable queue, and are answered once what they did is durable; streams push tasks,
 * results and events. It knows its range of tenants and refuses others. Decisions are the engine's, durability is the queue's.
 */
import type { Clock, Shard, ShardRequest, ShardStats } from "@keelson/kernel";
import type { Ack, AckAnswer, BeatAsk, EventsOpen, ResultsOpen, WorkOpen } from "./protocol.ts";
import {
  JOB_LIMITS,
  type Command,
  type Effect,
  type JobName,
  type JobView,
  type ListQuery,
  type RecentQuery,
  type TenantView,
} from "../engine/index.ts";
import { Limiter } from "../gubernator/limiter.ts";
import type { RateLimitRequest } from "../gubernator/rate-limit.ts";
import type { DurableQueue } from "../storage/durable-queue.ts";
import { bytesOfView, fittingPage, fittingView, fittingViews } from "./answer-room.ts";
import { dumpJob, type DumpLine } from "./dump.ts";
import { History } from "./history.ts";
import { unpackJobs, type Add } from "./packed/jobs.ts";
import { unpackReports } from "./packed/reports.ts";
import { ProgressBoard } from "./progress.ts";
import { hex, isWithin, tenantPlace, type ShardRange } from "./ranges.ts";
import { QueryDesk, type QueryAsk } from "./query-desk.ts";
import { ShardFailure } from "./shard-failure.ts";
import { halvesOf, splitFrozen, type Halves, type SplitPorts } from "./splitting.ts";
import { bodyOf, commandOf } from "./shapes.ts";
import { WatchDesk } from "./watch-desk.ts";
import { WorkDesk } from "./work-desk.ts";

const KNOWN_MAX = 100_000;
/** In one item of a dump. */
const DUMP_LINES = 500;
const DUMP_BYTES = 1024 * 1024;
/** How long a split waits for workers to read what was leased to them. What they have not read by then waits until its lease runs out. */
const QUIET_MS = 1_000;
const NO_JOBS = { scheduled: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 };

export interface JobsShardOptions {
  readonly range: ShardRange;
  readonly queue: DurableQueue;
  readonly clock: Clock;
  /** Told of everything that became durable, for metrics. */
  readonly onEffects?: (effects: readonly Effect[]) => void;
  /** The tenure has ended. */
  readonly onClose?: () => void;
  /** What a split needs of the node. */
  readonly split?: SplitPorts | undefined;
}

export class JobsShard implements Shard {
  readonly range: ShardRange;
  readonly queue: DurableQueue;
  readonly #options: JobsShardOptions;
  readonly #work: WorkDesk;
  readonly #watch: WatchDesk;
  readonly #progress = new ProgressBoard();
  readonly #history: History;
  readonly #query: QueryDesk;
  #splitting = false;
  /** Tenants that were found to be in range, because hashing costs more than looking. */
  readonly #known = new Set<string>();
  /** Gubernator's limits that are asked for by name; those of jobs are the engine's. */
  readonly #limiter = new Limiter();

  constructor(options: JobsShardOptions) {
    const { queue, range, clock } = options;
    const wallMs = (): number => clock.wall();
    this.#options = options;
    this.range = range;
    this.queue = queue;
    this.#work = new WorkDesk(queue);
    this.#watch = new WatchDesk(queue, wallMs);
    this.#history = new History(wallMs, (name) => queue.queries.get(name));
    const holds = (tenant: string): boolean => this.#holds(tenant);
    this.#query = new QueryDesk({ shard: range.id, queue, clock, holds });
    queue.onReady = (group) => this.#work.ready(group);
    queue.onEffects = (effects) => {
      this.#work.effects(effects);
      this.#watch.effects(effects);
      this.#progress.effects(effects);
      this.#history.effects(effects);
      options.onEffects?.(effects);
    };
  }

  async handle({ method, body }: ShardRequest): Promise<unknown> {
    if (this.#splitting)
      throw new ShardFailure("SPLITTING", "the shard is being split: ask again in a moment");
    switch (method) {
      case "execute":
        return this.#execute(commandOf(body));
      case "add":
        return this.#add(bodyOf<Add>("add", body));
      case "ack":
        return this.#ack(bodyOf<Ack>("ack", body));
      case "beat":
        return this.#beat(bodyOf<BeatAsk>("beat", body));
      case "get":
        return this.#get(this.#inRange(bodyOf<JobName>("name", body)));
      case "list":
        return fittingPage(await this.queue.page(this.#inRange(bodyOf<ListQuery>("list", body))));
      case "tenant": {
        const { tenant } = this.#inRange(bodyOf<{ tenant: string }>("tenant", body));
        const { queries } = this.queue;
        return { ...this.queue.overview.tenant(tenant), limits: queries.limits(tenant) };
      }
      case "tenants":
        return this.#tenants(bodyOf<{ limit: number; prefix?: string }>("tenants", body));
      case "schedules": {
        const { limit, tenant } = bodyOf<{ limit: number; tenant?: string }>("schedules", body);
        return this.queue.overview.schedules(limit, tenant);
      }
      case "recent":
        return fittingViews(
          await this.queue.recent(bodyOf<RecentQuery>("recent", body), (tenant) => this.#holds(tenant)),
        );
      case "history":
        return this.#history.since(bodyOf<{ fromMs: number }>("history", body).fromMs);
      case "groups":
        return this.queue.queries.groups();
      case "stats":
        return { ...this.queue.queries.stats(), ...this.queue.stats };
      case "storage":
        return this.queue.storage;
      case "leaseWorker": {
        const { task } = bodyOf<{ task: number }>("task", body);
        return this.queue.queries.leases().find((lease) => lease.task === task)?.worker;
      }
      case "rates": {
        const { requests } = bodyOf<{ requests: readonly RateLimitRequest[] }>("rates", body);
        const nowMs = this.#options.clock.wall();
        return requests.map((request) => this.#limiter.check(request, nowMs));
      }
      case "split":
        return this.#split(bodyOf<{ at?: string }>("split", body).at);
      case "checkpoint":
        return this.queue.checkpoint();
      default:
        throw new ShardFailure("NO_METHOD", `a shard of the job queue has no method ${method}`);
    }
  }

  stream({ method, body, signal }: ShardRequest): AsyncIterable<unknown> {
    if (this.#splitting)
      throw new ShardFailure("SPLITTING", "the shard is being split: ask again in a moment");
    switch (method) {
      case "work":
        return this.#work.open(bodyOf<WorkOpen>("work", body), signal);
      case "results": {
        const open = bodyOf<ResultsOpen>("results", body);
        for (const name of open.jobs) this.#inRange(name);
        return this.#watch.results(open, signal);
      }
      case "events":
        return this.#watch.events(bodyOf<EventsOpen>("events", body), signal);
      case "dump":
        return this.#dump(bodyOf<{ prefix: string }>("dump", body).prefix);
      case "query":
        return this.#query.run(bodyOf<QueryAsk>("query", body));
      default:
        throw new ShardFailure("NO_METHOD", `a shard of the job queue has no stream ${method}`);
    }
  }

  stats(): ShardStats {
    return { load: this.#work.sessions };
  }

  /** Tasks that no worker has heard of go back while that can be written: otherwise they would wait at the successor until their leases run out. */
  drain(deadlineMs: number): Promise<void> {
    return this.#endWork(Math.min(deadlineMs, QUIET_MS));
  }

  async close(): Promise<void> {
    this.#options.onClose?.();
    this.#work.close();
    this.#watch.close();
    await this.queue.close();
  }

  #execute(command: Command): Promise<unknown> {
    if ("jobs" in command && command.jobs.length > JOB_LIMITS.batchJobsMax)
      throw new ShardFailure("INVALID", `a batch has at most ${JOB_LIMITS.batchJobsMax} jobs`);
    for (const tenant of tenantsOf(command)) this.#inRange({ tenant });
    return this.queue.execute(command);
  }

  #add(add: Add): Promise<unknown> {
    const jobs = unpacked("add", () => unpackJobs(add));
    let known: string | undefined;
    for (const job of jobs) if (job.tenant !== known) known = this.#inRange(job).tenant;
    return this.queue.execute({ kind: "add", jobs });
  }

  /** Reports and the lease that their credit pays for go into the same flush. */
  async #ack({ session, worker, reports, credit }: Ack): Promise<AckAnswer> {
    const answer =
      reports.length === 0
        ? []
        : this.queue.execute({
            kind: "ack",
            worker,
            reports: unpacked("ack", () => unpackReports(reports)),
          });
    this.#work.credit(session, credit);
    return (await answer).map(([index, { refused, message }]) => [index, refused, message]);
  }

  #beat({ worker, tasks, progress = [] }: BeatAsk): Promise<unknown> {
    for (const { tenant, id, group, progress: said } of progress) {
      this.#progress.set({ tenant, id }, said);
      this.#watch.progress({ tenant, id }, group, said);
    }
    return this.queue.execute({ kind: "heartbeat", worker, tasks });
  }

  /** `at` is a place in hexadecimal. */
  async #split(at: string | undefined): Promise<Halves> {
    const { split } = this.#options;
    if (split === undefined) throw new ShardFailure("WRONG_STATE", "this shard cannot be split");
    const halves = halvesOf(this.range, at === undefined ? undefined : BigInt(`0x${at}`));
    this.#splitting = true;
    this.#watch.close();
    try {
      await this.#endWork(QUIET_MS);
      await this.queue.freeze();
      await splitFrozen(this.range, halves, split);
      return halves;
    } catch (error) {
      this.queue.thaw();
      this.#splitting = false;
      throw error;
    }
  }

  /** Ends the streams to workers, and waits so long for what was leased for them to leave or to be given back. */
  #endWork(waitMs: number): Promise<void> {
    this.#work.close();
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(waitMs, resolve);
      void this.#work.quiet().then(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** Those in memory first, then those of which only ended jobs are left. */
  async #tenants({ limit, prefix = "" }: { limit: number; prefix?: string }): Promise<readonly TenantView[]> {
    const found = [...this.queue.overview.tenants(limit, prefix)];
    const seen = new Set(found.map(({ tenant }) => tenant));
    if (found.length < limit)
      for (const tenant of await this.queue.tenantsWithEnded(limit))
        if (tenant.startsWith(prefix) && this.#holds(tenant) && !seen.has(tenant))
          found.push({ tenant, weight: 1, paused: false, schedules: 0, jobs: NO_JOBS });
    return found.slice(0, limit);
  }

  async #get(name: JobName): Promise<(JobView & { readonly progress?: unknown }) | undefined> {
    const found = await this.queue.get(name);
    const view = found && fittingView(found);
    const progress = this.#progress.get(name);
    return view === undefined || progress === undefined ? view : { ...view, progress };
  }

  async *#dump(prefix: string): AsyncGenerator<readonly DumpLine[], void> {
    const leases = new Map(
      this.queue.queries.leases().map((lease) => [`${lease.tenant}\n${lease.id}`, lease]),
    );
    let lines: DumpLine[] = [];
    let bytes = 0;
    for await (const found of this.queue.everyJob()) {
      // What a split left of the other half.
      if (!this.#holds(found.spec.tenant)) continue;
      const view = fittingView(found);
      for (const line of dumpJob(view, leases.get(`${view.spec.tenant}\n${view.spec.id}`)))
        if (line.key.startsWith(prefix)) lines.push(line);
      bytes += bytesOfView(view);
      if (lines.length < DUMP_LINES && bytes < DUMP_BYTES) continue;
      yield lines;
      [lines, bytes] = [[], 0];
    }
    if (lines.length > 0) yield lines;
  }

  #inRange<T extends { readonly tenant: string }>(name: T): T {
    if (this.#holds(name.tenant)) return name;
    const place = hex(tenantPlace(name.tenant));
    throw new ShardFailure(
      "NOT_IN_RANGE",
      `tenant ${JSON.stringify(name.tenant.slice(0, 64))} (${place}) is not within shard ${this.range.id} range`,
    );
  }

  #holds(tenant: string): boolean {
    if (this.#known.has(tenant)) return true;
    if (!isWithin(this.range, tenant)) return false;
    // What is longer is nobody's name: the engine refuses it, and it must not be kept here.
    if (tenant.length > JOB_LIMITS.tenantCharsMax) return true;
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.add(tenant);
    return true;
  }
}

function tenantsOf(command: Command): Iterable<string> {
  switch (command.kind) {
    case "enqueue":
    case "import":
      return command.jobs.map(({ tenant }) => tenant);
    case "putSchedule":
      return [command.schedule.tenant];
    default:
      return "tenant" in command ? [command.tenant] : [];
  }
}

/** What cannot be taken apart was damaged by whoever sent it. */
function unpacked<T>(what: string, unpack: () => T): T {
  try {
    return unpack();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ShardFailure("INVALID", `${what} cannot be read: ${error.message}`);
  }
}
