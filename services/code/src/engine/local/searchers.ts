/** The searching threads: gives each search to the one with least to do, and starts a thread again when it dies. */
import type { Worker } from "node:worker_threads";
import { EngineError } from "../errors.ts";
import type { Arena } from "../memory/arena.ts";
import type { FromSearcher, IndexPlace, SearchJob, SearchReply, ToSearcher } from "../threads/protocol.ts";
import { startThread } from "../threads/start-thread.ts";

interface Waiting {
  readonly resolve: (reply: SearchReply) => void;
  readonly reject: (error: Error) => void;
  readonly onPiece: ((piece: Uint8Array) => void) | undefined;
}

interface Thread {
  worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

export class Searchers {
  readonly #arenas: readonly Arena[];
  readonly #threads: Thread[] = [];
  readonly #indexes = new Map<number, IndexPlace>();
  #jobs = 0;
  #closed = false;

  constructor(threads: number, arenas: readonly Arena[]) {
    this.#arenas = arenas;
    for (let number = 0; number < threads; number += 1) {
      const waiting = new Map<number, Waiting>();
      this.#threads.push({ worker: this.#start(number, waiting), waiting });
    }
  }

  get threads(): number {
    return this.#threads.length;
  }

  open(place: IndexPlace): void {
    this.#indexes.set(place.index, place);
    for (const { worker } of this.#threads) tell(worker, { kind: "open", place });
  }

  close(index: number): void {
    this.#indexes.delete(index);
    for (const { worker } of this.#threads) tell(worker, { kind: "close", index });
  }

  run(job: Omit<SearchJob, "job">, onPiece?: (piece: Uint8Array) => void): Promise<SearchReply> {
    if (this.#closed) return Promise.reject(new EngineError("CLOSED", "the engine is closed"));
    const number = ++this.#jobs;
    const thread = this.#threads.reduce((a, b) => (b.waiting.size < a.waiting.size ? b : a));
    return new Promise((resolve, reject) => {
      thread.waiting.set(number, { resolve, reject, onPiece });
      tell(thread.worker, { kind: "search", job: { ...job, job: number } });
    });
  }

  async stop(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
    for (const { waiting } of this.#threads)
      fail(waiting, new EngineError("CLOSED", "the engine was closed"));
  }

  #start(number: number, waiting: Map<number, Waiting>): Worker {
    const worker = startThread("search-thread", { thread: number });
    worker.unref();
    for (const [arena, { memory }] of this.#arenas.entries())
      tell(worker, { kind: "arena", number: arena, memory });
    for (const place of this.#indexes.values()) tell(worker, { kind: "open", place });
    worker.on("message", (message: FromSearcher) => settle(waiting, message));
    worker.on("error", (error: Error) => {
      fail(waiting, error);
      const thread = this.#threads[number];
      if (!this.#closed && thread !== undefined) thread.worker = this.#start(number, waiting);
    });
    return worker;
  }
}

function tell(worker: Worker, message: ToSearcher): void {
  worker.postMessage(message, []);
}

function settle(waiting: Map<number, Waiting>, message: FromSearcher): void {
  const job = waiting.get(message.job);
  if (job === undefined) return;
  if (message.kind === "piece") {
    job.onPiece?.(message.piece);
    return;
  }
  waiting.delete(message.job);
  if (message.kind === "done") job.resolve(message);
  else if (message.code === undefined) job.reject(new Error(message.message));
  else job.reject(new EngineError(message.code, message.message, message.position));
}

function fail(waiting: Map<number, Waiting>, error: Error): void {
  for (const { reject } of waiting.values()) reject(error);
  waiting.clear();
}
