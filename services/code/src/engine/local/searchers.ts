/**
 * The searching threads. A search goes to a thread that has nothing to do; when all have, it waits behind one of them, and when that one turns out to take long, it is given to
 * another, which is started for it if need be: the system then shares the processors out among them, so that a search of milliseconds does not wait for one of seconds. What waits longer
 * than its time cap is answered without a thread. A thread that dies is started again.
 *
 * One question goes to many repositories at once, so what is asked for in one turn of the event loop leaves as one message for each thread and question: the way to a thread and back takes
 * longer than searching a small repository. Each is still claimed, stopped and passed on by itself.
 */
import type { Worker } from "node:worker_threads";
import type { Clock, Timer } from "@keelson/kernel";
import { EngineError } from "../errors.ts";
import type { Arena } from "../memory/arena.ts";
import type { EngineQuery } from "../query.ts";
import { Cells, WITHDRAWN, before, isBegun, word, type Cell } from "../threads/cells.ts";
import {
  packJobs,
  type FromSearcher,
  type IndexPlace,
  type SearchJob,
  type SearchReply,
  type SearchTerms,
  type ToSearcher,
} from "../threads/protocol.ts";
import { unpackReplies } from "../threads/replies.ts";
import { startThread } from "../threads/start-thread.ts";

/** How long a search may keep others waiting behind it before they are given to another thread. */
const PATIENCE_MS = 4;
/** Threads beside the ordinary ones, while more searches take long than there are of those; fewer where memory is short. */
export const SPARE_THREADS = 4;
/** A thread that dies before it has answered anything is started again after this, and twice as long each time, so that one that cannot start takes no processor for ever. */
const RESTART_FIRST_MS = 100;
const RESTART_MS_MAX = 30_000;
/** One that was started beside the others goes away when it had nothing to do for so long. */
const SPARE_IDLE_MS = 30_000;

/** What is to be looked for in some segments of an index. */
export type SearchAsked = Omit<SearchTerms, "query"> &
  Omit<SearchJob, "job" | "cell"> & { readonly query: EngineQuery };

interface Waiting {
  readonly job: SearchJob;
  readonly terms: SearchTerms;
  readonly cell: Cell;
  readonly resolve: (reply: SearchReply) => void;
  readonly reject: (error: Error) => void;
  readonly onPiece: ((piece: Uint8Array) => void) | undefined;
  thread: Thread;
  /** Whoever asked looks at its cell no more. */
  released: boolean;
}

/** A part of a search that was given to the threads. */
export interface Running {
  readonly reply: Promise<SearchReply>;
  /** Its own until it is released. */
  readonly cell: Int32Array;
  /** Ends it when no thread has begun with it: as a search that was stopped before it found anything. */
  withdraw(): void;
  release(): void;
}

interface Thread {
  readonly number: number;
  readonly spare: boolean;
  worker: Worker;
  /** Where its large pieces lie. */
  ring: Uint8Array;
  /** In the order in which the thread comes to them. */
  readonly waiting: Set<Waiting>;
  /** Times that it died since it last answered. */
  deaths: number;
  /** Set while it is dead, until it is started again. */
  restart: Timer | undefined;
  /** When it began with the first of them, or was done with the last. */
  since: number;
  /** Which search it was at when that was last looked at, and how far. */
  seen: { readonly job: number; readonly beats: number };
}

