/**
 * A node's plain HTTP port for whatever watches over processes: is it alive, should it be sent work, and its metrics. It has nothing to change and no secret to tell; it
 * is off unless asked for, and speaks to whoever reaches it.
 */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { formatAddress, type HostPort } from "@keelson/wire";

/** What a node says of itself. */
export interface NodeCondition {
  /** Its member key is in the store, as far as it knows. */
  readonly member: boolean;
  readonly storeLive: boolean;
  /** How long it may still serve if no renewal succeeds. */
  readonly mayServeMs: number;
  readonly held: number;
}

export interface StatusPorts {
  readonly condition: () => NodeCondition;
  readonly metrics: () => Promise<string>;
}

const CONNECTIONS_MAX = 64;
const TIMEOUT_MS = 5_000;

export class StatusServer {
  readonly #server: Server;
  readonly #ports: StatusPorts;
  #address = "";

  private constructor(ports: StatusPorts) {
    this.#ports = ports;
    this.#server = createServer(
      {
        maxHeaderSize: 8 * 1024,
        requestTimeout: TIMEOUT_MS,
        headersTimeout: TIMEOUT_MS,
        keepAliveTimeout: 65_000,
      },
      (request, response) => void this.#answer(request.method ?? "GET", request.url ?? "/", response),
    );
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /** Port 0 takes a free one. Rejects when the address cannot be had. */
  static async listen({ host, port }: HostPort, ports: StatusPorts): Promise<StatusServer> {
    const status = new StatusServer(ports);
    await new Promise<void>((resolve, reject) => {
      status.#server.once("error", reject);
      status.#server.listen(port, host, () => {
        status.#server.off("error", reject);
        resolve();
      });
    });
    const bound = status.#server.address() as AddressInfo;
    status.#address = formatAddress(bound.address, bound.port);
    return status;
  }

  get url(): string {
    return `http://${this.#address}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(method: string, path: string, response: ServerResponse): Promise<void> {
    if (method !== "GET" && method !== "HEAD") send(response, 405, { error: "this port is for reading" });
    else if (path === "/healthz") send(response, 200, this.#ports.condition());
    else if (path === "/readyz") this.#ready(response);
    else if (path === "/metrics") await this.#metrics(response);
    else send(response, 404, { error: "here are /healthz, /readyz and /metrics" });
  }

  /** Ready is a node that others may be sent to: a member that may serve. One that leaves is no member any more. */
  #ready(response: ServerResponse): void {
    const condition = this.#ports.condition();
    send(response, condition.member && condition.mayServeMs > 0 ? 200 : 503, condition);
  }

  async #metrics(response: ServerResponse): Promise<void> {
    try {
      const text = await this.#ports.metrics();
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
      response.end(text);
    } catch (error) {
      send(response, 500, { error: error instanceof Error ? error.message : String(error) });
    }
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  response.end(JSON.stringify(body));
}
