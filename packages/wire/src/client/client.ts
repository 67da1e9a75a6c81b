import { connect as connectTcp, type Socket } from "node:net";
import { backoffMs, TransportError, type Clock, type Random, type Timer } from "@keelson/kernel";
import { parseAddress, type HostPort } from "../address.ts";
import { WireFailure } from "../errors.ts";
import { encodeFrame } from "../frame/codec.ts";
import { KIND } from "../frame/frame.ts";
import { PROTOCOL, type Hello } from "../frame/hello.ts";
import { wireLimits, type WireLimits } from "../limits.ts";
import { ClientConnection, type ConnectionWatcher } from "./connection.ts";
import { Deadlines } from "./deadlines.ts";
import { PendingCall } from "./exchange.ts";
import { IncomingStream, type StreamHandle, type StreamSink } from "./incoming-stream.ts";

export interface WireClientOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Told to servers in the hello: the node's id, or what kind of client this is. */
  readonly name: string;
  readonly token?: string;
  readonly limits?: Partial<WireLimits>;
  /** Where TLS slots in: `({host, port}) => tls.connect(port, host, options)`. */
  readonly connect?: (to: HostPort) => Socket;
}

export interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly trace?: string;
}

export interface StreamOptions {
  /** Items the server may be ahead of the sink. */
  readonly windowItems?: number;
  readonly trace?: string;
}

/** The longest that timers can wait: 24 days. */
const TIMEOUT_MS_MAX = 2_147_483_647;

/**
 * Calls to one address over one connection, opened when first needed and opened again, with back-off, when it was lost. It repeats
 * nothing by itself: a call fails with UNREACHABLE (nothing was sent), TIMEOUT or CUT (sent, and maybe carried out), or WireFailure
 * (answered), and the caller knows which of these it may repeat.
 */
export class WireClient implements ConnectionWatcher {
  readonly address: string;
  readonly #to: HostPort;
  readonly #options: WireClientOptions;
  readonly #limits: WireLimits;
  readonly #hello: Hello;
  readonly #deadlines: Deadlines;
  /** The one that new calls use. */
  #current: ClientConnection | undefined;
  /** All that have not ended: the current one, and those that were left. */
  readonly #connections = new Set<ClientConnection>();
  #attempts = 0;
  #retryAt = 0;
  #lastReason = new Error("never connected");
  #ticker: Timer | undefined;
  #closed = false;

  constructor(address: string, options: WireClientOptions) {
    this.address = address;
    this.#to = parseAddress(address);
    this.#options = options;
    this.#limits = wireLimits(options.limits);
    this.#hello = { ...PROTOCOL, name: options.name, token: options.token };
    this.#deadlines = new Deadlines(options.clock, (now) => this.#expire(now));
  }

