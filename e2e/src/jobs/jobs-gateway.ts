/** A node with the job queue and a gateway in front of it, in this process, over real ports: for tests of what the job queue speaks to the outside. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGateway, type Gateway, type GatewayOptions } from "@keelson/gateway";
import { jobsPlugin } from "@keelson/jobs";
import { ScopedObjects, openObjects, type Objects } from "@keelson/objects";
import {
  FleetClient,
  KeelsonNode,
  NodeServices,
  ServerTimeEras,
  SystemClock,
  serveFleetNode,
  systemRandom,
} from "@keelson/runtime";
import { MemoryStore } from "@keelson/stores/memory";
import { WirePool, WireServer, WireTransport } from "@keelson/wire";
import { pino } from "pino";

const SHARDS = 4;
const [FLEET, NODE] = ["main", "a"];

export class JobsGateway {
  readonly address: string;
  readonly gateway: Gateway;
  readonly #stop: () => Promise<void>;

  private constructor(address: string, gateway: Gateway, stop: () => Promise<void>) {
    this.address = address;
    this.gateway = gateway;
    this.#stop = stop;
  }

  static async start(options: Partial<GatewayOptions> = {}, config: object = {}): Promise<JobsGateway> {
    const folder = mkdtempSync(join(tmpdir(), "keelson-e2e-jobs-"));
    const [clock, random] = [new SystemClock(), systemRandom];
    const objects: Objects = await openObjects(`file:${folder}`, { clock, random, environment: {} });
    const store = new MemoryStore({ clock, random });
    const server = new WireServer({ clock, name: NODE });
    await server.listen({ host: "127.0.0.1", port: 0 });
    const pool = new WirePool({ clock, random, name: NODE });
    const transport = new WireTransport(pool);
    const log = pino({ level: "silent" });
    const services = await NodeServices.open({
      plugins: [jobsPlugin],
      fleet: FLEET,
      node: NODE,
      address: server.address,
      zone: "",
      config: { jobs: { shards: SHARDS, ...config } },
      objects: (service) => new ScopedObjects(objects, `${service}/`),
      log,
      clock,
      random,
    });
    const node = new KeelsonNode(
      { fleet: FLEET, node: NODE, address: server.address, services: services.services },
      { store, clock, random, eras: new ServerTimeEras(), transport },
    );
    serveFleetNode(server, node, { clock, services });
    services.bind(new FleetClient({ fleet: FLEET, copy: node.mirror, transport, clock, random }));
    await node.start();
    while ([...node.held()].length < SHARDS) await new Promise((resolve) => setTimeout(resolve, 20));
    const gateway = await startGateway({
      fleet: FLEET,
      plugins: [jobsPlugin],
      listen: { host: "127.0.0.1", port: 0 },
      grpcListen: { host: "127.0.0.1", port: 0 },
      nodes: [server.address],
      clock,
      random,
      log,
      ...options,
    });
    await gateway.ready(10_000);
    return new JobsGateway(server.address, gateway, async () => {
      await gateway.stop({ graceMs: 0 });
      node.abandon();
      await services.stop();
      pool.close();
      await server.close({ graceMs: 0 });
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  async call(
    verb: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: unknown }> {
    const answer = await fetch(`${this.gateway.url}${path}`, {
      method: verb,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
    return { status: answer.status, body: isJson && text !== "" ? (JSON.parse(text) as unknown) : text };
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}
