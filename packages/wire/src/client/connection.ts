import type { Socket } from "node:net";
import { TransportError, type Clock } from "@keelson/kernel";
import { WireFailure } from "../errors.ts";
import { KIND, type Frame } from "../frame/frame.ts";
import { chooseVersion, PROTOCOL, type Hello } from "../frame/hello.ts";
import { Link, type LinkEvents } from "../link/link.ts";
import type { WireLimits } from "../limits.ts";
import { type Exchange, PendingCall } from "./exchange.ts";
import { IncomingStream, type StreamLine } from "./incoming-stream.ts";

/** What a connection tells its client. */
export interface ConnectionWatcher {
  /** The server's hello came: it is there, and accepts us. */
  opened(): void;
  /** Start nothing new here; it ends by itself when its exchanges have. Also called when it ends. */
  retired(connection: ClientConnection, reason: Error): void;
}

/**
 * The client's end of one connection, from connecting to its end. Nothing is sent before the server's hello, so that until then every
 * failure is UNREACHABLE: nothing was sent. After a time-out in silence nothing more is sent until the server is heard again, so that
 * a black hole swallows what was in flight once, and no more.
 */
export class ClientConnection implements LinkEvents, StreamLine {
  readonly #address: string;
  readonly #clock: Clock;
  readonly #watcher: ConnectionWatcher;
  readonly #link: Link;
  readonly #exchanges = new Map<number, Exchange>();
  #unsent: { readonly exchange: Exchange; readonly bytes: Buffer }[] = [];
  #nextId = 1;
  #suspect = false;
  #retired: Error | undefined;

  constructor(
    socket: Socket,
    hello: Hello,
    address: string,
    clock: Clock,
    limits: WireLimits,
    watcher: ConnectionWatcher,
  ) {
    this.#address = address;
    this.#clock = clock;
    this.#watcher = watcher;
    this.#link = new Link(socket, limits, clock, this);
    this.#link.greet(hello);
  }

  get size(): number {
    return this.#exchanges.size;
  }

  get queuedBytes(): number {
    return this.#link.queuedBytes;
  }

  nextId(): number {
    return this.#nextId++;
  }

  start(exchange: Exchange, bytes: Buffer): void {
    this.#exchanges.set(exchange.id, exchange);
    if (this.#link.isOpen && !this.#suspect) this.#send(exchange, bytes);
    else this.#unsent.push({ exchange, bytes });
  }

  hello(hello: Hello): void {
    if (chooseVersion(PROTOCOL, hello) === undefined) {
      return this.#link.end(
        new Error(`${hello.name} speaks protocol ${hello.min} to ${hello.max}, not ${PROTOCOL.max}`),
      );
    }
    this.#watcher.opened();
    this.#sendUnsent();
  }

  frame(frame: Frame, bytes: number): void {
    this.#trust();
    switch (frame.kind) {
      case KIND.response: {
        const call = this.#exchanges.get(frame.id);
        if (!(call instanceof PendingCall)) return;
        this.#forget(frame.id);
        call.answer(frame.body);
        break;
      }
      case KIND.failure: {
        const exchange = this.#forget(frame.id);
        exchange?.fail(new WireFailure(frame.code, frame.message));
        break;
      }
      case KIND.item: {
        const stream = this.#exchanges.get(frame.id);
        if (stream instanceof IncomingStream) stream.item(frame.seq, frame.body, bytes);
        break;
      }
      case KIND.end: {
        const stream = this.#exchanges.get(frame.id);
        if (!(stream instanceof IncomingStream)) return;
        this.#forget(frame.id);
        stream.end();
        break;
      }
      case KIND.goaway:
        this.retire(new Error(`${frame.code}: ${frame.message}`));
        break;
      default:
        this.#link.refuse("MALFORMED", `a server may not send frames of kind ${frame.kind}`);
    }
  }

  closed(reason: Error): void {
    this.#retired ??= reason;
    const exchanges = [...this.#exchanges.values()];
    this.#exchanges.clear();
    this.#unsent = [];
    this.#watcher.retired(this, reason);
    for (const exchange of exchanges) exchange.fail(this.#lost(exchange, this.#retired));
  }

  pong(): void {
    this.#trust();
  }

  drained(): void {
    // Calls wait for nothing: a client refuses new ones while too much is queued.
  }

  credit(id: number, n: number): void {
    this.#link.sendFrame({ kind: KIND.credit, id, n });
  }

  /** Forgets the exchange and tells the server, if it knows of it. */
  cancel(id: number): void {
    const exchange = this.#forget(id);
    if (exchange?.sent === true) this.#link.sendFrame({ kind: KIND.cancel, id });
  }

  /** Ends calls whose time is up; returns the earliest deadline that is left. */
  expire(now: number): number {
    let next = Infinity;
    for (const call of this.#exchanges.values()) {
      if (!(call instanceof PendingCall)) continue;
      if (call.deadline > now) next = Math.min(next, call.deadline);
      else this.#timeOut(call);
    }
    return next;
  }

  tick(): void {
    this.#link.tick(this.#exchanges.size > 0);
  }

  /** Ends it now: what was sent is CUT, what was not is UNREACHABLE. */
  end(reason: Error): void {
    this.#link.end(reason);
  }

  /** Nothing new starts here. What was not sent fails now, and can go elsewhere; what was sent is waited for, until its deadline. */
  retire(reason: Error): void {
    if (this.#retired !== undefined) return;
    this.#retired = reason;
    this.#watcher.retired(this, reason);
    this.#unsent = [];
    for (const exchange of this.#exchanges.values()) {
      if (exchange.sent) continue;
      this.#exchanges.delete(exchange.id);
      exchange.fail(this.#lost(exchange, reason));
    }
    if (this.#exchanges.size === 0) this.#link.end(reason);
  }

  #send(exchange: Exchange, bytes: Buffer): void {
    exchange.sent = true;
    if (exchange instanceof PendingCall) exchange.sentAt = this.#clock.now();
    this.#link.send(bytes);
  }

  #sendUnsent(): void {
    const unsent = this.#unsent;
    this.#unsent = [];
    for (const { exchange, bytes } of unsent) {
      if (this.#exchanges.get(exchange.id) === exchange) this.#send(exchange, bytes);
    }
  }

  /** The server was heard: it is there, and what was held back may go. */
  #trust(): void {
    if (!this.#suspect) return;
    this.#suspect = false;
    this.#sendUnsent();
  }

  #forget(id: number): Exchange | undefined {
    const exchange = this.#exchanges.get(id);
    this.#exchanges.delete(id);
    if (this.#exchanges.size === 0 && this.#retired !== undefined) this.#link.end(this.#retired);
    return exchange;
  }

  #timeOut(call: PendingCall): void {
    if (call.sent && this.#link.heardAt < call.sentAt && !this.#suspect) {
      this.#suspect = true;
      this.#link.ping();
    }
    this.cancel(call.id);
    call.fail(
      call.sent
        ? new TransportError("TIMEOUT", `no answer from ${this.#address} within ${call.timeoutMs} ms`)
        : new TransportError("UNREACHABLE", `no connection to ${this.#address} within ${call.timeoutMs} ms`),
    );
  }

  #lost(exchange: Exchange, cause: Error): TransportError {
    return exchange.sent
      ? new TransportError(
          "CUT",
          `the connection to ${this.#address} ended before the answer: ${cause.message}`,
          { cause },
        )
      : new TransportError("UNREACHABLE", `no connection to ${this.#address}: ${cause.message}`, { cause });
  }
}
