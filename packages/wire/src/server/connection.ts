import type { Socket } from "node:net";
import type { Clock } from "@keelson/kernel";
import { failureOf, WireFailure, type GoawayCode } from "../errors.ts";
import { encodeFrame } from "../frame/codec.ts";
import { KIND, type Frame, type OpenFrame, type RequestFrame } from "../frame/frame.ts";
import { chooseVersion, PROTOCOL, type Hello } from "../frame/hello.ts";
import { Link, type LinkEvents } from "../link/link.ts";
import type { WireLimits } from "../limits.ts";
import type { Handlers } from "./handlers.ts";
import { Incoming, type Peer } from "./incoming.ts";
import { OutgoingStream } from "./outgoing-stream.ts";

/** Why a client is not let in. */
export interface Refusal {
  readonly code: GoawayCode;
  readonly message: string;
}

/** What a connection needs of its server. */
export interface ConnectionContext {
  readonly clock: Clock;
  readonly limits: WireLimits;
  readonly handlers: Handlers;
  readonly hello: Hello;
  /** Undefined to let them in; otherwise why not. */
  readonly admit: (hello: Hello) => Refusal | undefined;
  readonly closed: (connection: ServerConnection, reason: Error) => void;
}

interface Call {
  readonly incoming: Incoming;
  readonly deadline: number;
}

/**
 * The server's end of one connection: turns frames into handler calls, and their results into frames. It owns the calls and streams
 * that came in on it, and aborts them when it ends.
 */
export class ServerConnection implements LinkEvents {
  readonly #context: ConnectionContext;
  readonly #link: Link;
  readonly #calls = new Map<number, Call>();
  readonly #streams = new Map<number, OutgoingStream>();
  #peer: Peer;
  #goingAway = false;

  constructor(socket: Socket, context: ConnectionContext) {
    this.#context = context;
    this.#peer = { name: "?", address: `${socket.remoteAddress ?? "?"}:${socket.remotePort ?? 0}` };
    this.#link = new Link(socket, context.limits, context.clock, this);
  }

  get peer(): Peer {
    return this.#peer;
  }

  get isBusy(): boolean {
    return this.#calls.size > 0 || this.#streams.size > 0;
  }

