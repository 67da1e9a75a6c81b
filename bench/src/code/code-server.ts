/** The process with the index, from outside: asked over HTTP, as any client would. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { join } from "node:path";

export interface Usage {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly stallMs: number;
}

export interface Started {
  readonly bytes: number;
  readonly port: number;
  readonly skipped: readonly string[];
  readonly memoryBytes: number;
}

function start(mode: "build" | "serve", corpus: string, memoryBytes: number): ChildProcess {
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

export async function measureBuild(
  corpus: string,
  memoryBytes: number,
): Promise<{ bytes: number; cpuMs: number; memoryBytes: number }> {
  const child = start("build", corpus, memoryBytes);
  const measured = await firstMessage<{ bytes: number; cpuMs: number; memoryBytes: number }>(child);
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
    return JSON.parse((await this.#get(reset ? "/usage?reset" : "/usage")).toString("utf8")) as Usage;
  }

  /** The whole answer, and how long it took. */
  async search(pattern: string, timeCapMs = 60_000): Promise<{ body: Buffer; tookMs: number }> {
    const startedAt = performance.now();
    const body = await this.#get(`/search?q=${encodeURIComponent(pattern)}&timeCapMs=${timeCapMs}`);
    return { body, tookMs: performance.now() - startedAt };
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    this.#child.disconnect();
    if (this.#child.exitCode === null) await once(this.#child, "exit");
  }

  #get(path: string): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      get({ port: this.started.port, host: "127.0.0.1", path, agent: this.#agent }, (response) => {
        const pieces: Buffer[] = [];
        response.on("data", (piece: Buffer) => pieces.push(piece));
        response.on("error", reject);
        response.on("end", () => {
          const body = Buffer.concat(pieces);
          if (response.statusCode === 200) resolve(body);
          else reject(new Error(body.toString("utf8")));
        });
      }).on("error", reject);
    });
  }
}

/** The lines of each file in an answer. */
export function linesOfAnswer(body: Buffer): {
  found: Map<string, number[]>;
  partial: string | undefined;
  lines: number;
} {
  const found = new Map<string, number[]>();
  let partial: string | undefined = "no end";
  let lines = 0;
  for (let at = 0; at < body.length;) {
    const end = body.indexOf(10, at);
    const each = JSON.parse(body.toString("utf8", at, end)) as {
      path: string;
      line: number;
      done?: boolean;
      partial?: string;
    };
    at = end + 1;
    if (each.done === true) {
      partial = each.partial;
      continue;
    }
    lines += 1;
    const numbers = found.get(each.path);
    if (numbers === undefined) found.set(each.path, [each.line]);
    else numbers.push(each.line);
  }
  return { found, partial, lines };
}
