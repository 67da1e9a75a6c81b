/**
 * The code service on one node: its engine, its clones, and the repositories it has. It is the composition of the parts beside it, and what the
 * plug-in gives to a node.
 */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { PrepareContext, Prepared } from "@keelson/kernel";
import { auction, type KeelsonNode, type NodeContext, type NodeService, type Tracer } from "@keelson/runtime";
import { AuctionMetrics } from "./auction-metrics.ts";
import { Budget } from "./budget.ts";
import { Caretaker } from "./caretaker.ts";
import { CatalogueShard, type RepositoryStatus } from "./catalogue-shard.ts";
import { RepositoryCatalogue } from "./catalogue.ts";
import { CodeError } from "./code-error.ts";
import { openCtags, type CodeEngine, type SymbolReader } from "./engine/index.ts";
import { Evictor } from "./evictor.ts";
import { FleetFigures, demandOf, tenureOf } from "./fleet-figures.ts";
import { CloneCache, Credentials, SecretSource } from "./git/index.ts";
import type { HeldRepository } from "./held-repository.ts";
import { Leavings } from "./leavings.ts";
import { Limiter } from "./limiter.ts";
import type { RepositoryFigure } from "./metrics.ts";
import { NodeFigures } from "./node-figures.ts";
import { isWorthTelling, type LoadRecord } from "./node-load.ts";
import type { TextMatcher } from "./query/index.ts";
import { CATALOGUE_SHARD, type Repository } from "./repository.ts";
import type { RepositoryPorts } from "./repository-ports.ts";
import { Reservations } from "./reservations.ts";
import { Residence } from "./residence.ts";
import { AnswerMemory } from "./search/answer-memory.ts";
import type { CodeSettings } from "./settings.ts";
import { SnapshotFolder } from "./snapshot-folder.ts";
import { Transfers } from "./transfer.ts";
import { WebhookCheck } from "./webhook-check.ts";
import { whyUnheld } from "./why-unheld.ts";

const SERVICE = "code";
const lookMs = 1_000;
const fleetLooks = 5;
const snapshotLooks = 60;
/** Of what the process takes besides indexes, and of all its memory: what answers may hold. Making and sending them takes some three times as much. */
const answerShare = 1 / 12;
const answerShareOfAll = 1 / 28;
const answerBytesMin = 2 << 20;
/** Of that, besides it: what searches found whose answers wait for memory. */
const foundShare = 1 / 4;
/** A search for every line has a thread for as long as its reader takes: there are six at most, and others want to be answered meanwhile. */
const linesMax = 2;

interface CodeNodeOptions {
  readonly context: Omit<NodeContext<CodeSettings>, "objects">;
  readonly engine: CodeEngine;
  readonly matcher: TextMatcher;
  readonly tracer?: Tracer | undefined;
  /** Of processor time; the process's when left out. */
  readonly cpuMicros?: (() => number) | undefined;
}

export class CodeNode {
  readonly #context: CodeNodeOptions["context"];
  readonly #engine: CodeEngine;
  readonly #budget: Budget;
  readonly #transfers: Transfers;
  readonly #builds: Limiter;
  readonly #answers: AnswerMemory;
  readonly #found: AnswerMemory;
  readonly #held: Residence;
  readonly #reservations: Reservations;
  readonly #ports: RepositoryPorts;
  readonly #figures: NodeFigures;
  readonly #auctionMetrics: AuctionMetrics;
  #node: KeelsonNode | undefined;
  #catalogue: RepositoryCatalogue | undefined;
  #evictor: Evictor | undefined;
  #fleet: FleetFigures | undefined;
  #leavings: Leavings | undefined;
  #symbols: Promise<SymbolReader | undefined> | undefined;
  readonly #webhooks: WebhookCheck;
  #looks = 0;
  #deaths = 0;

