import type { Clock, Timer } from "@keelson/kernel";
import { Happening } from "./time/event-heap.ts";
import type { MachineClock } from "./time/machine-clock.ts";
import type { Scheduler } from "./time/scheduler.ts";

/** Something that wants to know of the end of a process. */
export interface Ended {
  readonly run: () => void;
  /** Where it lies in the list. */
  place: number;
}

/**
 * One process of the fleet on its machine: whatever happens in it (a timer, an arriving message) goes through `enter` or `later`, so that it can be stopped
 * and killed at any instant. Its machine outlives it: the clocks run on through a pause and a restart.
 *
 * It is only the place where code runs. What runs there (a node, a client) is put in by others.
 */
export class SimProcess {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly machine: MachineClock;
  /** The port that the code inside gets. */
  readonly clock: Clock;
  /** Rises with every start and every end. What was set going in one life does not reach the next. */
  #life = 0;
  #up = false;
  #pausedUntil: number | undefined;
  /** What fell due during a pause, in order. */
  #deferred: (() => void)[] = [];
  #pauseAtSendMs: number | undefined;
  #atEnd: Ended[] = [];
  /** Told when a pause is over, before anything that waited runs. */
  onResume: (() => void) | undefined;

  constructor(name: string, scheduler: Scheduler, machine: MachineClock) {
    this.name = name;
    this.scheduler = scheduler;
    this.machine = machine;
    this.clock = {
      now: () => machine.monotonic(scheduler.now),
      wall: () => machine.wall(scheduler.now),
      after: (delayMs, run) => new ProcessTimer(this, delayMs, run),
    };
  }

  get life(): number {
    return this.#life;
  }

  get up(): boolean {
    return this.#up;
  }

  get paused(): boolean {
    return this.#pausedUntil !== undefined;
  }

  start(): void {
    if (this.#up) throw new Error(`${this.name} is already running`);
    this.#up = true;
    this.#life++;
  }

  /** The process is gone, with all it had: timers, what it waited for, what was on its way to it. */
  crash(): void {
    if (!this.#up) return;
    this.#up = false;
    this.#life++;
    this.#pausedUntil = undefined;
    this.#pauseAtSendMs = undefined;
    this.#deferred = [];
    const atEnd = this.#atEnd;
    this.#atEnd = [];
    for (const ended of atEnd) ended.run();
  }

  /** Calls `run` when the present life ends. What it returns is what `notAtEnd` takes. */
  atEnd(run: () => void): Ended {
    const ended = { run, place: this.#atEnd.length };
    this.#atEnd.push(ended);
    return ended;
  }

  /** Requires that the life in which it was asked for lasts. */
  notAtEnd(ended: Ended): void {
    const last = this.#atEnd.pop();
    if (last === undefined || last === ended) return;
    last.place = ended.place;
    this.#atEnd[ended.place] = last;
  }

  /** Nothing runs for that long (garbage collection, SIGSTOP, a suspended machine); what falls due meanwhile runs afterwards, in order. */
  pause(forMs: number): void {
    if (!this.#up) return;
    const until = this.scheduler.now + forMs;
    if (until <= (this.#pausedUntil ?? -Infinity)) return;
    this.#pausedUntil = until;
    const life = this.#life;
    this.scheduler.at(until, () => {
      if (life === this.#life && this.#pausedUntil === until) this.resume();
    });
  }

  /** Ends a pause, and one that has not begun before it begins. */
  resume(): void {
    this.#pauseAtSendMs = undefined;
    if (!this.paused) return;
    this.#pausedUntil = undefined;
    this.onResume?.();
    const deferred = this.#deferred;
    this.#deferred = [];
    const life = this.#life;
    for (const run of deferred) this.scheduler.after(0, () => this.enter(life, run));
  }

  /** Pauses at the worst moment: when the next message has been made and has not yet left. */
  pauseAtSend(forMs: number): void {
    if (this.#up) this.#pauseAtSendMs = forMs;
  }

  /** Runs `run` inside this process as soon as it runs at all; never, if the life that asked has ended. */
  enter(life: number, run: () => void): void {
    if (life !== this.#life) return;
    if (this.paused) this.#deferred.push(run);
    else run();
  }

  /** Hands a message over to the network. What has left is not called back by the end of the process. */
  send(depart: () => void): void {
    const forMs = this.#pauseAtSendMs;
    if (forMs === undefined) return depart();
    this.#pauseAtSendMs = undefined;
    this.pause(forMs);
    this.enter(this.#life, depart);
  }

  /** Enters that life after `delayMs` of true time. */
  enterLater(delayMs: number, life: number, run: () => void): void {
    this.scheduler.schedule(this.scheduler.now + delayMs, new Arrival(this, life, run));
  }
}

/** Something that reaches a process from outside. */
class Arrival extends Happening {
  readonly #process: SimProcess;
  readonly #life: number;
  readonly #run: () => void;

  constructor(process: SimProcess, life: number, run: () => void) {
    super();
    this.#process = process;
    this.#life = life;
    this.#run = run;
  }

  happen(): void {
    this.#process.enter(this.#life, this.#run);
  }
}

/** A timer by the clock of its process. */
class ProcessTimer extends Happening implements Timer {
  readonly #process: SimProcess;
  readonly #life: number;
  readonly #dueAt: number;
  /** Dropped when it is cancelled, so that what it holds can be freed at once. */
  #run: (() => void) | undefined;

  constructor(process: SimProcess, delayMs: number, run: () => void) {
    super();
    this.#process = process;
    this.#life = process.life;
    this.#dueAt = process.machine.monotonic(process.scheduler.now) + delayMs;
    this.#run = run;
    this.#arm();
  }

  cancel(): void {
    this.#run = undefined;
    this.#process.scheduler.cancel(this);
  }

  happen(): void {
    const process = this.#process;
    if (process.paused) process.enter(this.#life, () => this.#fire());
    else if (process.life === this.#life) this.#fire();
  }

  #fire(): void {
    // The clock may have slowed down since: a timer is never early by its own clock.
    if (this.#run === undefined) return;
    if (this.#leftMs() > 0) this.#arm();
    else this.#run();
  }

  #leftMs(): number {
    const { machine, scheduler } = this.#process;
    return this.#dueAt - machine.monotonic(scheduler.now);
  }

  #arm(): void {
    const { machine, scheduler } = this.#process;
    const waitMs = machine.trueMs(Math.max(0, this.#leftMs())) + timerSlackMs;
    scheduler.schedule(scheduler.now + waitMs, this);
  }
}

/** Above the rounding of any clock here, so that a timer never finds its own clock a hair before the moment it was set for. */
const timerSlackMs = 1e-5;
