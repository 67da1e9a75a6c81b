/**
 * A fleet for the gateway's tests: nodes with real wire servers on loopback and one memory store, in this process, and a gateway in front of them.
 * Nothing is mocked; what is cut off is really cut off.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { counterPlugin } from "@keelson/examples";
import { startGateway, type Gateway, type GatewayOptions } from "@keelson/gateway";
import {
  FleetClient,
  KeelsonNode,
  NodeServices,
  ServerTimeEras,
  SystemClock,
  serveFleetNode,
  systemRandom,
  type AnyPlugin,
  type Tracer,
} from "@keelson/runtime";
import { MemoryStore } from "@keelson/stores/memory";
import { WirePool, WireServer, WireTransport } from "@keelson/wire";
import { pino, type Logger } from "pino";

export interface GatewayFleetOptions {
  readonly plugins?: readonly AnyPlugin[];
  readonly nodes?: number;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly gateway?: Partial<GatewayOptions>;
  readonly tracer?: Tracer;
}

interface FleetNode {
  readonly node: KeelsonNode;
  readonly server: WireServer;
  readonly pool: WirePool;
  readonly services: NodeServices;
}

export class GatewayFleet {
  readonly clock = new SystemClock();
  readonly store = new MemoryStore({ clock: this.clock, random: systemRandom });
  readonly nodes = new Map<string, FleetNode>();
  readonly folder = mkdtempSync(join(tmpdir(), "keelson-gateway-"));
  /** What the gateway logged, line by line. */
  readonly logged: string[] = [];
  readonly log: Logger = pino({ level: "info" }, { write: (line: string) => void this.logged.push(line) });
  gateway!: Gateway;
  readonly #options: GatewayFleetOptions;
  readonly #plugins: readonly AnyPlugin[];

  private constructor(options: GatewayFleetOptions) {
    this.#options = options;
    this.#plugins = options.plugins ?? [counterPlugin];
  }

  static async start(options: GatewayFleetOptions = {}): Promise<GatewayFleet> {
    const fleet = new GatewayFleet(options);
    const names = Array.from({ length: options.nodes ?? 3 }, (_, i) => String.fromCharCode(97 + i));
    await Promise.all(names.map((name) => fleet.add(name)));
    fleet.gateway = await fleet.startGateway(options.gateway);
    return fleet;
  }

  async startGateway(options: Partial<GatewayOptions> = {}): Promise<Gateway> {
    const gateway = await startGateway({
      fleet: "test",
      plugins: this.#plugins,
      listen: { host: "127.0.0.1", port: 0 },
      nodes: [...this.nodes.values()].map(({ server }) => server.address),
      clock: this.clock,
      random: systemRandom,
      log: this.log,
      ...options,
    });
    await gateway.ready(10_000);
    return gateway;
  }

  async add(name: string): Promise<void> {
    const { clock } = this;
    const server = new WireServer({ clock, name });
    const pool = new WirePool({ clock, random: systemRandom, name });
    await server.listen({ host: "127.0.0.1", port: 0 });
    const services = await NodeServices.open({
      plugins: this.#plugins,
      fleet: "test",
      node: name,
      address: server.address,
      zone: "",
      config: { counter: { folder: this.folder, shards: 6 }, ...this.#options.config },
      log: this.log,
      clock,
      random: systemRandom,
    });
    const transport = new WireTransport(pool);
    const node = new KeelsonNode(
      {
        fleet: "test",
        node: name,
        address: server.address,
        services: services.services,
        controllers: services.controllers,
        terms: { ttlMs: 3_000 },
      },
      { store: this.store.connect(), clock, random: systemRandom, eras: new ServerTimeEras(), transport },
    );
    services.bind(
      new FleetClient({ fleet: "test", copy: node.mirror, transport, clock, random: systemRandom }),
    );
    const { tracer } = this.#options;
    serveFleetNode(server, node, { clock, services, tracer });
    this.nodes.set(name, { node, server, pool, services });
    await node.start();
  }

  /** Leaves, handing everything over. */
  async leave(name: string): Promise<void> {
    const { node, server, pool, services } = this.nodes.get(name)!;
    await node.leave();
    await server.close({ graceMs: 1_000 });
    pool.close();
    await services.stop();
    this.nodes.delete(name);
  }

  /** Which node would admit a request for the replica now. */
  holder(replica: string): string | undefined {
    for (const [name, { node }] of this.nodes) if (node.check(replica)) return name;
    return undefined;
  }

  async get(
    path: string,
    init: RequestInit = {},
  ): Promise<{ status: number; body: unknown; headers: Headers }> {
    const answer = await fetch(this.gateway.url + path, init);
    const text = await answer.text();
    const json = answer.headers.get("content-type")?.startsWith("application/json") === true;
    return {
      status: answer.status,
      body: json ? (JSON.parse(text) as unknown) : text,
      headers: answer.headers,
    };
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): ReturnType<GatewayFleet["get"]> {
    return this.get(path, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json", ...headers },
    });
  }

  async stop(): Promise<void> {
    await this.gateway.stop({ graceMs: 0 });
    for (const { node, server, pool } of this.nodes.values()) {
      node.abandon();
      pool.close();
      await server.close({ graceMs: 0 });
    }
    await this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Waits until something is so; a deadline far beyond what it takes keeps a busy machine from failing the test. */
export async function until(what: string, done: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await done())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}