  constructor(options: CodeNodeOptions) {
    const { context, engine, matcher, tracer } = options;
    const { config, clock, random, access, metrics } = context;
    this.#context = context;
    this.#engine = engine;
    this.#held = new Residence(config.replicas);
    this.#transfers = new Transfers(clock);
    this.#builds = new Limiter(config.buildsMax);
    const answerBytes = Math.min(config.processMemory * answerShare, config.memory * answerShareOfAll);
    const answerBytesMax = Math.max(answerBytesMin, Math.floor(answerBytes));
    this.#answers = new AnswerMemory(answerBytesMax, clock);
    this.#found = new AnswerMemory(Math.floor(answerBytesMax * foundShare), clock);
    this.#auctionMetrics = new AuctionMetrics(metrics);
    this.#budget = new Budget(
      {
        engine,
        preparedBytes: () => this.#held.bytes(),
        preparedSize: (shard) => this.#held.sizeOf(shard),
        knownSize: (shard) => this.#catalogue?.sizeOf(Number(shard)),
        foundSize: (shard) => this.#foundSize(Number(shard)),
      },
      config.guess,
    );
    this.#reservations = new Reservations({
      clock,
      budgetBytes: this.#budget.budgetBytes,
      preparedBytes: () => this.#held.bytes(),
      usedBytes: () => engine.memory.usedBytes,
      roomBytes: () => engine.memory.roomBytes,
      makeRoom: async (repository, bytes) => (await this.#evictor?.makeRoom(repository, bytes)) ?? false,
      foundSize: (id, bytes, heldBytes) => this.#list.foundSize(id, bytes, heldBytes),
    });
    this.#ports = {
      node: context.node,
      clock,
      random,
      access,
      replicas: config.replicas,
      holder: (id, replica) => tenureOf(this.#node!, `${SERVICE}/${id}/${replica}`)?.node,
      engine,
      matcher,
      answers: this.#answers,
      found: this.#found,
      tracer,
      metrics,
      builds: this.#builds,
      lines: new Limiter(linesMax),
      transfers: this.#transfers,
      clones: new CloneCache({
        folder: join(context.dataFolder, "clones"),
        clonesMax: config.clonesMax,
        timeoutMs: config.gitTimeoutMs,
        now: () => clock.now(),
        mirror: config.mirror,
        credentials: new Credentials(config.credentials, {
          now: () => clock.wall(),
          environment: process.env,
        }),
      }),
      limits: { fileBytesMax: config.fileBytesMax, repositoryBytesMax: config.repositoryBytesMax },
      snapshots: config.snapshots && this.#snapshots(config.snapshots),
      symbols: () => (this.#symbols ??= config.ctags ? openCtags(clock) : Promise.resolve(undefined)),
      pollMs: config.pollMs,
      verifyMs: config.verifyMs,
      row: (id) => this.#list.get(id),
      room: (repository, bytes, own) => this.#reservations.reserve(repository, bytes, own),
      before: (id) =>
        [...this.#list.records(id).values()].find(({ contentBytes }) => contentBytes > 0) ??
        this.#held.largest(),
      foundBytes: (id) => this.#list.foundSizeOf(id)?.bytes,
      foundSize: (id, bytes) => this.#list.foundSize(id, bytes),
      record: (id, replica, epoch, record) => this.#list.record(id, replica, epoch, record),
      log: (message, details) => context.log.info(details, message),
    };
    this.#figures = new NodeFigures({
      clock,
      lookMs,
      look: () => this.#look(),
      cpuMicros: options.cpuMicros,
    });
    const secrets = { now: () => clock.wall(), environment: process.env };
    this.#webhooks = new WebhookCheck(
      config.webhookSecret.map((from) => new SecretSource(from, secrets)),
      clock,
    );
    metrics.set("code_reindex_objective_ms", config.reindexObjectiveMs);
    metrics.set("code_memory_budget_bytes", engine.memory.budgetBytes);
    // Of what is held when they are asked for: what has left is shown no longer.
    metrics.gaugesFrom("memory_bytes", () => this.#ofEach((held) => held.memoryBytes));
    metrics.gaugesFrom("last_served_at", () =>
      this.#ofEach((held) => Math.floor(held.traffic.lastServedAt / 1_000)),
    );
    metrics.gaugesFrom("code_index_lag_ms", () => this.#lags());
  }

  *#ofEach(read: (held: HeldRepository) => number): Generator<RepositoryFigure> {
    for (const held of this.#held) yield* this.#named(held.id, read(held));
  }

  /** Of all that is held by right: what is not ready counts from when that was so. */
  *#lags(): Generator<RepositoryFigure> {
    const now = this.#context.clock.now();
    for (const [replica, since] of this.#fleet?.ours ?? [])
      yield* this.#named(Number(replica.split("/")[0]), this.#held.get(replica)?.lag.ms ?? now - since);
  }

  *#named(id: number, value: number): Generator<RepositoryFigure> {
    const repository = this.#catalogue?.get(id)?.name;
    if (repository !== undefined) yield { labels: { repository }, value };
  }

  /** What a node runs. */
  service(): NodeService {
    const { replicas, auction: terms } = this.#context.config;
    return {
      name: SERVICE,
      catalogued: true,
      parameters: {
        shards: 1,
        shardIds: [CATALOGUE_SHARD],
        replicas,
        placement: { ...terms },
      },
      placement: auction({ service: SERVICE }),
      memory: this.#budget,
      prepare: (context) => this.#prepare(context),
      attach: (node) => this.#attach(node),
      stop: () => this.#stop(),
    };
  }

  get #list(): RepositoryCatalogue {
    if (!this.#catalogue) throw new Error("the service is not attached to a node yet");
    return this.#catalogue;
  }

  #attach(node: KeelsonNode): void {
    const { node: self, clock, random, metrics, config, log } = this.#context;
    const { replicas, zones } = config;
    this.#node = node;
    const catalogue = new RepositoryCatalogue(node.catalogue(SERVICE), { replicas, zones });
    this.#catalogue = catalogue;
    catalogue.onChange((about) => this.#changed(about));
    this.#fleet = new FleetFigures({ node, self, service: SERVICE, catalogue, replicas, clock });
    this.#leavings = new Leavings({
      clock,
      catalogue: node.catalogue(SERVICE),
      replicas,
      isHeld: (replica) => tenureOf(node, replica) !== undefined,
      log: (message, details) => log.info(details, message),
    });
    this.#evictor = new Evictor({
      clock,
      random,
      catalogue,
      metrics,
      terms: { policy: config.evict, idleMs: config.evictIdleMs, residenceMs: config.evictResidenceMs },
      residents: () => this.#held.residents(catalogue, clock.wall()),
      freeBytes: () => this.#budget.freeBytes(),
      leavingBytes: () => this.#held.leavingBytes(catalogue),
      sizeOf: (id) => this.#budget.sizeOf(String(id)),
      demand: () => demandOf(node, SERVICE),
      log: (message, details) => log.info(details, message),
    });
  }

  async #prepare(context: PrepareContext): Promise<Prepared> {
    const { shard, replica } = context;
    if (shard === CATALOGUE_SHARD)
      return new CatalogueShard(
        {
          catalogue: this.#list,
          wall: () => this.#context.clock.wall(),
          status: (rows) => this.#status(rows),
          care: () => this.#care(),
          webhooks: this.#webhooks,
        },
        replica,
      );
    const row = this.#list.get(Number(shard));
    if (!row) throw new CodeError("REPOSITORY_UNKNOWN", `the catalogue has no repository ${shard}`);
    return this.#held.prepare(this.#ports, row, context);
  }

  /** Where all replicas are held, the next commit must fit beside the one before; a replica that nobody holds is built without one, and must not stay out for it. */
  #foundSize(id: number): number | undefined {
    const found = this.#catalogue?.foundSizeOf(id);
    if (found?.besideBytes === undefined) return found?.bytes;
    for (let replica = 0; replica < this.#context.config.replicas; replica++)
      if (!tenureOf(this.#node!, `${SERVICE}/${id}/${replica}`)) return found.bytes;
    return found.besideBytes;
  }

  #changed(about: string): void {
    const [part, id] = about.split("/");
    if (part === "repo") {
      const row = this.#list.get(Number(id));
      const made = /^made room for (.*)$/.exec(row?.reason ?? "")?.[1];
      const other = made === undefined || row?.state !== "resting" ? undefined : this.#list.byName(made);
      if (other) this.#evictor?.noticed(other.id);
      if (!row) this.#ports.snapshots?.forget(Number(id));
      this.#held.rowChanged(Number(id));
    }
    if (part === "poke") this.#held.poked(Number(id));
  }

  #status(rows: readonly Repository[]): RepositoryStatus[] {
    const node = this.#node!;
    const demanded = new Set(demandOf(node, SERVICE)?.replicas.map((replica) => replica.split("/")[1]));
    const budgets = this.#budgets();
    return rows.map((row) => {
      const records = this.#list.records(row.id);
      const why = this.#whyUnheld(row, demanded.has(String(row.id)), budgets);
      return {
        ...row,
        demanded: demanded.has(String(row.id)),
        ...(why === undefined ? {} : { unheld: why }),
        replicas: Array.from({ length: this.#context.config.replicas }, (_, replica) => {
          const tenure = tenureOf(node, `${SERVICE}/${row.id}/${replica}`);
          const record = records.get(replica);
          return {
            replica,
            node: tenure?.node,
            heldSince: tenure?.since,
            index: record && record.node === tenure?.node ? record : undefined,
          };
        }),
      };
    });
  }

  /** What nodes have for indexes. */
  #budgets(): number[] {
    const bidders = this.#node?.auctions.of(SERVICE)?.market.board.bidders.values() ?? [];
    return [...bidders].map(({ value }) => value.budgetBytes);
  }

  #whyUnheld({ id, state }: Repository, demanded: boolean, budgets: readonly number[]): string | undefined {
    if (state !== "active") return undefined;
    const held = Array.from({ length: this.#context.config.replicas }, (_, replica) =>
      tenureOf(this.#node!, `${SERVICE}/${id}/${replica}`),
    ).every((tenure) => tenure !== undefined);
    if (held) return undefined;
    const bytes = this.#budget.sizeOf(String(id));
    const fits = budgets.some((budget) => budget >= bytes);
    return demanded || !fits ? whyUnheld(bytes, budgets) : undefined;
  }

  #care(): () => void {
    const { clock, metrics, config, log } = this.#context;
    const caretaker = new Caretaker({
      clock,
      metrics,
      catalogue: this.#list,
      figures: this.#fleet!,
      sizeOf: (id) => this.#budget.sizeOf(String(id)),
      scale: config.scale,
      lookMs,
      log: (message, details) => log.info(details, message),
    });
    const stopSweeping = this.#leavings!.sweeping();
    return () => {
      caretaker.stop();
      stopSweeping();
    };
  }

  /** Once a second: what the metrics say. */
  #look(): void {
    const { metrics, log } = this.#context;
    const market = this.#node?.auctions.of(SERVICE)?.market;
    if (market) this.#auctionMetrics.look(market);
    metrics.set("code_memory_used_bytes", this.#engine.memory.usedBytes);
    metrics.set("code_process_rss_bytes", process.memoryUsage.rss());
    metrics.set("code_repositories_held", this.#held.size);
    metrics.set("code_builds_running", this.#builds.running);
    metrics.set("code_builds_waiting", this.#builds.waiting);
    const { deaths, dead } = this.#engine.threads;
    if (deaths > this.#deaths)
      log.error({ deaths: deaths - this.#deaths, dead }, "searching threads died, and are started again");
    metrics.count("code_search_thread_deaths_total", {}, deaths - this.#deaths);
    this.#deaths = deaths;
    metrics.set("code_search_threads_dead", dead);
    metrics.set("code_answers_bytes", this.#answers.heldBytes);
    metrics.set("code_answers_waiting", this.#answers.waiting + this.#found.waiting);
    // Not at once: it takes a moment until the catalogue is known.
    if (this.#looks % snapshotLooks === snapshotLooks - 1 && this.#list.revision > 0)
      this.#ports.snapshots?.tidy();
    const figures = this.#fleet;
    if (!figures || this.#looks++ % fleetLooks !== 0) return;
    void this.#tellLoad();
    metrics.set("code_repositories_unclaimed", figures.unclaimed.size);
    metrics.set("code_repositories_demanded", figures.demand?.count ?? 0);
    metrics.set("code_repositories_resting", figures.resting.size);
    metrics.set("code_fleet_saturation", figures.saturation);
  }

  async #tellLoad(): Promise<void> {
    const { clock, node, log } = this.#context;
    const cpu = this.#figures.cpu();
    const load: LoadRecord = { v: 1, cpu, processors: availableParallelism(), at: clock.wall() };
    if (!isWorthTelling(this.#list.loads.get(node), load)) return;
    try {
      await this.#list.load(node, load);
    } catch (error) {
      // It is told again in a while.
      log.debug({ why: String(error) }, "how busy this node is was not told");
    }
  }

  #snapshots({ bytesMin, bytesMax }: NonNullable<CodeSettings["snapshots"]>): SnapshotFolder {
    const { dataFolder, log, clock } = this.#context;
    return new SnapshotFolder({
      folder: join(dataFolder, "snapshots"),
      bytesMin,
      bytesMax,
      wall: () => clock.wall(),
      held: (id) => this.#held.sizeOf(id) !== undefined,
      url: (id) => this.#list.get(id)?.url,
      failed: (why) => log.warn({ why }, "an index was not kept on disk"),
    });
  }

  async #stop(): Promise<void> {
    this.#figures.stop();
    this.#evictor?.stop();
    this.#fleet?.stop();
    this.#leavings?.stop();
    this.#catalogue?.stop();
    this.#transfers.stop();
    await this.#held.close();
    this.#ports.clones.close();
    (await this.#symbols)?.close();
    await this.#engine.close();
  }
}
