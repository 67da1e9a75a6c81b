/** One node of the failover bench: the real drivers, the real wire, a service that answers with its node's name. */
import { ring, type Shard } from "@keelson/kernel";
import { KeelsonNode, ServerTimeEras, SystemClock, defineService, systemRandom } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { WirePool, WireServer, WireTransport, serveNode } from "@keelson/wire";

/** What the bench tells a node process to be. */
export interface NodeProcessOptions {
  readonly store: string;
  readonly fleet: string;
  readonly node: string;
  readonly shards: number;
  readonly ttlMs: number;
}

/** Said by a node process to the bench. */
export type NodeProcessMessage =
  | { readonly kind: "joined" }
  | { readonly kind: "left" }
  | { readonly kind: "failed"; readonly why: string };

const text = process.argv[2];
if (text === undefined) throw new Error("usage: node-process <options as JSON>");
const options = JSON.parse(text) as NodeProcessOptions;
const clock = new SystemClock();
const store = await openStore(options.store, { clock, random: systemRandom, name: options.node });
const server = new WireServer({ clock, name: options.node });
await server.listen({ host: "127.0.0.1", port: 0 });
const pool = new WirePool({ clock, random: systemRandom, name: options.node });

const echo = defineService({
  name: "echo",
  parameters: { shards: options.shards, replicas: 1, placement: {} },
  placement: ring({ service: "echo" }),
  open: (): Promise<Shard> => Promise.resolve({ handle: () => Promise.resolve(options.node) }),
});
const node = new KeelsonNode(
  {
    fleet: options.fleet,
    node: options.node,
    address: server.address,
    services: [echo],
    terms: { ttlMs: options.ttlMs },
    onFatal: (error) => say({ kind: "failed", why: error.message }),
  },
  { store, clock, random: systemRandom, transport: new WireTransport(pool), eras: new ServerTimeEras() },
);
serveNode(server, (request, signal) => node.handle(request, signal));
process.on("message", (message) => {
  if (message === "leave") void leave();
});
process.on("disconnect", () => process.exit(0));
await node.start();
say({ kind: "joined" });

async function leave(): Promise<void> {
  await node.leave();
  say({ kind: "left" });
}

function say(message: NodeProcessMessage): void {
  process.send?.(message);
}
