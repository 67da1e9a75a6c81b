/**
 * The searching threads. A search goes to a thread that has nothing to do; when all have, it waits behind one of them, and when that one turns out to take long, it is given to
 * another, which is started for it if need be: the system then shares the processors out among them, so that a search of milliseconds does not wait for one of seconds. What waits longer
 * than its time cap is answered without a thread. A thread that dies is started again.
 */
import type { Worker } from "node:worker_threads";
import type { Clock, Timer } from "@keelson/kernel";
import { EngineError } from "../errors.ts";
import type { Arena } from "../memory/arena.ts";
import {
  WITHDRAWN,
  before,
  control,
  type FromSearcher,
  type IndexPlace,
  type SearchJob,
  type SearchReply,
  type ToSearcher,
} from "../threads/protocol.ts";
import { startThread } from "../threads/start-thread.ts";

/** How long a search may keep others waiting behind it before they are given to another thread. */
const PATIENCE_MS = 4;
/** Threads beside the ordinary ones, while more searches take long than there are of those. */
export const SPARE_THREADS = 4;
/** One that was started beside the others goes away when it had nothing to do for so long. */
const SPARE_IDLE_MS = 30_000;

interface Waiting {
  readonly job: SearchJob;
  readonly flags: Int32Array;
  readonly resolve: (reply: SearchReply) => void;
  readonly reject: (error: Error) => void;
  readonly onPiece: ((piece: Uint8Array) => void) | undefined;
  thread: Thread;
}

/** A part of a search that was given to the threads. */
export interface Running {
  readonly reply: Promise<SearchReply>;
  /** Ends it when no thread has begun with it: as a search that was stopped before it found anything. */
  withdraw(): void;
}

interface Thread {
  readonly number: number;
  readonly spare: boolean;
  worker: Worker;
  /** Where its large pieces lie. */
  ring: Uint8Array;
  /** In the order in which the thread comes to them. */
  readonly waiting: Set<Waiting>;
  /** When it began with the first of them, or was done with the last. */
  since: number;
}

export class Searchers {
  readonly #arenas: readonly Arena[];
  readonly #clock: Clock;
  readonly #threads: Thread[] = [];
  readonly #ordinary: number;
  readonly #indexes = new Map<number, IndexPlace>();
  readonly #jobs = new Map<number, Waiting>();
  #lastJob = 0;
  #closed = false;
  #look: Timer | undefined;
  #idle: Timer | undefined;

  constructor(threads: number, arenas: readonly Arena[], clock: Clock) {
    this.#arenas = arenas;
    this.#clock = clock;
    this.#ordinary = threads;
    for (let number = 0; number < threads; number += 1) this.#start(number);
  }

  get threads(): number {
    return this.#ordinary;
  }

  open(place: IndexPlace): void {
    this.#indexes.set(place.index, place);
    for (const { worker } of this.#threads) tell(worker, { kind: "open", place });
  }

  close(index: number): void {
    this.#indexes.delete(index);
    for (const { worker } of this.#threads) tell(worker, { kind: "close", index });
  }

  run(job: Omit<SearchJob, "job">, onPiece?: (piece: Uint8Array) => void): Running {
    if (this.#closed)
      return {
        reply: Promise.reject(new EngineError("CLOSED", "the engine is closed")),
        withdraw: () => undefined,
      };
    const number = ++this.#lastJob;
    const flags = new Int32Array(job.control);
    const thread = this.#threads.reduce((a, b) => (b.waiting.size < a.waiting.size ? b : a));
    let waiting!: Waiting;
    const reply = new Promise<SearchReply>((resolve, reject) => {
      waiting = { job: { ...job, job: number }, flags, resolve, reject, onPiece, thread };
    });
    this.#jobs.set(number, waiting);
    Atomics.store(flags, claimOf(waiting), before(thread.number));
    this.#give(waiting, thread);
    this.#lookSoon();
    return {
      reply,
      withdraw: () => {
        if (!this.#jobs.has(number) || !pass(waiting, WITHDRAWN)) return;
        this.#forget(waiting);
        waiting.resolve(NOTHING);
      },
    };
  }

  async stop(): Promise<void> {
    this.#closed = true;
    this.#look?.cancel();
    this.#idle?.cancel();
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
    for (const { reject } of this.#jobs.values()) reject(new EngineError("CLOSED", "the engine was closed"));
    this.#jobs.clear();
  }

  #give(waiting: Waiting, thread: Thread): void {
    if (thread.waiting.size === 0) thread.since = this.#clock.now();
    thread.waiting.add(waiting);
    waiting.thread = thread;
    tell(thread.worker, { kind: "search", job: waiting.job });
  }

  #forget(waiting: Waiting): void {
    this.#jobs.delete(waiting.job.job);
    waiting.thread.waiting.delete(waiting);
  }

  #lookSoon(): void {
    if (this.#look !== undefined || this.#closed) return;
    if (!this.#threads.some(({ waiting }) => waiting.size > 1)) return;
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
      if (thread.waiting.size < 2 || now - thread.since < PATIENCE_MS) continue;
      const free = this.#threads.filter(({ waiting }) => waiting.size === 0);
      if (free.length === 0) free.push(...this.#another());
      if (free.length === 0) return;
      let next = 0;
      for (const waiting of thread.waiting) {
        const other = free[next++ % free.length]!;
        if (!pass(waiting, before(other.number))) continue;
        thread.waiting.delete(waiting);
        this.#give(waiting, other);
      }
    }
  }

  /** None when there are as many as there may be. */
  #another(): Thread[] {
    if (this.#threads.length >= this.#ordinary + SPARE_THREADS) return [];
    let number = this.#ordinary;
    while (this.#threads.some((each) => each.number === number)) number += 1;
    this.#dismissLater();
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
      since: this.#clock.now(),
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
      if (this.#closed) return;
      thread.worker = this.#open(thread.number);
      this.#listen(thread);
      for (const waiting of thread.waiting) {
        if (Atomics.load(waiting.flags, claimOf(waiting)) === before(thread.number))
          tell(thread.worker, { kind: "search", job: waiting.job });
        else {
          this.#forget(waiting);
          waiting.reject(error);
        }
      }
      thread.since = this.#clock.now();
    });
  }

  #hear(message: Exclude<FromSearcher, { kind: "ring" }>, thread: Thread): void {
    const waiting = this.#jobs.get(message.job);
    if (waiting === undefined) return;
    if (message.kind === "piece") {
      const { piece } = message;
      waiting.onPiece?.(piece instanceof Uint8Array ? piece : thread.ring.subarray(piece.from, piece.to));
      return;
    }
    waiting.thread.since = this.#clock.now();
    this.#forget(waiting);
    if (message.kind === "done") waiting.resolve(message);
    else if (message.code === undefined) waiting.reject(new Error(message.message));
    else waiting.reject(new EngineError(message.code, message.message, message.position));
  }
}

const NOTHING: SearchReply = {
  counts: { files: 0, lines: 0, matches: 0, documents: 0, documentsScanned: 0, bytesScanned: 0 },
  stopped: "interrupted",
};

function claimOf({ job }: Waiting): number {
  return control.claims + job.part;
}

/** Takes it from before its thread; false when that has begun with it. */
function pass(waiting: Waiting, to: number): boolean {
  const from = before(waiting.thread.number);
  return Atomics.compareExchange(waiting.flags, claimOf(waiting), from, to) === from;
}

function tell(worker: Worker, message: ToSearcher): void {
  worker.postMessage(message, []);
}
