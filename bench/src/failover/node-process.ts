/** A program: one node of the failover bench. The real drivers, the real wire, a service that answers with its node's name. */
import { balancedPlacement, ring, type Shard } from "@keelson/kernel";
import { KeelsonNode, ServerTimeEras, SystemClock, defineService, systemRandom } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { WirePool, WireServer, WireTransport, serveNode } from "@keelson/wire";
import { program } from "../process/main.ts";

export interface NodeProcessOptions {
  readonly store: string;
  readonly fleet: string;
  readonly node: string;
  readonly shards: number;
  readonly ttlMs: number;
  /** The ring, if left out. */
  readonly placement?: "ring" | "balanced";
}

export type NodeProcessSaid =
  | { readonly kind: "joined" }
  | { readonly kind: "left" }
  | { readonly kind: "failed"; readonly why: string };

const { options, say } = program<NodeProcessOptions, NodeProcessSaid>();
const { fleet, node: name, shards, ttlMs } = options;
const clock = new SystemClock();
const random = systemRandom;
const store = await openStore(options.store, { clock, random, name });
const server = new WireServer({ clock, name });
await server.listen({ host: "127.0.0.1", port: 0 });
const pool = new WirePool({ clock, random, name });

const echo = defineService({
  name: "echo",
  parameters: { shards, replicas: 1, placement: {} },
  placement: (options.placement === "balanced" ? balancedPlacement : ring)({ service: "echo" }),
  open: (): Promise<Shard> => Promise.resolve({ handle: () => Promise.resolve(name) }),
});
const node = new KeelsonNode(
  {
    fleet,
    node: name,
    address: server.address,
    services: [echo],
    // Nodes are lost here more often than any shard could be blamed for; by default each loss would count against theirs.
    terms: { ttlMs, youngMs: 0 },
    onFatal: (error) => say({ kind: "failed", why: error.message }),
  },
  { store, clock, random, transport: new WireTransport(pool), eras: new ServerTimeEras() },
);
serveNode(server, (request, signal) => node.handle(request, signal));
process.on("message", (message) => {
  if (message === "leave") void node.leave().then(() => say({ kind: "left" }));
});
await node.start();
say({ kind: "joined" });
