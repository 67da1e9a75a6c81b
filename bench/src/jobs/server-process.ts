/**
 * A node with the job queue, as `keelson node` runs one: its port, its journal and its pages in a folder. Only the coordination store is in memory, because no
 * request touches it; nobody can hold anything from before, so nothing waits for that.
 */
import { openObjects, ScopedObjects } from "@keelson/objects";
import { jobsPlugin } from "@keelson/jobs";
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
import { program } from "../process/main.ts";

export interface ServerOptions {
  readonly folder: string;
  readonly shards: number;
  /** How long jobs that have ended are kept; left out, as long as by default. */
  readonly retentionMs?: number;
}

export type ServerSaid = { readonly kind: "listening"; readonly address: string };

const SETTLE_MS = 20;
const { options, say } = program<ServerOptions, ServerSaid>();
const clock = new SystemClock();
const random = systemRandom;
const [fleet, name] = ["main", "bench"];
const objects = await openObjects(`file:${options.folder}`, { clock, random, environment: {} });
const store = new MemoryStore({ clock, random });
const server = new WireServer({ clock, name });
await server.listen({ host: "127.0.0.1", port: 0 });
const transport = new WireTransport(new WirePool({ clock, random, name }));
const services = await NodeServices.open({
  plugins: [jobsPlugin],
  fleet,
  node: name,
  address: server.address,
  zone: "",
  config: { jobs: { shards: options.shards, retentionMs: options.retentionMs } },
  objects: (service) => new ScopedObjects(objects, `${service}/`),
  log: pino({ level: "error" }, pino.destination(2)),
  clock,
  random,
});
const node = new KeelsonNode(
  { fleet, node: name, address: server.address, services: services.services },
  { store, clock, random, eras: new ServerTimeEras({ fresh: true }), transport },
);
serveFleetNode(server, node, { clock, services });
services.bind(new FleetClient({ fleet, copy: node.mirror, transport, clock, random }));
await node.start();
while ([...node.held()].length < options.shards)
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
say({ kind: "listening", address: server.address });
