/**
 * One HTTP request on a pool, and its whole answer. It is here because two things matter that the pool's simpler calls do not tell: whether the request can
 * have reached the server before it failed, and that a request whose time is over before it got a connection is never sent.
 */
import type { Dispatcher, Pool } from "undici";
import type { S3Answer } from "./answers.ts";

/** No answer. `sent` is false when the server cannot have seen the request. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly sent: boolean;

  constructor(message: string, sent: boolean, cause: unknown) {
    super(message, { cause });
    this.sent = sent;
  }
}

/** Sends a request; `signal` ends it. An answer with a body longer than `bodyBytesMax` comes without it. Throws TransportError. */
export function exchange(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  bodyBytesMax: number,
  signal: AbortSignal,
): Promise<S3Answer> {
  return new Promise((resolve, reject) => {
    const handler = new Exchange(bodyBytesMax, signal, resolve, reject);
    pool.dispatch(request, handler);
  });
}

type Headers = Record<string, string | string[] | undefined>;

class Exchange implements Dispatcher.DispatchHandler {
  readonly #bodyBytesMax: number;
  readonly #signal: AbortSignal;
  readonly #resolve: (answer: S3Answer) => void;
  readonly #reject: (error: TransportError) => void;
  readonly #onAbort = (): void => this.#end();
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: Record<string, string | undefined> = {};
  readonly #chunks: Buffer[] = [];

  constructor(
    bodyBytesMax: number,
    signal: AbortSignal,
    resolve: (answer: S3Answer) => void,
    reject: (error: TransportError) => void,
  ) {
    this.#bodyBytesMax = bodyBytesMax;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    if (signal.aborted) this.#end();
    else signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** It has a connection and is about to be written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#signal.aborted) controller.abort(new Error("over before it was sent"));
    else this.#controller = controller;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    this.#status = status;
    this.#headers = flatten(headers);
    // Reading a long body to its end would cost more than the connection.
    if (Number(this.#headers["content-length"] ?? 0) <= this.#bodyBytesMax) return;
    this.#answer();
    controller.abort(new Error("more than was asked for"));
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#answer();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#fail((error as NodeJS.ErrnoException).code ?? error.message, error);
  }

  #end(): void {
    const reason = new Error("no answer in time");
    // Told first, because aborting reports an error of its own.
    this.#fail(reason.message, reason);
    this.#controller?.abort(reason);
  }

  #answer(): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    const body = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    this.#resolve({ status: this.#status, headers: this.#headers, body });
  }

  #fail(message: string, cause: unknown): void {
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#reject(new TransportError(message, this.#controller !== undefined, cause));
  }
}

function flatten(headers: Headers): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
}
