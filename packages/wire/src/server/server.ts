import { createHash, timingSafeEqual } from "node:crypto";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Clock, Timer } from "@keelson/kernel";
import { formatAddress } from "../address.ts";
import { PROTOCOL, type Hello } from "../frame/hello.ts";
import { wireLimits, type WireLimits } from "../limits.ts";
import { ServerConnection, type ConnectionContext, type Refusal } from "./connection.ts";
import { Handlers, type MethodHandler, type StreamHandler } from "./handlers.ts";

export interface WireServerOptions {
  readonly clock: Clock;
  /** Told to clients in the hello; the node's id, usually. */
  readonly name: string;
  /** When given, clients must say the same. */
  readonly token?: string;
  readonly limits?: Partial<WireLimits>;
  /** Where TLS slots in: anything that gives sockets, such as `(on) => tls.createServer(options, on)`. */
  readonly createServer?: (onSocket: (socket: Socket) => void) => Server;
  /** Why a socket's other side is not let in, whatever it says; undefined when it is. WireTls has one. */
  readonly refuses?: (socket: Socket) => string | undefined;
  /** For logs: why each connection ended, the client's leaving included. */
  readonly onConnectionEnd?: (peer: string, reason: Error) => void;
}

/**
 * Listens, and serves named methods and streams to whoever connects. Each bad client costs its own connection and nothing else.
 */
export class WireServer {
  readonly #options: WireServerOptions;
  readonly #limits: WireLimits;
  readonly #handlers = new Handlers();
  readonly #connections = new Set<ServerConnection>();
  readonly #context: ConnectionContext;
  readonly #server: Server;
  #sockets = 0;
  #ticker: Timer | undefined;
  #closing: Promise<void> | undefined;
  #address: string | undefined;

  constructor(options: WireServerOptions) {
    this.#options = options;
    this.#limits = wireLimits(options.limits);
    this.#server = (options.createServer ?? createTcpServer)((socket) => this.#accept(socket));
    this.#context = {
      clock: options.clock,
      limits: this.#limits,
      handlers: this.#handlers,
      hello: { ...PROTOCOL, name: options.name, token: undefined },
      admit: (hello) => this.#admit(hello),
      closed: (connection, reason) => this.#closed(connection, reason),
    };
  }

  /** A call with one answer. Its names and those of streams are one set. */
  method(name: string, handler: MethodHandler): this {
    this.#checkFree(name);
    this.#handlers.methods.set(name, handler);
    return this;
  }

  /** A call with many answers; it ends when the handler's promise does. */
  stream(name: string, handler: StreamHandler): this {
    this.#checkFree(name);
    this.#handlers.streams.set(name, handler);
    return this;
  }

  /** Port 0 takes a free one; `address` says which. Rejects when the address cannot be had. */
  async listen(where: { readonly host: string; readonly port: number }): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(where.port, where.host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    // After listening, errors are about accepting one connection (no file descriptors, say); the next may do better.
    this.#server.on("error", (error) => this.#options.onConnectionEnd?.("listener", error));
    const { address, port } = this.#server.address() as AddressInfo;
    this.#address = formatAddress(address, port);
    this.#tickLater();
  }

  /** `host:port` that it listens on. */
  get address(): string {
    if (this.#address === undefined) throw new Error("the server does not listen yet");
    return this.#address;
  }

  get stats(): { readonly connections: number; readonly inflight: number; readonly inflightBytes: number } {
    const { inflight, inflightBytes } = this.#handlers;
    return { connections: this.#connections.size, inflight, inflightBytes };
  }

  /**
   * Takes no new connections, tells clients to go, ends streams, and lets calls finish; what is not finished after `graceMs` is cut
   * off. A client that hears of it ends its connection once its last answer has come, so no call is lost.
   */
  close(options: { readonly graceMs: number }): Promise<void> {
    this.#closing ??= this.#close(options.graceMs);
    return this.#closing;
  }

  async #close(graceMs: number): Promise<void> {
    if (this.#address === undefined) return;
    const ended = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections) connection.goAway();
    const cut = this.#options.clock.after(graceMs, () => {
      for (const connection of this.#connections)
        connection.destroy(new Error(`not finished within ${graceMs} ms`));
    });
    await ended;
    cut.cancel();
    this.#ticker?.cancel();
  }

  #accept(socket: Socket): void {
    this.#sockets += 1;
    socket.once("close", () => {
      this.#sockets -= 1;
    });
    const connection = new ServerConnection(socket, this.#context);
    this.#connections.add(connection);
    if (this.#sockets > this.#limits.connectionsMax) {
      connection.refuse("OVERLOADED", `${this.#limits.connectionsMax} connections are open`);
    }
    const refusal = this.#options.refuses?.(socket);
    if (refusal !== undefined) connection.refuse("UNAUTHORISED", `${this.#options.name} refuses: ${refusal}`);
    if (this.#closing !== undefined) connection.refuse("GOING_AWAY", `${this.#options.name} is closing`);
  }

  #admit(hello: Hello): Refusal | undefined {
    const { token } = this.#options;
    if (token === undefined || sameText(token, hello.token ?? "")) return undefined;
    return {
      code: "UNAUTHORISED",
      message: `${this.#options.name} does not accept the token that was given`,
    };
  }

  #closed(connection: ServerConnection, reason: Error): void {
    this.#connections.delete(connection);
    this.#options.onConnectionEnd?.(`${connection.peer.name} at ${connection.peer.address}`, reason);
  }

  #tickLater(): void {
    this.#ticker = this.#options.clock.after(this.#limits.tickMs, () => {
      for (const connection of this.#connections) connection.tick();
      this.#tickLater();
    });
  }

  #checkFree(name: string): void {
    if (this.#handlers.methods.has(name) || this.#handlers.streams.has(name)) {
      throw new Error(`${JSON.stringify(name)} has a handler already`);
    }
  }
}

/** Takes as long whatever the difference. */
function sameText(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
