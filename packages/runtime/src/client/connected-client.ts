/**
 * A fleet client with its connections: over wire to nodes, following a node's copy of the store, or the store itself when none gives its copy.
 * It is what a gateway or a tool outside the fleet starts with.
 */
import { terms as allTerms, type Clock, type Random, type Store } from "@keelson/kernel";
import { WirePool, WireTransport, type WireClientOptions } from "@keelson/wire";
import { CopyFollower } from "../copy/copy-follower.ts";
import { fleetMirror } from "../mirror/fleet-mirror.ts";
import type { RouterOptions } from "../router/options.ts";
import { FleetClient, type FleetClientOptions } from "./fleet-client.ts";

export interface ConnectedClientOptions {
  readonly fleet: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Told to nodes, for their logs. */
  readonly name: string;
  /** Nodes to begin with; others are learnt from them. */
  readonly nodes?: readonly string[] | undefined;
  /** Without nodes, or when none of them answers. One of the two is needed. */
  readonly store?: Store | undefined;
  /** What nodes want to hear before they talk, if they do. */
  readonly wireToken?: string | undefined;
  /** How nodes are connected to, when not in plain TCP: where TLS goes. */
  readonly connect?: WireClientOptions["connect"] | undefined;
  readonly router?: Partial<RouterOptions> | undefined;
  readonly onKey?: FleetClientOptions["onKey"] | undefined;
}

/** How a gateway reaches its fleet. A simulation gives it another one. */
export interface FleetLink {
  readonly fleet: FleetClient;
  readonly copy: Pick<CopyFollower, "image" | "live" | "source" | "staleMs">;
  start(): void;
  stop(): void;
  /** Asks a node itself, not a shard. Rejects with TransportError or WireFailure. */
  askNode(address: string, method: string, body: unknown, timeoutMs: number): Promise<unknown>;
}

export class ConnectedClient implements FleetLink {
  readonly fleet: FleetClient;
  readonly copy: CopyFollower;
  readonly #pool: WirePool;

  constructor(options: ConnectedClientOptions) {
    const { fleet, clock, random, name, nodes = [], store, wireToken, connect, router, onKey } = options;
    if (nodes.length === 0 && !store) throw new TypeError("a client needs a node's address, or a store");
    this.#pool = new WirePool({
      clock,
      random,
      name,
      ...(wireToken === undefined ? {} : { token: wireToken }),
      ...(connect ? { connect } : {}),
    });
    this.copy = new CopyFollower({
      fleet,
      clock,
      random,
      nodes,
      open: (address, method, body, sink) => this.#pool.stream(address, method, body, sink),
      ...(store ? { store: () => fleetMirror(fleet, { store, clock, random }, allTerms()) } : {}),
    });
    this.fleet = new FleetClient({
      fleet,
      copy: this.copy,
      transport: new WireTransport(this.#pool),
      clock,
      random,
      ...(router ? { router } : {}),
      ...(onKey ? { onKey } : {}),
    });
  }

  start(): void {
    this.fleet.start();
  }

  stop(): void {
    this.fleet.stop();
    this.#pool.close();
  }

  askNode(address: string, method: string, body: unknown, timeoutMs: number): Promise<unknown> {
    return this.#pool.call(address, method, body, { timeoutMs });
  }
}
