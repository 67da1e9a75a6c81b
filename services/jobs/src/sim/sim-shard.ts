/**
 * A shard in the simulator: the real engine, and a journal whose flushes take time, fail, and are cut by crashes at any record that was not acknowledged. Answers
 * leave when their records are durable, as DurableQueue has it; checkpoints use the engine's own pages.
 */
import { digestState } from "../engine/checkpoint/digest.ts";
import { decodeJobPage, encodeJobPage } from "../engine/checkpoint/job-page.ts";
import { Restore } from "../engine/checkpoint/restore.ts";
import { encodeRest } from "../engine/checkpoint/rest.ts";
import { storeJob, type StoredJob } from "../engine/codec/stored-job.ts";
import { Engine, type Applied } from "../engine/engine.ts";
import type { Answer, Command, CommandKind } from "../engine/model/command.ts";
import type { Effect } from "../engine/model/effect.ts";
import type { EngineTerms, Instant } from "../engine/model/ports.ts";
import type { Job } from "../engine/state/job.ts";
import { jobKey, type State } from "../engine/state/state.ts";
import { everySoOften, spacing } from "./algorithms.ts";
import { madeUpAnswer, openingTime, sabotage, toldTime, type JobsBreak } from "./breaks.ts";
import type { Chance } from "./chance.ts";
import type { Timeline } from "./timeline.ts";

/** What survives a crash, beside the journal. */
interface Base {
  readonly pages: ReadonlyMap<number, readonly Buffer[]>;
  readonly rest: Buffer | undefined;
  readonly finished: ReadonlyMap<string, StoredJob>;
}

/** A checkpoint that is being taken, of the moment when the journal had `at` records. */
interface Taking extends Base {
  readonly at: number;
  readonly pages: Map<number, readonly Buffer[]>;
  readonly rest: Buffer;
  readonly forgotten: readonly (readonly [string, object])[];
  readonly ended: readonly Job[];
}

interface Waiting {
  /** Records that must be durable first. */
  readonly upTo: number;
  readonly deliver: () => void;
}

export interface Watcher {
  /** After every `apply`, before anything is durable. */
  applied(engine: Engine, command: Command, answer: Answer<CommandKind>, now: Instant): void;
  /** The engine was built again from what was durable. */
  restarted(engine: Engine, now: Instant): void;
  effects(effects: readonly Effect[]): void;
  broken(what: string): void;
}

export interface Weather {
  /** Of a flush. */
  readonly slow: number;
  readonly failing: number;
  readonly checkpointing: number;
}

export class SimShard {
  readonly #timeline: Timeline;
  readonly #chance: Chance;
  readonly #terms: Partial<EngineTerms>;
  readonly #watcher: Watcher;
  readonly #weather: Weather;
  /** A rule that this shard does without. */
  readonly #broken: JobsBreak | undefined;
  readonly #baseWallMs = 1_700_000_000_000;
  #skewMs = 0;
  #engine: Engine | undefined;
  #base: Base = { pages: new Map(), rest: undefined, finished: new Map() };
  /** Records since the base. */
  #log: Buffer[] = [];
  #durable = 0;
  #waiting: Waiting[] = [];
  #flushing = false;
  #life = 0;
  #tickAtMs = Infinity;
  #flushUpTo = 0;
  #checkpoint: Taking | undefined;
  /** No more slow and failing flushes. */
  calm = false;
  crashes = 0;
  checkpoints = 0;
  applies = 0;

  constructor(
    timeline: Timeline,
    chance: Chance,
    terms: Partial<EngineTerms>,
    weather: Weather,
    watcher: Watcher,
    broken?: JobsBreak,
  ) {
    this.#timeline = timeline;
    this.#chance = chance;
    this.#terms = terms;
    this.#weather = weather;
    this.#watcher = watcher;
    this.#broken = broken;
    this.#open();
  }

  get engine(): Engine | undefined {
    return this.#engine;
  }

  /** The wall clock may be set, forth and back. */
  setClock(byMs: number): void {
    this.#skewMs += byMs;
  }

