/**
 * A node and the server that others reach it by. This is the composition that every process with a node needs: it knows of no store and no
 * service; both are given.
 */
import type { Clock, EraSource, Random, Store } from "@keelson/kernel";
import { KeelsonNode, type NodeMemory, type NodeOptions } from "@keelson/runtime";
import { WirePool, WireServer, WireTransport, serveNode, type HostPort } from "@keelson/wire";

export interface ServedNodeOptions extends Omit<NodeOptions, "address"> {
  readonly listen: HostPort;
  /** Where others reach it; where it listens, if left out. */
  readonly address?: string | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly eras: EraSource;
  readonly memory?: NodeMemory | undefined;
}

/** How long calls that are being answered may take once the node has left. */
const CLOSE_GRACE_MS = 1_000;

export class ServedNode {
  readonly node: KeelsonNode;
  readonly address: string;
  readonly #server: WireServer;
  readonly #pool: WirePool;

  private constructor(node: KeelsonNode, address: string, server: WireServer, pool: WirePool) {
    this.node = node;
    this.address = address;
    this.#server = server;
    this.#pool = pool;
  }

  /** Listens, and makes the node; `node.start()` joins the fleet. Rejects when the address cannot be had. */
  static async listen(options: ServedNodeOptions): Promise<ServedNode> {
    const { listen, store, clock, random, eras, memory, ...rest } = options;
    const server = new WireServer({ clock, name: rest.node });
    const pool = new WirePool({ clock, random, name: rest.node });
    await server.listen(listen);
    const address = options.address ?? server.address;
    const node = new KeelsonNode(
      { ...rest, address },
      { store, clock, random, eras, transport: new WireTransport(pool), ...(memory ? { memory } : {}) },
    );
    serveNode(server, (request, signal) => node.handle(request, signal));
    return new ServedNode(node, address, server, pool);
  }

  /** Hands everything over, then stops listening. */
  async leave(): Promise<void> {
    await this.node.leave();
    await this.close();
  }

  /** As a crash: nothing is handed over, connections are cut, sessions are left to expire. */
  async kill(): Promise<void> {
    this.node.abandon();
    this.#pool.close();
    await this.#server.close({ graceMs: 0 });
  }

  /** Stops listening, once the node has ended by itself. */
  async close(): Promise<void> {
    await this.#server.close({ graceMs: CLOSE_GRACE_MS });
    this.#pool.close();
  }
}
