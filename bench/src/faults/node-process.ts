/** A program: one node of the fault bench. Real drivers, wire and store; besides serving, it asks itself all the time what it would admit. */
import { readFileSync, writeFileSync } from "node:fs";
import { ALL_RULES, replicaKey, type Rules } from "@keelson/kernel";
import { KeelsonNode, ServerTimeEras, SystemClock, systemRandom, type NodeMemory } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { WireClient, WirePool, WireServer, WireTransport, serveNode } from "@keelson/wire";
import { program } from "../process/main.ts";
import { SERVICE, counterService } from "./counter.ts";
import { ReadClock, Recorder, pass, type Pass } from "./recorder.ts";

export interface NodeProcessOptions {
  readonly fleet: string;
  readonly node: string;
  readonly store: string;
  readonly resource: string;
  readonly history: string;
  /** The file of its note to its next self. */
  readonly memory: string;
  readonly shards: number;
  readonly ttlMs: number;
  /** The rule that is switched off. */
  readonly broken: keyof Rules | undefined;
}

export type NodeProcessSaid =
  | { readonly kind: "listening"; readonly address: string }
  | { readonly kind: "joined" }
  /** The node gave up for good. */
  | { readonly kind: "failed"; readonly why: string };

/** An overlap that lasts longer than this is seen for certain. */
const PROBE_MS = 20;

const { options, say } = program<NodeProcessOptions, NodeProcessSaid>();
const { fleet, node: name, shards, ttlMs, broken } = options;
const clock = new ReadClock(new SystemClock());
const random = systemRandom;
const recorder = new Recorder(options.history);
const store = await openStore(options.store, { clock, random, name });
const server = new WireServer({ clock, name });
await server.listen({ host: "127.0.0.1", port: 0 });
const resource = new WireClient(options.resource, { clock, random, name });
const pool = new WirePool({ clock, random, name });

const node = new KeelsonNode(
  {
    fleet,
    node: name,
    address: server.address,
    services: [counterService(shards, { clock, recorder, resource })],
    rules: broken === undefined ? ALL_RULES : { ...ALL_RULES, [broken]: false },
    // Nodes die here by no fault of their shards: none of them should be kept from the next holder.
    terms: { ttlMs, youngMs: 0, strikeBackoffMs: 0, isolateStrikes: 1_000, quarantineStrikes: 1_000 },
    onFatal: fail,
  },
  { store, clock, random, memory: memory(), transport: new WireTransport(pool), eras: new ServerTimeEras() },
);
serveNode(server, (request, signal) => node.handle(request, signal));
say({ kind: "listening", address: server.address });
setInterval(probe, PROBE_MS);
await node.start();
say({ kind: "joined" });

function probe(): void {
  const passing: Pass[] = [];
  for (const { replica, epoch } of node.held()) {
    if (!node.check(replica)) continue;
    const shard = replica.slice(SERVICE.length + 1, replica.lastIndexOf("/"));
    if (replicaKey(SERVICE, shard, 0) !== replica) throw new Error(`${replica} is of another service`);
    passing.push(pass(shard, epoch, clock.readAtNs));
  }
  if (passing.length > 0) recorder.write(["passing", passing]);
}

/** The bench starts a node only when its former process is dead, so what the note says may be revoked. */
function memory(): NodeMemory {
  return {
    load() {
      try {
        return JSON.parse(readFileSync(options.memory, "utf8")) as ReturnType<NodeMemory["load"]>;
      } catch {
        // The first life has no note; one that was being written when its process was killed is as good as none.
        return undefined;
      }
    },
    save: (note) => writeFileSync(options.memory, JSON.stringify(note)),
  };
}

function fail(error: Error): void {
  say({ kind: "failed", why: error.message });
}
