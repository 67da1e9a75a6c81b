/** One node that holds every shard of the echo service, with its store in the same process. */
import {
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
import { ECHO_SHARDS, echoPlugin } from "./echo-plugin.ts";

export type NodeSaid = { readonly kind: "serving"; readonly address: string };

const HELD_WITHIN_MS = 60_000;
const { say } = program<unknown, NodeSaid>();
const clock = new SystemClock();
const server = new WireServer({ clock, name: "a" });
await server.listen({ host: "127.0.0.1", port: 0 });
const { address } = server;
const services = await NodeServices.open({
  plugins: [echoPlugin],
  fleet: "bench",
  node: "a",
  address,
  zone: "",
  config: {},
  log: pino({ level: "silent" }),
  clock,
  random: systemRandom,
});
const node = new KeelsonNode(
  { fleet: "bench", node: "a", address, services: services.services },
  {
    store: new MemoryStore({ clock, random: systemRandom }),
    clock,
    random: systemRandom,
    eras: new ServerTimeEras(),
    transport: new WireTransport(new WirePool({ clock, random: systemRandom, name: "a" })),
  },
);
serveFleetNode(server, node, { clock, services });
await node.start();
const deadline = clock.now() + HELD_WITHIN_MS;
while ([...node.held()].filter(({ phase }) => phase === "live").length < ECHO_SHARDS) {
  if (clock.now() > deadline) throw new Error("the node does not hold its shards");
  await new Promise<void>((resolve) => void clock.after(50, resolve));
}
say({ kind: "serving", address });
