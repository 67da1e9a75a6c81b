/** The HTTP server: Node's own, with every limit set, and an answer for what never becomes a request. */
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "@keelson/runtime";
import type { GatewayLimits, GatewayOptions } from "../options.ts";
import { PROBLEMS, type ProblemCode } from "../problem.ts";
import { WatchedCertificate } from "./watched-certificate.ts";

export interface ServerPorts {
  readonly limits: GatewayLimits;
  readonly tls: GatewayOptions["tls"];
  readonly clock: Clock;
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Something came that is not a request. */
  readonly malformed: (code: string) => void;
  /** The certificate's files have changed and cannot be used: the old ones stay. */
  readonly problem: (text: string) => void;
}

/** How often Node looks for requests that are too slow. */
const LOOK_MS = 1_000;
const LINGER_MS = 1_000;
const CLOSE_IDLE_MS = 20;

export class HttpServer {
  readonly #server: Server;
  #connections = 0;
  readonly #certificate: WatchedCertificate | undefined;

  constructor({ limits, tls, clock, handle, malformed, problem }: ServerPorts) {
    const options: ServerOptions = {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.idleMs,
      connectionsCheckingInterval: LOOK_MS,
      // Checked by us, so that it is answered like everything else.
      requireHostHeader: false,
      noDelay: true,
    };
    const listener = (request: IncomingMessage, response: ServerResponse): void =>
      void handle(request, response);
    this.#certificate = tls && new WatchedCertificate(tls, clock, problem);
    if (this.#certificate) {
      const server = createTlsServer({ ...options, ...this.#certificate.files }, listener);
      this.#certificate.watch((files) => server.setSecureContext(files));
      this.#server = server;
    } else this.#server = createServer(options, listener);
    this.#server.maxConnections = limits.connectionsMax;
    this.#server.on(tls ? "secureConnection" : "connection", (socket: Socket) => {
      this.#connections += 1;
      socket.once("close", () => {
        this.#connections -= 1;
      });
    });
    this.#server.on("drop", () => malformed("connections"));
    this.#server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      const code = codeOf(error.code);
      malformed(code ?? error.code ?? "unknown");
      refuse(socket, code);
    });
    this.#server.on("checkExpectation", (_request, response: ServerResponse) => {
      const body = answerOf("EXPECTATION");
      const headers = {
        "content-type": "application/json",
        "content-length": body.length,
        connection: "close",
      };
      response.writeHead(PROBLEMS.EXPECTATION.status, headers);
      response.end(body);
    });
    // CONNECT asks for a tunnel: there are none here.
    this.#server.on("connect", (_request, socket) => refuse(socket, "NO_METHOD"));
  }

  get connections(): number {
    return this.#connections;
  }

  /** Rejects when the address cannot be had. */
  async listen(where: { readonly host: string; readonly port: number }): Promise<AddressInfo> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(where.port, where.host, () => {
        this.#server.off("error", reject);
        resolve();
      });
    });
    return this.#server.address() as AddressInfo;
  }

  /** Takes no new connections and lets requests finish; what is left when `cut` resolves is cut off. */
  async close(cut: Promise<void>): Promise<void> {
    this.#certificate?.stop();
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    // A connection is idle again after its last answer, and would be kept open for the next request.
    const idle = setInterval(() => this.#server.closeIdleConnections(), CLOSE_IDLE_MS);
    this.#server.closeIdleConnections();
    await Promise.race([closed, cut]);
    clearInterval(idle);
    this.#server.closeAllConnections();
    await closed;
  }
}

function codeOf(code: string | undefined): ProblemCode | undefined {
  if (code === "HPE_HEADER_OVERFLOW") return "HEADERS_TOO_LARGE";
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return "SLOW_REQUEST";
  return code?.startsWith("HPE_") === true ? "MALFORMED" : undefined;
}

/** Answers what the parser gave up on, if anybody is there to hear it. */
function refuse(socket: Duplex, code: ProblemCode | undefined): void {
  if (code === undefined || !socket.writable || socket.destroyed) {
    socket.destroy();
    return;
  }
  const body = answerOf(code);
  const head = `HTTP/1.1 ${PROBLEMS[code].status} ${code}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`;
  socket.on("error", () => socket.destroy());
  socket.end(head + body);
  // What it is still sending is read for a moment: a connection that is reset would take the answer with it.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.resume();
}

function answerOf(code: ProblemCode): string {
  return JSON.stringify({ error: { code, message: PROBLEMS[code].about } });
}
