/**
 * One replica of a repository on this node: gets its index (from a node that has it, from disk, or from git), serves it, and keeps it at the newest
 * commit. A new commit is built beside the one that is served and swapped in whole. A repository that cannot be fetched is held all the same: it
 * answers why, and is tried again.
 */
import type { Epoch, Prepared, Shard, Timer } from "@keelson/kernel";
import { RouterError, type Span } from "@keelson/runtime";
import { expectedBytes } from "./budget.ts";
import { build, type Built } from "./build.ts";
import { CodeError } from "./code-error.ts";
import { CommitTrace } from "./commit-trace.ts";
import { EngineError, type CodeIndex } from "./engine/index.ts";
import { GitError, noBranch, type Head } from "./git/index.ts";
import { IndexLag } from "./index-lag.ts";
import { indexRecordOf } from "./index-record.ts";
import type { IndexRecord, Repository } from "./repository.ts";
import type { RepositoryPorts } from "./repository-ports.ts";
import { RepositoryShard } from "./shard.ts";
import { beginReceiving } from "./transfer.ts";
import { Traffic } from "./traffic.ts";

export interface Current {
  readonly index: CodeIndex;
  readonly heads: readonly Head[];
  readonly indexedAt: number;
  readonly buildMs: number;
  readonly how: IndexRecord["how"];
  /** Paths that are other repositories, and not searched. */
  readonly submodules: number;
}

export interface Problem {
  readonly code: string;
  readonly message: string;
}

/** Times that an index is asked for which did not arrive whole, before it is built here. */
const receiveTriesMax = 3;
const recordEveryMs = 30_000;
/** What is asked for instead of room that turned out to be too little. */
const moreShare = 1.25;
const retryFirstMs = 1_000;

export class HeldRepository implements Prepared {
  readonly id: number;
  readonly replica: number;
  readonly traffic = new Traffic();
  readonly lag: IndexLag;
  /** Wall clock. */
  readonly since: number;
  readonly #ports: RepositoryPorts;
  readonly #ending = new AbortController();
  readonly ending: AbortSignal = this.#ending.signal;
  #current: Current | undefined;
  #problem: Problem | undefined;
  #epoch: Epoch | undefined;
  #timer: Timer | undefined;
  #refreshing: Promise<void> | undefined;
  #again = false;
  #failures = 0;
  /** Branches that are wanted and not there. */
  #missing: readonly string[] = [];
  /** The patterns of branches that were last looked for. */
  #branches: readonly string[] | undefined;
  #verifiedAt: number;
  #recordedAt = -Infinity;
  /** Whether what was told last was taken. */
  #telling: Promise<boolean> = Promise.resolve(true);
  readonly #trace: CommitTrace;
  /** What the commit that was last looked at was thought to take. */
  #expectedBytes = 0;

  private constructor(ports: RepositoryPorts, { id, name, trace }: Repository, replica: number) {
    this.#ports = ports;
    this.id = id;
    this.replica = replica;
    this.#trace = new CommitTrace(ports.tracer, name, trace);
    this.since = ports.clock.wall();
    this.lag = new IndexLag(() => ports.clock.now());
    this.#verifiedAt = ports.clock.now();
  }

  /** Rejects when this node cannot have it, as opposed to when the repository cannot be had. */
  static async prepare(
    ports: RepositoryPorts,
    repository: Repository,
    replica: number,
    context: { readonly signal: AbortSignal; readonly progress: (fraction: number) => void },
  ): Promise<HeldRepository> {
    const held = new HeldRepository(ports, repository, replica);
    const end = (): void => held.#ending.abort();
    context.signal.addEventListener("abort", end, { once: true });
    try {
      await held.#first(repository, context.progress);
    } catch (error) {
      held.#trace.end(String(error));
      throw error;
    } finally {
      context.signal.removeEventListener("abort", end);
    }
    return held;
  }

  get current(): Current | undefined {
    return this.#current;
  }

  get problem(): Problem | undefined {
    return this.#problem;
  }

  get memoryBytes(): number {
    return this.#current?.index.stats.memoryBytes ?? 0;
  }

