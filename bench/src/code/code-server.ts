/** The process with the index, from outside: asked over HTTP, as any client would. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { readAnswer, type Answer } from "./answer.ts";
import type { Stall } from "./stalls.ts";

/** Stalls are those since the last reset. */
export interface Usage extends Stall {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

interface Started {
  readonly port: number;
  readonly skipped: readonly string[];
}

/** Longer than any of the questions takes. */
const CAP_MS = 120_000;

type Mode = "build" | "serve" | "push";

function start(mode: Mode, corpus: string, memoryBytes: number): ChildProcess {
  const file = join(import.meta.dirname, "code-process.js");
  return fork(file, [mode, corpus, String(memoryBytes)], { execArgv: ["--max-semi-space-size=1"] });
}

async function firstMessage<T>(child: ChildProcess): Promise<T> {
  const failed = once(child, "exit").then(([code]) => {
    throw new Error(`the process with the index ended with ${String(code)} before it was ready`);
  });
  const [message] = (await Promise.race([once(child, "message"), failed])) as [T];
  return message;
}

export interface Built {
  readonly bytes: number;
  readonly memoryBytes: number;
  /** Of the first build, into memory that nothing has touched. */
  readonly coldCpuMs: number;
  /** The least of those after it, into memory that was released. */
  readonly cpuMs: number;
}

export function measureBuild(corpus: string, memoryBytes: number): Promise<Built> {
  return measureIn<Built>("build", corpus, memoryBytes);
}

export interface Pushed {
  readonly bytes: number;
  /** From the list of documents, one of them new, to the answer that has it; the longest of several. */
  readonly searchableMs: number;
}

export function measurePush(corpus: string, memoryBytes: number): Promise<Pushed> {
  return measureIn<Pushed>("push", corpus, memoryBytes);
}

async function measureIn<T>(mode: Mode, corpus: string, memoryBytes: number): Promise<T> {
  const child = start(mode, corpus, memoryBytes);
  const measured = await firstMessage<T>(child);
  if (child.exitCode === null) await once(child, "exit");
  return measured;
}

export class CodeServer {
  readonly started: Started;
  readonly #child: ChildProcess;
  readonly #agent = new Agent({ keepAlive: true });

  private constructor(child: ChildProcess, started: Started) {
    this.#child = child;
    this.started = started;
  }

  static async start(corpus: string, memoryBytes: number): Promise<CodeServer> {
    const child = start("serve", corpus, memoryBytes);
    return new CodeServer(child, await firstMessage<Started>(child));
  }

  async usage(reset = false): Promise<Usage> {
    return (await json(await this.#get(reset ? "/usage?reset" : "/usage"))) as Usage;
  }

  /** The whole answer, read. */
  async search(pattern: string): Promise<Answer> {
    return readAnswer(await this.#search(pattern, CAP_MS));
  }

  /** How long the whole answer took to arrive. */
  async wait(pattern: string, timeCapMs = CAP_MS): Promise<number> {
    const startedAt = performance.now();
    for await (const piece of await this.#search(pattern, timeCapMs)) void piece;
    return performance.now() - startedAt;
  }

  #search(pattern: string, timeCapMs: number): Promise<IncomingMessage> {
    return this.#get(`/search?q=${encodeURIComponent(pattern)}&timeCapMs=${timeCapMs}`);
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    this.#child.disconnect();
    if (this.#child.exitCode === null) await once(this.#child, "exit");
  }

  #get(path: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get({ port: this.started.port, host: "127.0.0.1", path, agent: this.#agent }, resolve).on(
        "error",
        reject,
      );
    });
  }
}
