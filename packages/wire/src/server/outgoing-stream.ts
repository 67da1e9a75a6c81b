import { encodeFrame } from "../frame/codec.ts";
import { KIND } from "../frame/frame.ts";
import type { Link } from "../link/link.ts";
import type { WireLimits } from "../limits.ts";
import { Incoming, type Peer } from "./incoming.ts";

/**
 * The server's end of a stream. Items leave while the reader has given credit and the socket takes them; otherwise they wait in a
 * bounded buffer. A reader that falls behind the buffer is ended with SLOW_CONSUMER: memory never grows with its slowness.
 *
 * A handler writes and looks at the answer: `false` means "await ready() first". The stream ends when the handler's promise does.
 */
export class OutgoingStream extends Incoming {
  readonly #id: number;
  readonly #link: Link;
  readonly #limits: WireLimits;
  #credit: number;
  #seq = 0;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #last: Buffer | undefined;
  #finished = false;
  #wake: (() => void)[] = [];

  constructor(
    id: number,
    link: Link,
    limits: WireLimits,
    credit: number,
    from: { body: unknown; trace: string | undefined; peer: Peer },
  ) {
    super(from.body, Infinity, from.trace, from.peer);
    this.#id = id;
    this.#link = link;
    this.#limits = limits;
    this.#credit = credit;
  }

  /**
   * Sends or buffers one item. False: wait for `ready()` before the next; true: go on. Ignored after the stream has ended. `bytesInside`: how many bytes it is known to hold,
   * so that a large one is packed into memory that is used again.
   */
  write(item: unknown, bytesInside = 0): boolean {
    if (this.#finished || this.aborted || this.#last !== undefined) return false;
    const bytes = encodeFrame(
      { kind: KIND.item, id: this.#id, seq: this.#seq, body: item },
      this.#limits.frameBytesMax,
      bytesInside,
    );
    this.#seq += 1;
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#pump();
    if (
      this.#waiting.length > this.#limits.streamBufferItemsMax ||
      this.#waitingBytes > this.#limits.streamBufferBytesMax
    ) {
      this.fail(
        "SLOW_CONSUMER",
        `the reader is ${this.#waiting.length} items (${this.#waitingBytes} bytes) behind`,
      );
    }
    return this.#isReady();
  }

  /** Resolves with true when an item can leave at once, with false when the stream has ended. */
  async ready(): Promise<boolean> {
    while (!this.#isReady()) {
      if (this.#finished || this.aborted) return false;
      await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
    return true;
  }

  /** Resolves when nobody reads any more: for handlers that are fed by something else and have nothing to wait for. */
  async closed(): Promise<void> {
    while (!this.#finished && !this.aborted) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** Called by the connection: the reader took `n` items more. */
  addCredit(n: number): void {
    this.#credit += n;
    this.pump();
  }

  /** Called by the connection: the socket takes bytes again. */
  pump(): void {
    this.#pump();
    if (this.#isReady() || this.#finished) this.#wakeAll();
  }

  /** Called by the connection when the handler is done: ends after what is buffered, and resolves when that has left. */
  async finish(): Promise<void> {
    this.#last = encodeFrame({ kind: KIND.end, id: this.#id }, this.#limits.frameBytesMax);
    this.pump();
    await this.closed();
  }

  /** Drops what is buffered and ends with a failure. */
  fail(code: string, message: string): void {
    if (this.#finished) return;
    this.#link.sendFrame({ kind: KIND.failure, id: this.#id, code, message });
    this.abort(code, message);
  }

  override abort(code: string, message: string): void {
    this.#finished = true;
    this.#waiting = [];
    this.#waitingBytes = 0;
    super.abort(code, message);
    this.#wakeAll();
  }

  #isReady(): boolean {
    return (
      !this.#finished &&
      !this.aborted &&
      this.#waiting.length === 0 &&
      this.#credit > 0 &&
      this.#socketTakes()
    );
  }

  #socketTakes(): boolean {
    return this.#link.queuedBytes < this.#limits.sendBufferBytesHigh;
  }

  #pump(): void {
    if (this.#finished) return;
    let sent = 0;
    while (sent < this.#waiting.length && this.#credit > 0 && this.#socketTakes()) {
      const bytes = this.#waiting[sent] as Buffer;
      this.#link.send(bytes);
      this.#waitingBytes -= bytes.length;
      this.#credit -= 1;
      sent += 1;
    }
    if (sent > 0) this.#waiting.splice(0, sent);
    if (this.#waiting.length === 0 && this.#last !== undefined) {
      this.#finished = true;
      this.#link.send(this.#last);
    }
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const each of wake) each();
  }
}