  /** Calls and streams under way. */
  get size(): number {
    let size = 0;
    for (const connection of this.#connections) size += connection.size;
    return size;
  }

  /** The answer's body. Rejects with TransportError or WireFailure. */
  call(method: string, body: unknown, options: CallOptions): Promise<unknown> {
    const { timeoutMs, signal, trace } = options;
    if (!(timeoutMs > 0 && timeoutMs <= TIMEOUT_MS_MAX)) {
      return Promise.reject(
        new RangeError(`timeoutMs must be more than 0 and at most ${TIMEOUT_MS_MAX}, not ${timeoutMs}`),
      );
    }
    if (signal?.aborted === true) return Promise.reject(cancelled());
    return new Promise((resolve, reject) => {
      const connection = this.#connection();
      const now = this.#options.clock.now();
      const call = new PendingCall(connection.nextId(), timeoutMs, now + timeoutMs, resolve, reject);
      const frame = { kind: KIND.request, id: call.id, method, timeoutMs, body, trace } as const;
      connection.start(call, encodeFrame(frame, this.#limits.frameBytesMax));
      this.#deadlines.add(call.deadline, now);
      if (signal !== undefined) {
        call.cancelOn(signal, () => {
          connection.cancel(call.id);
          call.fail(cancelled());
        });
      }
    });
  }

  /** Subscribes. Failures, also to connect, reach the sink; a stream is not opened again by itself. */
  stream(method: string, body: unknown, sink: StreamSink, options: StreamOptions = {}): StreamHandle {
    let connection: ClientConnection;
    try {
      connection = this.#connection();
    } catch (error) {
      return failedStream(sink, error as Error);
    }
    const windowItems = options.windowItems ?? this.#limits.streamWindowItems;
    const id = connection.nextId();
    const stream = new IncomingStream(id, connection, sink, windowItems, this.#limits.streamBufferBytesMax);
    const frame = { kind: KIND.open, id, method, credit: windowItems, body, trace: options.trace } as const;
    connection.start(stream, encodeFrame(frame, this.#limits.frameBytesMax));
    return stream;
  }

  /** New calls go over a new connection. Those under way keep the present one, and with it the chance of an answer. */
  leave(reason: string): void {
    this.#current?.retire(new Error(reason));
  }

  /** Ends at once: calls that were sent fail with CUT. Final. */
  close(): void {
    this.#closed = true;
    const reason = new Error("the client was closed");
    this.#lastReason = reason;
    for (const connection of this.#connections) connection.end(reason);
    this.#deadlines.stop();
    this.#ticker?.cancel();
  }

  opened(): void {
    this.#attempts = 0;
    this.#retryAt = 0;
  }

  retired(connection: ClientConnection, reason: Error): void {
    this.#lastReason = reason;
    if (connection === this.#current) {
      this.#current = undefined;
      this.#backOff();
    }
    if (connection.size === 0) this.#connections.delete(connection);
  }

  /** The connection for new calls, opened if there is none. Throws when the last attempt failed just now, or a limit is reached. */
  #connection(): ClientConnection {
    const current = this.#current;
    if (current !== undefined) {
      if (current.size >= this.#limits.callsMax) {
        throw new WireFailure("OVERLOADED", `${current.size} calls to ${this.address} are in flight`);
      }
      if (current.queuedBytes > this.#limits.sendBufferBytesMax) {
        throw new WireFailure(
          "OVERLOADED",
          `${current.queuedBytes} bytes wait to be sent to ${this.address}`,
        );
      }
      return current;
    }
    const waitMs = this.#retryAt - this.#options.clock.now();
    if (this.#closed || waitMs > 0) {
      const when = this.#closed ? "" : ` (next try in ${Math.ceil(waitMs)} ms)`;
      const message = `no connection to ${this.address}: ${this.#lastReason.message}${when}`;
      throw new TransportError("UNREACHABLE", message, { cause: this.#lastReason });
    }
    return this.#open();
  }

  #open(): ClientConnection {
    const socket = (this.#options.connect ?? connectTcp)(this.#to);
    const { clock } = this.#options;
    this.#attempts += 1;
    const connection = new ClientConnection(socket, this.#hello, this.address, clock, this.#limits, this);
    this.#current = connection;
    this.#connections.add(connection);
    if (this.#connections.size === 1) this.#tickLater();
    return connection;
  }

  /** A connection that was open once is tried again at once; one that never opened waits longer each time. */
  #backOff(): void {
    if (this.#attempts === 0) return;
    const terms = { firstMs: this.#limits.reconnectFirstMs, maxMs: this.#limits.reconnectMaxMs };
    this.#retryAt = this.#options.clock.now() + backoffMs(terms, this.#attempts, this.#options.random);
  }

  #expire(now: number): number {
    let next = Infinity;
    for (const connection of this.#connections) next = Math.min(next, connection.expire(now));
    return next;
  }

  #tickLater(): void {
    this.#ticker?.cancel();
    this.#ticker = this.#options.clock.after(this.#limits.tickMs, () => {
      for (const connection of this.#connections) connection.tick();
      if (this.#connections.size > 0) this.#tickLater();
    });
  }
}

/** Fails after the caller has its handle, as it would if the failure came from the network. */
function failedStream(sink: StreamSink, error: Error): StreamHandle {
  let open = true;
  queueMicrotask(() => {
    if (open) sink.fail(error);
  });
  return {
    close: () => {
      open = false;
    },
  };
}

function cancelled(): WireFailure {
  return new WireFailure("CANCELLED", "the caller cancelled");
}
