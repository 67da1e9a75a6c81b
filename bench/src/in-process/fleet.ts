/**
 * Many nodes in one process, on a few clients and one copy of a store: for what nodes cost, and how fast many of them agree. They hold shards and answer nobody.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ring, terms, type DecisionKind, type Shard, type Store } from "@keelson/kernel";
import {
  KeelsonNode,
  ServerTimeEras,
  SystemClock,
  defineService,
  fleetMirror,
  systemRandom,
  type Mirror,
  type ServiceDefinition,
} from "@keelson/runtime";
import { WirePool, WireTransport } from "@keelson/wire";

export interface InProcessFleetOptions {
  /** Clients of one store. Nodes take turns at them; the first is also the one that is watched. */
  readonly stores: readonly [Store, ...Store[]];
  readonly fleet: string;
  readonly nodes: number;
  readonly shards: number;
  readonly ttlMs: number;
}

const SERVICE = "idle";
const LOOK_MS = 10;
/** Decisions after which a replica is not held by the node any more. */
const ENDS: ReadonlySet<DecisionKind> = new Set(["draining", "handed-over", "released", "lost"]);

export class InProcessFleet {
  readonly #options: InProcessFleetOptions;
  readonly #nodes: readonly KeelsonNode[];
  readonly #pool: WirePool;
  readonly #mirror: Mirror;
  readonly #service: ServiceDefinition;
  readonly #clock = new SystemClock();
  /** What became live and was not seen to end, by node and replica. */
  readonly #live = new Set<string>();

  constructor(options: InProcessFleetOptions) {
    this.#options = options;
    const ports = { store: options.stores[0], clock: this.#clock, random: systemRandom };
    this.#pool = new WirePool({ ...ports, name: "bench" });
    this.#mirror = fleetMirror(options.fleet, ports, terms({ ttlMs: options.ttlMs }));
    this.#service = defineService({
      name: SERVICE,
      parameters: { shards: options.shards, replicas: 1, placement: {} },
      placement: ring({ service: SERVICE }),
      open: (): Promise<Shard> => Promise.resolve({ handle: () => Promise.resolve(null) }),
    });
    this.#nodes = Array.from({ length: options.nodes }, (_, n) => this.#node(n));
  }

  /** All at once; resolves when all are members. */
  async start(): Promise<void> {
    this.#mirror.start();
    await Promise.all(this.#nodes.map((node) => node.start()));
  }

  /** How many shards are held by a node that would admit a request for them now. */
  get held(): number {
    let held = 0;
    for (const node of this.#nodes) for (const { replica } of node.held()) if (node.check(replica)) held++;
    return held;
  }

  /** Waits until all of so many shards are held. Rejects when that takes too long. */
  async holds(shards: number, withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    // Counting what is held takes long enough to slow down what is measured: it waits until it can be enough.
    while (this.#live.size < shards || this.held < shards) {
      if (performance.now() > deadline)
        throw new Error(`${this.held} of ${shards} shards are held after ${withinMs} ms`);
      await sleep(LOOK_MS);
    }
  }

  /** As a crash. */
  stop(): void {
    for (const node of this.#nodes) node.abandon();
    this.#close();
  }

  async leave(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.leave()));
    this.#close();
  }

  #close(): void {
    this.#mirror.stop();
    this.#pool.close();
  }

  #node(n: number): KeelsonNode {
    const { fleet, stores, ttlMs } = this.#options;
    return new KeelsonNode(
      // Nobody calls these nodes; an address is part of being a member.
      {
        fleet,
        node: `node-${n}`,
        address: "127.0.0.1:1",
        services: [this.#service],
        terms: { ttlMs },
        onDecision: ({ kind, node, replica }) => {
          if (kind === "live") this.#live.add(`${node} ${replica}`);
          else if (ENDS.has(kind)) this.#live.delete(`${node} ${replica}`);
        },
      },
      {
        store: stores[n % stores.length] ?? stores[0],
        clock: this.#clock,
        random: systemRandom,
        transport: new WireTransport(this.#pool),
        eras: new ServerTimeEras(),
        mirror: this.#mirror,
      },
    );
  }
}
