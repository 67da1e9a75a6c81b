/**
 * The queue of one shard as a machine: `apply` takes a command and the time, and gives records for the journal, an answer, and effects. It waits for nothing,
 * and asks nobody. The same commands at the same times with the same random numbers give the same records; the same records give the same state.
 */
import { Changes } from "./changes.ts";
import { RecordLog } from "./codec/record-log.ts";
import type { StoredJob } from "./codec/stored-job.ts";
import { add, enqueue, importJobs } from "./commands/enqueueing.ts";
import { lease, leaseJob, reportRefresh, take } from "./commands/leasing.ts";
import { rateChecked } from "./commands/rate-checks.ts";
import { ack, giveBack, heartbeat, report } from "./commands/reporting.ts";
import { deleteSchedule, putSchedule } from "./commands/schedules.ts";
import {
  cancel,
  deleteJob,
  dropLeases,
  expedite,
  restart,
  setGroup,
  setTenant,
} from "./commands/steering.ts";
import { DONE, type Core } from "./core.ts";
import { due, follow } from "./due.ts";
import type { Answer, Command, CommandKind, JobName } from "./model/command.ts";
import type { Effect } from "./model/effect.ts";
import { JOB_LIMITS } from "./model/limits.ts";
import { ENGINE_DEFAULTS, type EnginePorts, type EngineTerms, type Instant } from "./model/ports.ts";
import { replayRecord } from "./replay.ts";
import { rebuild } from "./scheduler/rebuild.ts";
import { Scheduler } from "./scheduler/scheduler.ts";
import { jobKey, State } from "./state/state.ts";

export interface Applied<K extends CommandKind> {
  /** For the journal, in order; none when nothing changed. */
  readonly records: readonly Buffer[];
  readonly answer: Answer<K>;
  readonly effects: readonly Effect[];
}

const NOTHING_RECALLED: ReadonlyMap<string, StoredJob> = new Map();

export class Engine {
  readonly #core: Core;
  readonly #log = new RecordLog();
  #started = false;

  constructor(ports: EnginePorts, terms: Partial<EngineTerms> = {}) {
    const state = new State();
    this.#core = {
      state,
      changes: new Changes(state, this.#log),
      scheduler: new Scheduler(state),
      ports,
      terms: { ...ENGINE_DEFAULTS, ...terms },
      now: { wallMs: 0, monoMs: 0 },
      effects: [],
      recalled: NOTHING_RECALLED,
      inputBytesLeft: 0,
      checkNumber: 0,
      refreshNumber: 0,
    };
  }

  /** For views, checkpoints and tests; reading only. */
  get state(): State {
    return this.#core.state;
  }

  get core(): Core {
    return this.#core;
  }