  now(): Instant {
    const { nowMs } = this.#timeline;
    return { wallMs: this.#baseWallMs + nowMs + this.#skewMs, monoMs: nowMs };
  }

  /** Finished or active, durable or not. */
  find(tenant: string, id: string): StoredJob | undefined {
    const job = this.#engine?.state.find(tenant, id);
    if (job !== undefined) return storeJob(job);
    const key = jobKey({ tenant, id });
    return this.#engine?.state.forgotten.has(key) === true ? undefined : this.#base.finished.get(key);
  }

  /** Undefined when nobody serves; otherwise `reply` is called once the answer is durable, unless a crash comes first. */
  request<K extends CommandKind>(command: Command<K>, reply: (answer: Answer<K>) => void): void {
    const engine = this.#engine;
    if (engine === undefined) return;
    this.applies += 1;
    const recalled: StoredJob[] = [];
    for (const name of engine.needs(command as Command)) {
      const stored = this.find(name.tenant, name.id);
      if (stored !== undefined) recalled.push(stored);
    }
    const now = this.now();
    const { records, answer, effects } = this.#apply(engine, command, recalled);
    this.#watcher.applied(engine, command as Command, answer, now);
    for (const record of records) this.#log.push(record);
    this.#waiting.push({
      upTo: this.#log.length,
      deliver: () => {
        if (effects.length > 0) this.#watcher.effects(effects);
        reply(answer);
      },
    });
    this.#flushLater();
    if (this.#broken === "durable-answers") this.#deliver();
    this.#arm(engine);
    if (this.#chance.yes(this.#weather.checkpointing)) this.#turnCheckpoint(engine);
  }

  /** As the engine does it, unless a rule is broken. */
  #apply<K extends CommandKind>(
    engine: Engine,
    command: Command<K>,
    recalled: readonly StoredJob[],
  ): Applied<K> {
    const made = madeUpAnswer(this.#broken, engine, command);
    if (made !== undefined) return { records: [], answer: made, effects: [] };
    if (this.#broken !== undefined) sabotage(this.#broken, engine, command as Command);
    return engine.apply(command, toldTime(this.#broken, this.now()), recalled);
  }

  /** Everything in memory is lost, and of what was not durable any prefix is kept. */
  crash(downMs: number): void {
    const engine = this.#engine;
    if (engine === undefined) return;
    this.crashes += 1;
    const cut = this.#chance.whole(this.#durable, this.#log.length);
    const whole = cut === this.#log.length && this.#checkpoint === undefined ? engine.state : undefined;
    this.#log.length = cut;
    this.#durable = cut;
    this.#waiting = [];
    this.#flushing = false;
    this.#checkpoint = undefined;
    this.#engine = undefined;
    this.#life += 1;
    this.#tickAtMs = Infinity;
    if (whole !== undefined) this.#compare(whole);
    this.#timeline.after(downMs, () => this.#open());
  }

  /** Records that replay must give the state that wrote them. */
  #compare(state: State): void {
    const again = this.#rebuild().state;
    // Time has passed since the last record.
    again.wallMs = state.wallMs;
    if (digestState(again) !== digestState(state))
      this.#watcher.broken("a replay of all records does not give the state that wrote them");
  }

  #open(): void {
    const engine = this.#rebuild();
    const now = this.now();
    engine.start(openingTime(this.#broken, toldTime(this.#broken, now), this.#terms.leaseMs ?? 0));
    this.#engine = engine;
    this.#watcher.restarted(engine, now);
    this.#arm(engine);
  }

  #rebuild(): Engine {
    const engine = new Engine({ random: this.#chance.next, rates: spacing, cron: everySoOften }, this.#terms);
    const { pages, rest } = this.#base;
    if (rest !== undefined) {
      const restore = new Restore(engine.core);
      for (const parts of pages.values())
        for (const part of parts) for (const job of decodeJobPage(part)) restore.add(job);
      restore.finish(rest);
    }
    const log = this.#broken === "every-record" ? this.#log.slice(0, -1) : this.#log;
    for (const record of log) engine.replay(record);
    return engine;
  }

  #flushLater(): void {
    if (this.#flushing) return;
    if (this.#durable === this.#log.length) return this.#deliver();
    this.#flushing = true;
    const life = this.#life;
    this.#flushUpTo = this.#log.length;
    const slow = !this.calm && this.#chance.yes(this.#weather.slow);
    this.#timeline.after(slow ? this.#chance.whole(500, 15_000) : this.#chance.whole(0, 8), () => {
      if (life !== this.#life) return;
      this.#flushing = false;
      if (!this.calm && this.#chance.yes(this.#weather.failing))
        return this.crash(this.#chance.whole(1, 3000));
      this.#durable = this.#flushUpTo;
      this.#deliver();
      if (this.#durable < this.#log.length) this.#flushLater();
    });
  }

  #deliver(): void {
    const upTo = this.#broken === "durable-answers" ? Infinity : this.#durable;
    while (this.#waiting.length > 0 && (this.#waiting[0] as Waiting).upTo <= upTo)
      (this.#waiting.shift() as Waiting).deliver();
  }

  #arm(engine: Engine): void {
    const waitMs = engine.waitMs(toldTime(this.#broken, this.now()));
    if (waitMs === undefined) return;
    const atMs = this.#timeline.nowMs + waitMs;
    if (atMs >= this.#tickAtMs) return;
    this.#tickAtMs = atMs;
    const life = this.#life;
    this.#timeline.after(waitMs, () => {
      if (life !== this.#life || this.#tickAtMs !== atMs) return;
      this.#tickAtMs = Infinity;
      this.request({ kind: "tick" }, () => {});
    });
  }

  /** Begins a checkpoint, or ends the one that is being taken once its moment is durable. */
  #turnCheckpoint(engine: Engine): void {
    const { state } = engine;
    const taking = this.#checkpoint;
    if (taking === undefined) {
      const pages = new Map(this.#base.pages);
      const finished = new Map(this.#base.finished);
      const forgotten = [...state.forgotten.entries()];
      for (const [key] of forgotten) finished.delete(key);
      for (const job of state.finished) finished.set(`${job.tenant.name}\0${job.id}`, storeJob(job));
      state.pages.beginHandOver((page) => {
        if (page.size === 0) pages.delete(page.number);
        else pages.set(page.number, encodeJobPage(page));
      });
      this.#checkpoint = {
        at: this.#log.length,
        pages,
        rest: encodeRest(state),
        finished,
        forgotten,
        ended: [...state.finished],
      };
      return;
    }
    if (!state.pages.handOverSome(4) || this.#durable < taking.at) return;
    this.checkpoints += 1;
    this.#checkpoint = undefined;
    this.#base = { pages: taking.pages, rest: taking.rest, finished: taking.finished };
    this.#log = this.#log.slice(taking.at);
    this.#durable -= taking.at;
    this.#flushUpTo -= taking.at;
    for (const [key, name] of taking.forgotten)
      if (state.forgotten.get(key) === name) state.forgotten.delete(key);
    this.#waiting = this.#waiting.map(({ upTo, deliver }) => ({ upTo: upTo - taking.at, deliver }));
    for (const job of taking.ended) {
      const key = jobKey({ tenant: job.tenant.name, id: job.id });
      if (state.finished.has(job) && !state.forgotten.has(key)) state.drop(job);
    }
  }
}
