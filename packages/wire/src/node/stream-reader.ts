import { TransportError, type AbortSignalLike, type Clock } from "@keelson/kernel";
import { WireFailure } from "../errors.ts";
import type { StreamHandle, StreamSink } from "../client/incoming-stream.ts";

type Ending = { readonly error: Error | undefined };

/**
 * A stream's items to be read one by one: an item is taken from the connection only when the one before it was read, so a slow reader slows
 * the writer down. Reading stops by leaving the loop, or by the signal.
 */
export class StreamReader implements StreamSink, AsyncIterable<unknown> {
  readonly #clock: Clock;
  readonly #signal: AbortSignalLike | undefined;
  readonly #cancel = (): void => this.#stop(new WireFailure("CANCELLED", "the caller cancelled"));
  #handle: StreamHandle | undefined;
  #item: { readonly body: unknown; readonly taken: () => void } | undefined;
  #ending: Ending | undefined;
  #wake: (() => void) | undefined;

  constructor(clock: Clock, signal: AbortSignalLike | undefined) {
    this.#clock = clock;
    this.#signal = signal;
    signal?.addEventListener("abort", this.#cancel, { once: true });
  }

  /** Told once, with what opening the stream gave. */
  attach(handle: StreamHandle): void {
    this.#handle = handle;
    if (this.#signal?.aborted === true) this.#cancel();
  }

  item(body: unknown): Promise<void> {
    return new Promise((taken) => {
      this.#item = { body, taken };
      this.#wake?.();
    });
  }

  end(): void {
    this.#finish(undefined);
  }

  fail(error: Error): void {
    this.#finish(error);
  }

  /** The first item, within that time. */
  async first(timeoutMs: number): Promise<unknown> {
    const timer = this.#clock.after(timeoutMs, () =>
      this.#stop(new TransportError("TIMEOUT", `the stream did not begin within ${timeoutMs} ms`)),
    );
    try {
      const { done, value } = await this.#next();
      if (done === true) throw new WireFailure("BAD_REPLY", "the stream ended before it began");
      return value;
    } finally {
      timer.cancel();
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void> {
    try {
      for (;;) {
        const { done, value } = await this.#next();
        if (done === true) return;
        yield value;
      }
    } finally {
      this.#stop(undefined);
    }
  }

  async #next(): Promise<{ done?: boolean; value?: unknown }> {
    while (this.#item === undefined && this.#ending === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#wake = undefined;
    const item = this.#item;
    if (item !== undefined) {
      this.#item = undefined;
      item.taken();
      return { value: item.body };
    }
    if (this.#ending?.error !== undefined) throw this.#ending.error;
    return { done: true };
  }

  #stop(error: Error | undefined): void {
    this.#handle?.close();
    this.#finish(error);
  }

  #finish(error: Error | undefined): void {
    this.#ending ??= { error };
    this.#signal?.removeEventListener("abort", this.#cancel);
    this.#wake?.();
  }
}