  /** The row as it is now. */
  get repository(): Repository {
    const row = this.#ports.row(this.id);
    if (!row) throw new CodeError("REPOSITORY_UNKNOWN", `repository ${this.id} was removed`);
    return row;
  }

  activate(epoch: Epoch): Promise<Shard> {
    this.#epoch = epoch;
    this.#recordedAt = -Infinity;
    void this.#record();
    // What was received or restored may be old; what was just built is looked at when its time comes.
    this.#schedule(this.#current?.how === "built" ? this.#pollMs() : 0);
    return Promise.resolve(new RepositoryShard(this, this.#ports));
  }

  /** The tenure is over; the data stays. */
  deactivate(): void {
    this.#epoch = undefined;
    this.#timer?.cancel();
  }

  close(): Promise<void> {
    this.deactivate();
    this.#ending.abort();
    this.#trace.end();
    this.#current?.index.release();
    this.#current = undefined;
    return Promise.resolve();
  }

  /** An answer was given. */
  served(): void {
    this.traffic.served(this.#ports.clock.wall());
    this.#trace.served();
  }

  /** The row has changed: other branches may be wanted. */
  rowChanged(): void {
    const wanted = this.#ports.row(this.id)?.branches;
    if (wanted && this.#branches && String(wanted) !== String(this.#branches)) void this.refresh();
  }

  /** Looks for new commits, and brings the index up to date; one at a time, and once more if asked meanwhile. */
  refresh(): Promise<void> {
    this.#again = true;
    this.lag.told();
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Reads all of the index against its checksums; builds it again when they do not agree. True when they did. */
  async verify(): Promise<boolean> {
    this.#verifiedAt = this.#ports.clock.now();
    const current = this.#current;
    if (!current || (await current.index.verify())) return true;
    this.lag.told();
    this.#ports.metrics.count("code_indexes_corrupt_total");
    this.#ports.log("an index no longer holds what was built; it is built again", { repository: this.id });
    await this.#rebuild(current);
    return false;
  }

  async #first(repository: Repository, progress: (fraction: number) => void): Promise<void> {
    this.lag.lookBegins();
    if (await this.#receive(repository)) return;
    if (await this.#restore(repository)) return;
    try {
      const built = await this.#build(repository, undefined, this.#trace.begin(false), progress);
      if (built) this.#swap(built, "built");
    } catch (error) {
      if (!(error instanceof GitError) || error.code === "CANCELLED") throw error;
      this.#failed(error);
    }
  }

  /** True when a node that holds the repository gave its index. */
  async #receive(repository: Repository): Promise<boolean> {
    for (let tries = 1; tries <= receiveTriesMax; tries++) {
      try {
        return await this.#receiveOnce(repository);
      } catch (error) {
        if (this.#ending.signal.aborted) throw error;
        if (error instanceof EngineError && error.code === "OUT_OF_MEMORY") throw error;
        // Nobody has it any more, or not yet: there are other ways.
        const nobody =
          error instanceof RouterError && (error.code === "NO_HOLDER" || error.code === "WARMING");
        if (nobody) return false;
        const { name } = repository;
        this.#ports.log("an index was not received", { repository: name, why: String(error), tries });
      }
    }
    return false;
  }

  async #receiveOnce(repository: Repository): Promise<boolean> {
    const { engine, clock, metrics, log } = this.#ports;
    const startedAt = clock.now();
    const wanted = { id: this.id, replica: this.replica };
    const receiving = await beginReceiving(this.#ports, wanted, this.#ending.signal);
    if (!receiving) return false;
    const { begun, pieces, node } = receiving;
    const release = await this.#ports.room(repository, begun.memoryBytes, this);
    try {
      const index = await engine.load(this.#whileWanted(pieces));
      const { heads, submodules = 0 } = begun;
      this.#swap({ index, heads, fetchMs: 0, buildMs: clock.now() - startedAt, submodules }, "received");
    } finally {
      release();
    }
    metrics.count("code_indexes_received_total");
    log("received an index", { repository: repository.name, from: node });
    return true;
  }

  async *#whileWanted(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      if (this.#ending.signal.aborted) throw new GitError("CANCELLED", "no longer wanted");
      yield piece;
    }
  }

  async #restore(repository: Repository): Promise<boolean> {
    const { snapshots, engine, clock, log } = this.#ports;
    const found = await snapshots?.open(repository);
    if (!found) return false;
    const startedAt = clock.now();
    const release = await this.#ports.room(repository, found.bytes, this);
    try {
      const index = await engine.load(this.#whileWanted(found.pieces()));
      const { heads, submodules } = found;
      this.#swap({ index, heads, fetchMs: 0, buildMs: clock.now() - startedAt, submodules }, "restored");
      return true;
    } catch (error) {
      if (this.#ending.signal.aborted) throw error;
      // That says nothing about what is on disk.
      if (error instanceof EngineError && error.code === "OUT_OF_MEMORY") throw error;
      log("an index was not restored from disk", { repository: repository.name, why: String(error) });
      await snapshots?.remove(repository.id);
      return false;
    } finally {
      release();
    }
  }

  #build(
    repository: Repository,
    previous: Current | undefined,
    span: Span | undefined,
    progress?: (fraction: number) => void,
  ): Promise<Built | undefined> {
    const { clock } = this.#ports;
    this.#branches = repository.branches;
    let release = (): void => undefined;
    let roomBytes = 0;
    return build(
      {
        ...this.#ports,
        now: () => clock.now(),
        room: async (contentBytes, files) => {
          const before = previous?.index.stats ?? this.#ports.before(this.id);
          // What was found to be too little is not asked for again.
          const found = previous ? 0 : this.#ports.foundBytes(this.id);
          this.#expectedBytes = expectedBytes(contentBytes, files, before, found);
          // Most of a new commit is what is there already.
          if (previous) return;
          release = await this.#ports.room(repository, this.#expectedBytes, this);
          roomBytes = this.#expectedBytes;
        },
        span,
      },
      {
        repository,
        previous,
        signal: this.#ending.signal,
        missing: (branches) => {
          this.#missing = branches;
        },
        ...(progress ? { progress } : {}),
      },
    )
      .catch(async (error: unknown) => {
        // It is larger than its files made one expect: whoever tries next must have more.
        if (roomBytes > 0 && error instanceof EngineError && error.code === "OUT_OF_MEMORY")
          await this.#ports.foundSize(this.id, Math.ceil(roomBytes * moreShare));
        throw error;
      })
      .finally(() => release());
  }

  #swap(built: Built, how: Current["how"]): void {
    const { clock, metrics } = this.#ports;
    const before = this.#current;
    const { index, heads, buildMs, submodules } = built;
    const current: Current = { index, heads, buildMs, how, submodules, indexedAt: clock.wall() };
    this.#current = current;
    this.#settled();
    // A search that has begun keeps the former index until it ends: no answer mixes two commits.
    before?.index.release();
    metrics.observe("index_time_ms", buildMs, { how });
    this.#recordedAt = -Infinity;
    void this.#record();
    void this.#complete(current);
  }

  /** Text is served first; symbols take ten times as long, and come after. What is then whole may be kept on disk. */
  async #complete(current: Current): Promise<void> {
    const { engine, symbols, snapshots, log } = this.#ports;
    try {
      const reader = await symbols();
      const index = reader && (await engine.addSymbols(current.index, reader, this.#ending.signal));
      // A newer commit came meanwhile: it has its own second pass.
      if (this.#current !== current) return index?.release();
      if (index) {
        this.#current = { ...current, index };
        current.index.release();
        // Whoever writes the record next says that they are there.
        this.#recordedAt = -Infinity;
      }
      if (current.how !== "restored" || index) snapshots?.keep(this.id, this.#current);
    } catch (error) {
      if (!this.#ending.signal.aborted)
        log("symbols were not read", { repository: this.id, why: String(error) });
    }
  }

  async #refresh(): Promise<void> {
    while (this.#again && !this.#ending.signal.aborted) {
      this.#again = false;
      this.lag.lookBegins();
      const startedAt = this.#ports.clock.now();
      const span = this.#trace.begin(this.#current !== undefined);
      try {
        const built = await this.#update(this.repository, span);
        if (built) {
          this.#trace.swapped(span);
          this.#swap(built, this.#current ? "updated" : "built");
          this.#ports.metrics.observe("code_reindex_ms", this.#ports.clock.now() - startedAt);
        }
        this.#settled();
      } catch (error) {
        if (this.#ending.signal.aborted) return;
        this.#trace.failed(span, error);
        this.#failed(error);
        // It waits for the end of this, and builds from nothing.
        if (error instanceof EngineError && error.code === "CORRUPT_INDEX") void this.verify();
      }
    }
    await this.#record();
    this.#schedule(this.#pollMs());
  }

  /** Builds beside what is there; makes room and tries again when that does not fit. */
  async #update(repository: Repository, span: Span | undefined): Promise<Built | undefined> {
    const previous = this.#current;
    try {
      return await this.#build(repository, previous, span);
    } catch (error) {
      if (!(error instanceof EngineError) || error.code !== "OUT_OF_MEMORY") throw error;
      // Until it is swapped in, both are here.
      const release = await this.#ports.room(repository, this.memoryBytes + this.#expectedBytes, this);
      return this.#build(repository, previous, span).finally(release);
    }
  }

  /** From nothing: what is there cannot be trusted, so it is not served meanwhile. */
  async #rebuild(corrupt: Current): Promise<void> {
    await this.#refreshing;
    if (this.#current === corrupt) {
      this.#current = undefined;
      this.#problem = {
        code: "CORRUPT_INDEX",
        message: "memory no longer held what was built; it is being built again",
      };
      corrupt.index.release();
      this.#recordedAt = -Infinity;
      void this.#record();
    }
    await this.refresh();
  }

  /** It is as the remote has it, but for branches that are not there. */
  #settled(): void {
    this.#failures = 0;
    this.lag.caughtUp();
    const name = this.#ports.row(this.id)?.name ?? String(this.id);
    const lack = this.#missing.length > 0 ? noBranch(name, this.#missing) : undefined;
    this.#say(lack && { code: lack.code, message: lack.message });
  }

  /** What is wrong now; what is new is told at once. Git's own words change with every try. */
  #say(problem: Problem | undefined): void {
    if (problem?.code !== this.#problem?.code) this.#recordedAt = -Infinity;
    this.#problem = problem;
  }

  #failed(error: unknown): void {
    this.#failures++;
    const code = error instanceof GitError || error instanceof EngineError ? error.code : "INTERNAL";
    const message = error instanceof Error ? error.message : String(error);
    this.#say({ code, message });
    this.#ports.metrics.count("code_fetch_failures_total", { code });
    this.#ports.log("a repository could not be brought up to date", { repository: this.id, code, message });
  }

  #pollMs(): number {
    const { pollMs, random } = this.#ports;
    const ms =
      this.#failures === 0 ? pollMs : Math.min(pollMs, retryFirstMs * 2 ** Math.min(this.#failures, 10));
    // Not all at once, though all may have begun at once.
    return ms * (0.75 + 0.5 * random());
  }

  #schedule(afterMs: number): void {
    this.#timer?.cancel();
    if (!this.#epoch || this.#ending.signal.aborted) return;
    this.#timer = this.#ports.clock.after(afterMs, () => {
      const { verifyMs, clock } = this.#ports;
      const due = verifyMs > 0 && clock.now() - this.#verifiedAt >= verifyMs;
      void (due ? this.verify() : Promise.resolve(true)).then(() => this.refresh());
    });
  }

  /** Tells the catalogue what is held, when it is another thing than was told, or traffic has gone on for a while. */
  async #record(): Promise<void> {
    const epoch = this.#epoch;
    const now = this.#ports.clock.now();
    if (!epoch || now - this.#recordedAt < recordEveryMs) return;
    this.#recordedAt = now;
    // One after the other: what is told last must be what was so last.
    this.#telling = this.#telling.then(() => this.#tell(epoch));
    const told = await this.#telling;
    // The store was away: it is told with the next look at the repository.
    if (!told && this.#recordedAt === now) this.#recordedAt = -Infinity;
  }

  #tell(epoch: Epoch): Promise<boolean> {
    const { node } = this.#ports;
    const { lastServedAt } = this.traffic;
    const record = indexRecordOf(this.#current, { node, problem: this.#problem, lastServedAt });
    return this.#ports.record(this.id, this.replica, epoch, record);
  }
}