  /** Does again what a record says. Only before `start`. */
  replay(record: Uint8Array, from?: { readonly mark: number }): boolean {
    if (this.#started) throw new Error("an engine replays before it starts");
    return replayRecord(this.#core, record, from);
  }

  /** Everything was replayed: builds queues and timers, gives every lease its full time, and makes the engine ready for commands. */
  start(now: Instant): void {
    const core = this.#core;
    core.state.wallMs = Math.max(core.state.wallMs, now.wallMs);
    core.now = now;
    // Numbers that no earlier process can have used.
    core.refreshNumber = core.state.wallMs * 1000;
    rebuild(core);
    this.#started = true;
  }

  /** Jobs that the command names and memory does not hold: they may have ended long ago. `among` those that are worth asking for. */
  needs(command: Command, among: (name: JobName) => boolean = () => true): readonly JobName[] {
    const { state } = this.#core;
    const names: JobName[] = [];
    const consider = (name: JobName): void => {
      if (among(name) && state.find(name.tenant, name.id) === undefined) names.push(name);
    };
    const need = (tenant: string, id: string): void => consider({ tenant, id });
    switch (command.kind) {
      case "enqueue":
      case "add":
        for (const job of command.jobs) {
          consider(job);
          if ("after" in job && job.after !== undefined)
            for (const other of job.after) need(job.tenant, other);
        }
        break;
      case "import":
        for (const job of command.jobs) consider(job);
        break;
      case "cancel":
      case "restart":
      case "expedite":
      case "delete":
        need(command.tenant, command.id);
        break;
      default:
    }
    return names;
  }

  /** `recalled` are the jobs that `needs` asked for and that were found. */
  apply<K extends CommandKind>(
    command: Command<K>,
    now: Instant,
    recalled: readonly StoredJob[] = [],
  ): Applied<K> {
    if (!this.#started) throw new Error("an engine must be started before it takes commands");
    const core = this.#core;
    const { state, scheduler } = core;
    core.now = now;
    if (now.wallMs > state.wallMs) state.wallMs = Math.floor(now.wallMs);
    core.recalled =
      recalled.length === 0 ? NOTHING_RECALLED : new Map(recalled.map((job) => [jobKey(job), job]));
    core.effects = [];
    core.inputBytesLeft = JOB_LIMITS.requestInputBytesMax;
    this.#log.begin(state.wallMs);
    due(core);
    follow(core);
    const answer = this.#dispatch(command as Command) as Answer<K>;
    follow(core);
    for (const group of scheduler.announced)
      if (!group.paused && group.turns.size > 0) core.effects.push({ kind: "ready", group: group.name });
    scheduler.announced.clear();
    return { records: this.#log.take(), answer, effects: core.effects };
  }

  /** How long until something falls due; undefined when nothing will. */
  waitMs(now: Instant): number | undefined {
    const { scheduler, state } = this.#core;
    const wallMs = Math.max(now.wallMs, state.wallMs);
    let wait = Infinity;
    const consider = (ms: number | undefined): void => {
      if (ms !== undefined && ms < wait) wait = ms;
    };
    const { timed, keys, schedules, leases, timeouts } = scheduler;
    const job = timed.peek();
    if (job !== undefined) consider(job.dueAtMs - wallMs);
    const key = keys.peek();
    if (key !== undefined) consider(key.dueAtMs - wallMs);
    const schedule = schedules.peek();
    if (schedule?.nextAtMs !== undefined) consider(schedule.nextAtMs - wallMs);
    const leaseTop = leases.peek();
    if (leaseTop !== undefined) consider(leaseTop.deadlineMs - now.monoMs);
    const timeout = timeouts.peek();
    if (timeout !== undefined) consider(timeout.atMs - now.monoMs);
    return wait === Infinity ? undefined : Math.max(0, wait);
  }

  /** A checkpoint begins with what was applied so far; the record says so to whoever replays. */
  mark(checkpoint: number): readonly Buffer[] {
    this.#log.begin(this.#core.state.wallMs);
    this.#core.changes.mark(checkpoint);
    return this.#log.take();
  }

  #dispatch(command: Command): Answer<CommandKind> {
    const core = this.#core;
    switch (command.kind) {
      case "enqueue":
        return enqueue(core, command);
      case "add":
        return add(core, command);
      case "import":
        return importJobs(core, command);
      case "lease":
        return lease(core, command);
      case "take":
        return take(core, command);
      case "leaseJob":
        return leaseJob(core, command);
      case "report":
        return report(core, command);
      case "ack":
        return ack(core, command);
      case "heartbeat":
        return heartbeat(core, command);
      case "giveBack":
        return giveBack(core, command);
      case "reportRefresh":
        return reportRefresh(core, command);
      case "rateChecked":
        return rateChecked(core, command);
      case "cancel":
        return cancel(core, command);
      case "restart":
        return restart(core, command);
      case "expedite":
        return expedite(core, command);
      case "delete":
        return deleteJob(core, command);
      case "setGroup":
        return setGroup(core, command);
      case "setTenant":
        return setTenant(core, command);
      case "dropLeases":
        return dropLeases(core, command);
      case "putSchedule":
        return putSchedule(core, command);
      case "deleteSchedule":
        return deleteSchedule(core, command);
      case "tick":
        return DONE;
    }
  }
}
