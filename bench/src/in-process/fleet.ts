/**
 * Many nodes in one process, on one client of a store: for what nodes cost, and how fast many of them agree. They hold shards and answer nobody.
 */
import { ring, type Shard, type Store } from "@keelson/kernel";
import { KeelsonNode, ServerTimeEras, SystemClock, defineService, systemRandom } from "@keelson/runtime";
import { WirePool, WireTransport } from "@keelson/wire";

export interface InProcessFleetOptions {
  readonly store: Store;
  readonly fleet: string;
  readonly nodes: number;
  readonly shards: number;
  readonly ttlMs: number;
}

const SERVICE = "idle";

export class InProcessFleet {
  readonly #options: InProcessFleetOptions;
  readonly #nodes: readonly KeelsonNode[];
  readonly #pool: WirePool;

  constructor(options: InProcessFleetOptions) {
    this.#options = options;
    this.#pool = new WirePool({ clock: new SystemClock(), random: systemRandom, name: "bench" });
    this.#nodes = Array.from({ length: options.nodes }, (_, n) => this.#node(`node-${n}`));
  }

  /** All at once; resolves when all are members. */
  async start(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.start()));
  }

  /** How many shards are held by a node that would admit a request for them now. */
  get held(): number {
    let held = 0;
    for (const node of this.#nodes) for (const { replica } of node.held()) if (node.check(replica)) held++;
    return held;
  }

  /** As a crash. */
  stop(): void {
    for (const node of this.#nodes) node.abandon();
    this.#pool.close();
  }

  async leave(): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node.leave()));
    this.#pool.close();
  }

  #node(name: string): KeelsonNode {
    const { fleet, store, shards, ttlMs } = this.#options;
    const service = defineService({
      name: SERVICE,
      parameters: { shards, replicas: 1, placement: {} },
      placement: ring({ service: SERVICE }),
      open: (): Promise<Shard> => Promise.resolve({ handle: () => Promise.resolve(name) }),
    });
    return new KeelsonNode(
      // Nobody calls these nodes; an address is part of being a member.
      { fleet, node: name, address: "127.0.0.1:1", services: [service], terms: { ttlMs } },
      {
        store,
        clock: new SystemClock(),
        random: systemRandom,
        transport: new WireTransport(this.#pool),
        eras: new ServerTimeEras(),
      },
    );
  }
}