export class Searchers {
  readonly #arenas: readonly Arena[];
  readonly #clock: Clock;
  readonly #threads: Thread[] = [];
  readonly #ordinary: number;
  readonly #most: number;
  readonly #stay: boolean;
  readonly #indexes = new Map<number, IndexPlace>();
  readonly #jobs = new Map<number, Waiting>();
  readonly #cells = new Cells((number, memory) => {
    for (const { worker } of this.#threads) tell(worker, { kind: "board", number, memory });
  });
  /** What is sent when this turn of the event loop has asked for all that it will. */
  #leaving: Waiting[] = [];
  #lastJob = 0;
  #deaths = 0;
  #closed = false;
  #look: Timer | undefined;
  #idle: Timer | undefined;

  /** `spares`: how many more there may be while more searches take long than there are ordinary ones. `stay`: whether these stay when they have nothing to do. */
  constructor(
    { threads, spares, stay }: { readonly threads: number; readonly spares: number; readonly stay: boolean },
    arenas: readonly Arena[],
    clock: Clock,
  ) {
    this.#arenas = arenas;
    this.#clock = clock;
    this.#ordinary = threads;
    this.#most = threads + spares;
    this.#stay = stay;
    for (let number = 0; number < threads; number += 1) this.#start(number);
  }

  get threads(): number {
    return this.#ordinary;
  }

  /** How many have died since the beginning, and how many are not there now. */
  get health(): { readonly deaths: number; readonly dead: number } {
    return { deaths: this.#deaths, dead: this.#threads.filter(({ restart }) => restart).length };
  }

  open(place: IndexPlace): void {
    this.#indexes.set(place.index, place);
    for (const { worker } of this.#threads) tell(worker, { kind: "open", place });
  }

  close(index: number): void {
    this.#indexes.delete(index);
    for (const { worker } of this.#threads) tell(worker, { kind: "close", index });
  }

  run({ query, index, from, to, ...rest }: SearchAsked, onPiece?: (piece: Uint8Array) => void): Running {
    if (this.#closed) throw new EngineError("CLOSED", "the engine is closed");
    const number = ++this.#lastJob;
    const cell = this.#cells.take();
    const terms = { ...rest, query: JSON.stringify(query) };
    const thread = this.#threads.reduce((a, b) => (isBetter(b, a) ? b : a));
    let waiting!: Waiting;
    const reply = new Promise<SearchReply>((resolve, reject) => {
      const job = { job: number, cell: cell.number, index, from, to };
      waiting = { job, terms, cell, resolve, reject, onPiece, thread, released: false };
    });
    this.#jobs.set(number, waiting);
    Atomics.store(cell.words, word.claim, before(thread.number, number));
    this.#give(waiting, thread);
    this.#lookSoon();
    return {
      reply,
      cell: cell.words,
      withdraw: () => {
        if (!this.#jobs.has(number) || !pass(waiting, WITHDRAWN)) return;
        this.#forget(waiting);
        waiting.resolve(NOTHING);
      },
      release: () => {
        waiting.released = true;
        if (!this.#jobs.has(number)) this.#cells.give(cell);
      },
    };
  }

  async stop(): Promise<void> {
    this.#closed = true;
    this.#look?.cancel();
    this.#idle?.cancel();
    for (const { restart } of this.#threads) restart?.cancel();
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
    for (const { reject } of this.#jobs.values()) reject(new EngineError("CLOSED", "the engine was closed"));
    this.#jobs.clear();
  }

  #give(waiting: Waiting, thread: Thread): void {
    if (thread.waiting.size === 0) thread.since = this.#clock.now();
    thread.waiting.add(waiting);
    waiting.thread = thread;
    // After everything that was begun in this turn has got as far as this.
    if (this.#leaving.push(waiting) === 1) process.nextTick(() => this.#send());
  }

  #send(): void {
    const leaving = this.#leaving;
    this.#leaving = [];
    const messages = new Map<string, { thread: Thread; terms: SearchTerms; jobs: SearchJob[] }>();
    for (const { job, terms, thread } of leaving) {
      // Withdrawn before it left.
      if (!this.#jobs.has(job.job)) continue;
      const key = `${thread.number} ${terms.lines} ${terms.firstOfLine} ${terms.bm25} ${terms.filesMax} ${terms.bytesShownMax} ${terms.matchesMax} ${terms.query}`;
      const message = messages.get(key);
      if (message) message.jobs.push(job);
      else messages.set(key, { thread, terms, jobs: [job] });
    }
    for (const { thread, terms, jobs } of messages.values())
      tell(thread.worker, { kind: "search", terms, jobs: packJobs(jobs) });
  }

  #forget(waiting: Waiting): void {
    if (!this.#jobs.delete(waiting.job.job)) return;
    waiting.thread.waiting.delete(waiting);
    if (waiting.released) this.#cells.give(waiting.cell);
  }

  #lookSoon(): void {
    if (this.#look !== undefined || this.#closed) return;
    if (!this.#threads.some((thread) => thread.waiting.size >= leastRelieved(thread))) return;
    this.#look = this.#clock.after(PATIENCE_MS, () => {
      this.#look = undefined;
      this.#relieve();
      this.#lookSoon();
    });
  }

  /** Gives what waits behind something long to threads that have nothing to do. */
  #relieve(): void {
    const now = this.#clock.now();
    for (const thread of this.#threads) {
      if (thread.waiting.size < leastRelieved(thread) || now - thread.since < PATIENCE_MS) continue;
      const free = this.#threads.filter(({ waiting, restart }) => waiting.size === 0 && !restart);
      if (free.length === 0 && isAtLength(thread)) free.push(...this.#another());
      if (free.length === 0) continue;
      let next = 0;
      for (const waiting of thread.waiting) {
        const other = free[next++ % free.length]!;
        if (!pass(waiting, before(other.number, waiting.job.job))) continue;
        thread.waiting.delete(waiting);
        this.#give(waiting, other);
      }
    }
  }

  /** None when there are as many as there may be. */
  #another(): Thread[] {
    if (this.#threads.length >= this.#most) return [];
    let number = this.#ordinary;
    while (this.#threads.some((each) => each.number === number)) number += 1;
    if (!this.#stay) this.#dismissLater();
    return [this.#start(number)];
  }

  #dismissLater(): void {
    this.#idle ??= this.#clock.after(SPARE_IDLE_MS, () => {
      this.#idle = undefined;
      const now = this.#clock.now();
      for (const thread of this.#threads.filter(({ spare }) => spare)) {
        if (thread.waiting.size > 0 || now - thread.since < SPARE_IDLE_MS) continue;
        this.#threads.splice(this.#threads.indexOf(thread), 1);
        // It ends by itself; nobody waits for that.
        void thread.worker.terminate();
      }
      if (this.#threads.length > this.#ordinary) this.#dismissLater();
    });
  }

  #start(number: number): Thread {
    const thread: Thread = {
      number,
      spare: number >= this.#ordinary,
      worker: this.#open(number),
      ring: new Uint8Array(0),
      waiting: new Set(),
      deaths: 0,
      restart: undefined,
      since: this.#clock.now(),
      seen: { job: 0, beats: 0 },
    };
    this.#threads.push(thread);
    this.#listen(thread);
    return thread;
  }

  #open(number: number): Worker {
    const worker = startThread("search-thread", { thread: number });
    worker.unref();
    for (const [arena, { memory }] of this.#arenas.entries())
      tell(worker, { kind: "arena", number: arena, memory });
    for (const [board, memory] of this.#cells.boards.entries())
      tell(worker, { kind: "board", number: board, memory });
    for (const place of this.#indexes.values()) tell(worker, { kind: "open", place });
    return worker;
  }

  #listen(thread: Thread): void {
    const { worker } = thread;
    worker.on("message", (message: FromSearcher) => {
      if (message.kind === "ring") thread.ring = new Uint8Array(message.memory);
      else this.#hear(message, thread);
    });
    worker.on("error", (error: Error) => {
      if (this.#closed || !this.#threads.includes(thread)) return;
      this.#deaths += 1;
      for (const waiting of thread.waiting) {
        if (isUntouched(waiting)) continue;
        this.#forget(waiting);
        waiting.reject(error);
      }
      const pauseMs =
        thread.deaths === 0 ? 0 : Math.min(RESTART_MS_MAX, RESTART_FIRST_MS * 2 ** (thread.deaths - 1));
      thread.deaths += 1;
      thread.since = this.#clock.now();
      if (pauseMs === 0) return this.#startAgain(thread);
      thread.restart = this.#clock.after(pauseMs, () => this.#startAgain(thread));
      this.#lookSoon();
    });
  }

  /** What waits for it and was not begun goes to it again. */
  #startAgain(thread: Thread): void {
    thread.restart = undefined;
    if (this.#closed || !this.#threads.includes(thread)) return;
    thread.worker = this.#open(thread.number);
    this.#listen(thread);
    for (const { job, terms } of [...thread.waiting].filter(isUntouched))
      tell(thread.worker, { kind: "search", terms, jobs: packJobs([job]) });
    thread.since = this.#clock.now();
  }

  #hear(message: Exclude<FromSearcher, { kind: "ring" }>, thread: Thread): void {
    thread.deaths = 0;
    if (message.kind === "done") {
      for (const { job, reply } of unpackReplies(message))
        this.#settle(job, (waiting) => waiting.resolve(reply));
      return;
    }
    if (message.kind === "failed") {
      const { code, message: text, position } = message;
      const error = code === undefined ? new Error(text) : new EngineError(code, text, position);
      this.#settle(message.job, (waiting) => waiting.reject(error));
      return;
    }
    const { job, piece } = message;
    this.#jobs
      .get(job)
      ?.onPiece?.(piece instanceof Uint8Array ? piece : thread.ring.subarray(piece.from, piece.to));
  }

  #settle(job: number, tell: (waiting: Waiting) => void): void {
    const waiting = this.#jobs.get(job);
    if (waiting === undefined) return;
    waiting.thread.since = this.#clock.now();
    this.#forget(waiting);
    tell(waiting);
  }
}

const NOTHING: SearchReply = {
  counts: { files: 0, lines: 0, matches: 0, documents: 0, documentsScanned: 0, bytesScanned: 0 },
  stopped: "interrupted",
};

/**
 * Whether it is still at the search that it was at when this was last asked, and has got on with it. One that has not got on only waits for a processor, and so would another that was started
 * for what waits behind it.
 */
function isAtLength(thread: Thread): boolean {
  const { job: jobBefore, beats: beatsBefore } = thread.seen;
  for (const { job, cell } of thread.waiting) {
    if (!isBegun(Atomics.load(cell.words, word.claim))) continue;
    const beats = Atomics.load(cell.words, word.beats);
    thread.seen = { job: job.job, beats };
    return job.job === jobBefore && beats !== beatsBefore;
  }
  return false;
}

/** No thread has begun with it. */
function isUntouched({ cell, thread, job }: Waiting): boolean {
  return Atomics.load(cell.words, word.claim) === before(thread.number, job.job);
}

/** Whether a search should rather go to `a`: one that lives, and then one with less to do. */
function isBetter(a: Thread, b: Thread): boolean {
  const [dead, other] = [a.restart !== undefined, b.restart !== undefined];
  return dead === other ? a.waiting.size < b.waiting.size : other;
}

/** What waits for a dead thread need not wait behind another to be given on. */
function leastRelieved({ restart }: Thread): number {
  return restart === undefined ? 2 : 1;
}

/** Takes it from before its thread; false when that has begun with it. */
function pass({ cell, thread, job }: Waiting, to: number): boolean {
  const from = before(thread.number, job.job);
  return Atomics.compareExchange(cell.words, word.claim, from, to) === from;
}

function tell(worker: Worker, message: ToSearcher): void {
  worker.postMessage(message, []);
}
