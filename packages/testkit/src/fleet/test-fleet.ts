import {
  TransportError,
  parseReplicaKey,
  type Clock,
  type Decision,
  type EraSource,
  type NodeReply,
  type NodeRequest,
  type NodeStream,
  type Random,
  type ReplicaKey,
  type Store,
  type StreamTransportOptions,
  type Terms,
  type Transport,
} from "@keelson/kernel";
import {
  KeelsonNode,
  SystemClock,
  type NodeMemory,
  type NodeOptions,
  type ServiceDefinition,
} from "@keelson/runtime";
import { MemoryStore } from "@keelson/stores/memory";

export interface TestFleetOptions {
  readonly services: readonly ServiceDefinition[];
  readonly nodes?: number;
  readonly terms?: Partial<Terms>;
  readonly clock?: Clock;
  readonly random?: Random;
  /** A client of another store than the fleet's own, one for each node. The fleet closes it. */
  readonly connect?: (node: string) => Store;
  readonly onDecision?: (decision: Decision) => void;
}

/**
 * A whole fleet in one process, on the memory store, for the tests of a service: start nodes, kill them, let them leave, and ask for a shard
 * wherever it is. Requests take the same way through a node as over the network; only the network is missing.
 */
export class TestFleet implements Transport {
  readonly clock: Clock;
  readonly store: MemoryStore;
  readonly nodes = new Map<string, KeelsonNode>();

  readonly #options: TestFleetOptions;
  readonly #random: Random;
  readonly #connected: Store[] = [];
  #era = 0;

  constructor(options: TestFleetOptions) {
    this.#options = options;
    this.clock = options.clock ?? new SystemClock();
    this.#random = options.random ?? Math.random;
    this.store = new MemoryStore({ clock: this.clock, random: this.#random });
  }

  /** Starts a fleet and waits until everything is where the plan wants it. */
  static async start(options: TestFleetOptions): Promise<TestFleet> {
    const fleet = new TestFleet(options);
    const names = Array.from({ length: options.nodes ?? 3 }, (_, i) => String.fromCharCode(97 + i));
    await Promise.all(names.map((name) => fleet.add(name)));
    await fleet.settled();
    return fleet;
  }

  /** Starts a node and waits until it is a member. */
  async add(name: string, options: Partial<NodeOptions> = {}, memory?: NodeMemory): Promise<KeelsonNode> {
    const { terms, onDecision, services } = this.#options;
    const node = new KeelsonNode(
      {
        fleet: "test",
        node: name,
        address: name,
        services,
        terms: { ttlMs: 3_000, ...terms },
        ...(onDecision ? { onDecision } : {}),
        ...options,
      },
      {
        store: this.#connect(name),
        clock: this.clock,
        random: this.#random,
        transport: this,
        eras: this.#eras(),
        ...(memory ? { memory } : {}),
      },
    );
    this.nodes.set(name, node);
    await node.start();
    return node;
  }

  /** As `kill -9`: its sessions expire by themselves. */
  kill(name: string): void {
    this.nodes.get(name)?.abandon();
    this.nodes.delete(name);
  }

  /** Leaves gracefully. */
  async leave(name: string): Promise<void> {
    await this.nodes.get(name)?.leave();
    this.nodes.delete(name);
  }

  async stop(): Promise<void> {
    for (const node of this.nodes.values()) node.abandon();
    this.nodes.clear();
    await Promise.all([this.store, ...this.#connected].map((store) => store.close()));
  }

  /** Every replica that the services declare. */
  replicas(): ReplicaKey[] {
    return this.#options.services.flatMap(({ name, parameters }) => {
      const ids = parameters.shardIds ?? Array.from({ length: parameters.shards }, (_, i) => String(i));
      return ids.flatMap((id) =>
        Array.from({ length: parameters.replicas }, (_, r) => `${name}/${encodeURIComponent(id)}/${r}`),
      );
    });
  }

  /** The nodes that would admit a request for the replica right now. More than one would be a catastrophe. */
  holders(replica: ReplicaKey): string[] {
    return [...this.nodes].filter(([, node]) => node.check(replica)).map(([name]) => name);
  }

  /** Waits until all nodes are in every view and each replica is held by its first candidate. */
  async settled(timeoutMs = 10_000): Promise<void> {
    const replicas = this.replicas();
    const misplaced = (): string[] =>
      replicas.filter((replica) => {
        const { service } = parseReplicaKey(replica);
        const holders = this.holders(replica);
        return [...this.nodes.values()].some((node) => {
          const planned = node.host.lineOf(replica, service)?.candidates[0];
          return (
            holders.length !== 1 ||
            planned !== holders[0] ||
            node.views.view(service)?.members.length !== this.nodes.size
          );
        });
      });
    await this.until(
      () => misplaced().length === 0,
      timeoutMs,
      () => `${misplaced().length} of ${replicas.length} replicas are not where they should be`,
    );
  }

  /** Waits until every replica is held. */
  async allHeld(timeoutMs = 10_000): Promise<void> {
    const replicas = this.replicas();
    await this.until(
      () => replicas.every((replica) => this.holders(replica).length === 1),
      timeoutMs,
      () => {
        const missing = replicas.filter((replica) => this.holders(replica).length !== 1);
        return `${missing.length} of ${replicas.length} replicas are not held, e.g. ${missing[0] ?? ""}`;
      },
    );
  }

  async until(done: () => boolean, timeoutMs: number, problem: () => string): Promise<void> {
    const deadline = this.clock.now() + timeoutMs;
    while (!done()) {
      if (this.clock.now() > deadline) throw new Error(`after ${timeoutMs} ms: ${problem()}`);
      await new Promise<void>((resolve) => this.clock.after(5, resolve));
    }
  }

  call(address: string, request: NodeRequest): Promise<NodeReply> {
    const node = this.nodes.get(address);
    return node
      ? node.handle(request)
      : Promise.reject(new TransportError("UNREACHABLE", `no node ${address}`));
  }

  stream(address: string, request: NodeRequest, options: StreamTransportOptions): Promise<NodeStream> {
    const node = this.nodes.get(address);
    return node
      ? node.stream(request, options.signal)
      : Promise.reject(new TransportError("UNREACHABLE", `no node ${address}`));
  }

  #connect(node: string): Store {
    const store = this.#options.connect?.(node) ?? this.store.connect();
    this.#connected.push(store);
    return store;
  }

  #eras(): EraSource {
    return {
      next: (above) => {
        this.#era = Math.max(this.#era, above) + 1;
        return Promise.resolve({ era: this.#era, fresh: true });
      },
    };
  }
}
