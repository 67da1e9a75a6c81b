import type { TransportError } from "@keelson/kernel";
import { WireFailure } from "../errors.ts";
import type { Exchange } from "./exchange.ts";

/**
 * Where a stream's items go. `end` or `fail` comes once, last, and not at all after `close()`. When `item` returns a promise the next
 * item waits for it, and the server runs out of credit: that is the back-pressure.
 */
export interface StreamSink {
  item(body: unknown): void | Promise<void>;
  end(): void;
  /** What `item` threw comes here too. */
  fail(error: TransportError | WireFailure | Error): void;
}

export interface StreamHandle {
  /** Nothing reaches the sink after this. */
  close(): void;
}

/** What a stream asks of its connection. */
export interface StreamLine {
  credit(id: number, n: number): void;
  cancel(id: number): void;
}

type Ending = { readonly error: Error | undefined };

/** The client's end of a stream: keeps order, grants credit as the sink takes items, and never holds more than its window. */
export class IncomingStream implements Exchange, StreamHandle {
  readonly id: number;
  sent = false;
  readonly #line: StreamLine;
  readonly #sink: StreamSink;
  readonly #windowItems: number;
  readonly #bufferBytesMax: number;
  #queue: { readonly body: unknown; readonly bytes: number }[] = [];
  #queuedBytes = 0;
  #busy = false;
  #nextSeq = 0;
  #taken = 0;
  #ending: Ending | undefined;
  #over = false;

  constructor(id: number, line: StreamLine, sink: StreamSink, windowItems: number, bufferBytesMax: number) {
    this.id = id;
    this.#line = line;
    this.#sink = sink;
    this.#windowItems = windowItems;
    this.#bufferBytesMax = bufferBytesMax;
  }

  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#queue = [];
    if (this.#ending === undefined) this.#line.cancel(this.id);
  }

  /** From the connection. An item out of order, or beyond the credit, breaks the protocol: it ends the stream. */
  item(seq: number, body: unknown, bytes: number): void {
    if (this.#over || this.#ending !== undefined) return;
    if (seq !== this.#nextSeq) {
      return this.#abandon(
        new WireFailure("INTERNAL", `item ${seq} came where ${this.#nextSeq} was expected`),
      );
    }
    if (this.#queue.length >= this.#windowItems) {
      return this.#abandon(
        new WireFailure("INTERNAL", `item ${seq} came beyond the credit of ${this.#windowItems}`),
      );
    }
    this.#nextSeq += 1;
    if (!this.#busy) return this.#deliver(body);
    this.#queue.push({ body, bytes });
    this.#queuedBytes += bytes;
    if (this.#queuedBytes > this.#bufferBytesMax) {
      this.#abandon(new WireFailure("SLOW_CONSUMER", `${this.#queuedBytes} bytes wait for the sink`));
    }
  }

  /** From the connection: the last item has come. */
  end(): void {
    this.#ending ??= { error: undefined };
    this.#finishIfDone();
  }

  /** From the connection. What is queued is still delivered before it, so that the sink knows how far it got. */
  fail(error: TransportError | WireFailure): void {
    this.#ending ??= { error };
    this.#finishIfDone();
  }

  #abandon(error: Error): void {
    this.#line.cancel(this.id);
    this.#over = true;
    this.#queue = [];
    this.#sink.fail(error);
  }

  #deliver(body: unknown): void {
    let taking: void | Promise<void>;
    try {
      taking = this.#sink.item(body);
    } catch (error) {
      return this.#sinkThrew(error);
    }
    if (taking === undefined) return this.#tookOne();
    this.#busy = true;
    taking.then(
      () => this.#takeNext(),
      (error: unknown) => this.#sinkThrew(error),
    );
  }

  #takeNext(): void {
    this.#busy = false;
    this.#tookOne();
    while (!this.#busy && !this.#over) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#queuedBytes -= next.bytes;
      this.#deliver(next.body);
    }
    this.#finishIfDone();
  }

  /** Credit goes back in halves of the window: rarely enough to be cheap, early enough to keep the server sending. */
  #tookOne(): void {
    this.#taken += 1;
    if (this.#taken * 2 < this.#windowItems || this.#over || this.#ending !== undefined) return;
    this.#line.credit(this.id, this.#taken);
    this.#taken = 0;
  }

  #finishIfDone(): void {
    if (this.#over || this.#busy || this.#queue.length > 0 || this.#ending === undefined) return;
    this.#over = true;
    if (this.#ending.error === undefined) this.#sink.end();
    else this.#sink.fail(this.#ending.error);
  }

  #sinkThrew(error: unknown): void {
    if (this.#over) return;
    this.#abandon(error instanceof Error ? error : new Error(String(error)));
  }
}