  hello(hello: Hello): void {
    this.#peer = { name: hello.name, address: this.#peer.address };
    const refusal: Refusal | undefined =
      chooseVersion(PROTOCOL, hello) === undefined
        ? {
            code: "VERSION",
            message: `${this.#context.hello.name} speaks protocol ${PROTOCOL.min} to ${PROTOCOL.max}, ${hello.name} speaks ${hello.min} to ${hello.max}`,
          }
        : this.#context.admit(hello);
    if (refusal !== undefined) this.#link.refuse(refusal.code, refusal.message);
    else this.#link.greet(this.#context.hello);
    if (this.#goingAway) this.#sendGoaway();
  }

  frame(frame: Frame, bytes: number): void {
    switch (frame.kind) {
      case KIND.request:
        this.#request(frame, bytes);
        break;
      case KIND.open:
        this.#open(frame);
        break;
      case KIND.cancel:
        this.#calls.get(frame.id)?.incoming.abort("CANCELLED", "the caller cancelled");
        this.#streams.get(frame.id)?.abort("CANCELLED", "the reader closed the stream");
        break;
      case KIND.credit:
        this.#streams.get(frame.id)?.addCredit(frame.n);
        break;
      case KIND.goaway:
        this.#link.end(new Error(`the client is going away: ${frame.code}`));
        break;
      default:
        this.#link.refuse("MALFORMED", `a client may not send frames of kind ${frame.kind}`);
    }
  }

  closed(reason: Error): void {
    for (const call of this.#calls.values()) call.incoming.abort("CUT", reason.message);
    for (const stream of this.#streams.values()) stream.abort("CUT", reason.message);
    this.#context.closed(this, reason);
  }

  pong(): void {
    // Any byte counts as an answer, and the link has counted it.
  }

  drained(): void {
    for (const stream of this.#streams.values()) stream.pump();
  }

  tick(): void {
    if (this.#calls.size > 0) {
      const now = this.#context.clock.now();
      for (const { incoming, deadline } of this.#calls.values()) {
        if (now >= deadline) incoming.abort("TIMEOUT", `the caller waited ${incoming.timeoutMs} ms`);
      }
    }
    this.#link.tick(this.isBusy);
  }

  refuse(code: GoawayCode, message: string): void {
    this.#link.refuse(code, message);
  }

  /** Tells the client to send nothing new, ends streams, and lets calls finish. */
  goAway(): void {
    this.#goingAway = true;
    if (this.#link.isOpen) this.#sendGoaway();
    for (const stream of this.#streams.values())
      stream.fail("GOING_AWAY", `${this.#context.hello.name} is closing`);
  }

  destroy(reason: Error): void {
    this.#link.destroy(reason);
  }

  #sendGoaway(): void {
    this.#link.sendFrame({
      kind: KIND.goaway,
      code: "GOING_AWAY",
      message: `${this.#context.hello.name} is closing`,
    });
  }

  #request(frame: RequestFrame, bytes: number): void {
    const { clock, limits, handlers } = this.#context;
    const { id } = frame;
    if (this.#isTaken(id)) return;
    const handler = handlers.methods.get(frame.method);
    if (handler === undefined) {
      const streams = handlers.streams.has(frame.method) ? ": it is a stream" : "";
      return this.#fail(id, "NO_METHOD", `no method ${JSON.stringify(frame.method)}${streams}`);
    }
    if (this.#calls.size >= limits.inflightPerConnectionMax) {
      return this.#fail(id, "OVERLOADED", `${this.#calls.size} calls in flight on this connection`);
    }
    if (handlers.inflight >= limits.inflightMax) {
      return this.#fail(id, "OVERLOADED", `${handlers.inflight} calls in flight`);
    }
    if (handlers.inflightBytes + bytes > limits.inflightBytesMax) {
      return this.#fail(id, "OVERLOADED", `${handlers.inflightBytes} bytes of requests in flight`);
    }
    const incoming = new Incoming(frame.body, frame.timeoutMs, frame.trace, this.#peer);
    this.#calls.set(id, { incoming, deadline: clock.now() + frame.timeoutMs });
    handlers.inflight += 1;
    handlers.inflightBytes += bytes;
    void this.#serve(id, incoming, handler, bytes);
  }

  async #serve(
    id: number,
    incoming: Incoming,
    handler: (call: Incoming) => unknown,
    requestBytes: number,
  ): Promise<void> {
    let reply: Buffer;
    try {
      const body = await handler(incoming);
      reply = encodeFrame({ kind: KIND.response, id, body }, this.#context.limits.frameBytesMax);
    } catch (error) {
      reply = this.#failureFrame(id, error);
    }
    this.#calls.delete(id);
    this.#context.handlers.inflight -= 1;
    this.#context.handlers.inflightBytes -= requestBytes;
    if (!incoming.aborted) this.#reply(reply);
  }

  #open(frame: OpenFrame): void {
    const { limits, handlers } = this.#context;
    const { id, body, trace } = frame;
    if (this.#isTaken(id)) return;
    const handler = handlers.streams.get(frame.method);
    if (handler === undefined) {
      const method = handlers.methods.has(frame.method) ? ": it is a method" : "";
      return this.#fail(id, "NO_METHOD", `no stream ${JSON.stringify(frame.method)}${method}`);
    }
    if (this.#goingAway) return this.#fail(id, "GOING_AWAY", `${this.#context.hello.name} is closing`);
    if (this.#streams.size >= limits.streamsPerConnectionMax) {
      return this.#fail(id, "OVERLOADED", `${this.#streams.size} streams on this connection`);
    }
    const stream = new OutgoingStream(id, this.#link, limits, frame.credit, {
      body,
      trace,
      peer: this.#peer,
    });
    this.#streams.set(id, stream);
    void this.#serveStream(id, stream, handler);
  }

  async #serveStream(
    id: number,
    stream: OutgoingStream,
    handler: (stream: OutgoingStream) => Promise<void>,
  ): Promise<void> {
    try {
      await handler(stream);
      await stream.finish();
    } catch (error) {
      const { code, message } = failureOf(error);
      stream.fail(code, message);
    }
    this.#streams.delete(id);
  }

  /** An id that is in use would give one answer to two calls. */
  #isTaken(id: number): boolean {
    if (!this.#calls.has(id) && !this.#streams.has(id)) return false;
    this.#link.refuse("MALFORMED", `id ${id} is already in flight`);
    return true;
  }

  #failureFrame(id: number, error: unknown): Buffer {
    const { code, message } = failureOf(error);
    return encodeFrame({ kind: KIND.failure, id, code, message }, this.#context.limits.frameBytesMax);
  }

  #fail(id: number, code: string, message: string): void {
    this.#reply(this.#failureFrame(id, new WireFailure(code, message)));
  }

  /** A client that does not read its answers is first no longer read from, and then cut off. */
  #reply(bytes: Buffer): void {
    const { limits } = this.#context;
    this.#link.send(bytes);
    const queued = this.#link.queuedBytes;
    if (queued > limits.sendBufferBytesMax)
      this.#link.destroy(new Error(`${queued} bytes of answers are not being read`));
    else if (queued > limits.sendBufferBytesHigh) this.#link.pause();
  }
}
