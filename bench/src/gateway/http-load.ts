/**
 * Load over HTTP/1.1 that costs its own process little: connections kept open, one request at a time on each, written and read as bytes. It counts
 * every answer that is not 200 as failed, and measures from when a request was due, not from when a connection was free.
 */
import { connect, type Socket } from "node:net";

export interface HttpLoadOptions {
  readonly url: string;
  readonly connections: number;
  readonly token?: string;
}

export interface LoadResult {
  readonly requests: number;
  readonly failed: number;
  /** Sorted. */
  readonly latenciesMs: readonly number[];
}

export class HttpLoad {
  readonly #lines: Line[];

  private constructor(lines: Line[]) {
    this.#lines = lines;
  }

  static async open({ url, connections, token }: HttpLoadOptions): Promise<HttpLoad> {
    const { hostname, port } = new URL(url);
    const authorization = token === undefined ? "" : `authorization: Bearer ${token}\r\n`;
    const head = ` HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: application/json\r\n${authorization}\r\n`;
    const opening = Array.from({ length: connections }, () => Line.open(hostname, Number(port), head));
    return new HttpLoad(await Promise.all(opening));
  }

  /** Each connection asks again as soon as it is answered. */
  async closedLoop(requests: number, path: (n: number) => string): Promise<LoadResult> {
    let next = 0;
    const tally = new Tally();
    const work = async (line: Line): Promise<void> => {
      for (let n = next++; n < requests; n = next++) {
        const began = performance.now();
        tally.add(await line.get(path(n)), performance.now() - began);
      }
    };
    await Promise.all(this.#lines.map(work));
    return tally.result();
  }

  /** So many a second, whatever the answers take. One that finds no free connection waits, and its waiting counts. */
  async openLoop(perSecond: number, seconds: number, path: (n: number) => string): Promise<LoadResult> {
    const total = Math.round(perSecond * seconds);
    const free = [...this.#lines];
    const waiting: number[] = [];
    const tally = new Tally();
    const began = performance.now();
    const dueAt = (n: number): number => began + (n * 1_000) / perSecond;
    await new Promise<void>((resolve) => {
      let sent = 0;
      let done = 0;
      const start = (line: Line, n: number): void => {
        void line.get(path(n)).then((ok) => {
          tally.add(ok, performance.now() - dueAt(n));
          done += 1;
          const after = waiting.shift();
          if (after === undefined) free.push(line);
          else start(line, after);
          if (done === total) resolve();
        });
      };
      const tick = (): void => {
        for (const now = performance.now(); sent < total && dueAt(sent) <= now; sent += 1) {
          const line = free.pop();
          if (line) start(line, sent);
          else waiting.push(sent);
        }
        if (sent < total) setTimeout(tick, 1);
      };
      tick();
    });
    return tally.result();
  }

  close(): void {
    for (const line of this.#lines) line.close();
  }
}

export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

class Tally {
  readonly #latencies: number[] = [];
  #failed = 0;

  add(ok: boolean, ms: number): void {
    this.#latencies.push(ms);
    if (!ok) this.#failed += 1;
  }

  result(): LoadResult {
    const latenciesMs = Float64Array.from(this.#latencies).toSorted();
    return { requests: latenciesMs.length, failed: this.#failed, latenciesMs: [...latenciesMs] };
  }
}

class Line {
  readonly #socket: Socket;
  readonly #head: string;
  #answer: (ok: boolean) => void = () => undefined;
  #received = "";

  private constructor(socket: Socket, head: string) {
    this.#socket = socket;
    this.#head = head;
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.#take(text));
    socket.on("error", () => this.#answer(false));
    socket.on("close", () => this.#answer(false));
  }

  static open(host: string, port: number, head: string): Promise<Line> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host, () => resolve(new Line(socket, head)));
      socket.once("error", reject);
    });
  }

  get(path: string): Promise<boolean> {
    return new Promise((resolve) => {
      this.#answer = resolve;
      this.#socket.write(`GET ${path}${this.#head}`);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received = this.#received === "" ? text : this.#received + text;
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/content-length: *(\d+)/i.exec(this.#received)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const ok = this.#received.startsWith("HTTP/1.1 200");
    this.#received = "";
    this.#answer(ok);
  }
}
