/**
 * The fleet of the demo: an embedded store in a temporary folder, nodes with their own servers on loopback, and a client that routes to them
 * over TCP. All in one process, so that one command shows it; nothing in it knows that.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { counterService } from "@keelson/examples";
import { replicaKey } from "@keelson/kernel";
import { FleetClient, ServerTimeEras, SystemClock, systemRandom, type KeelsonNode } from "@keelson/runtime";
import { EmbeddedStore } from "@keelson/stores/embedded";
import { WirePool, WireTransport } from "@keelson/wire";
import { openLog } from "../node/log.ts";
import { servicePlugin } from "../node/plugins.ts";
import { ServedNode } from "../node/served-node.ts";

export interface StageOptions {
  readonly shards: number;
  readonly ttlMs: number;
}

export type NodeState = "starting" | "up" | "killed" | "draining" | "left";

export const SERVICE = "counter";
const FLEET = "demo";

export class Stage {
  readonly shards: readonly string[];
  readonly client: FleetClient;
  /** Every node there ever was, in the order of their first start. */
  readonly states = new Map<string, NodeState>();

  readonly #options: StageOptions;
  readonly #folder: string;
  readonly #clock: SystemClock;
  readonly #store: EmbeddedStore;
  readonly #pool: WirePool;
  readonly #log = openLog("silent", {});
  readonly #eras = new ServerTimeEras({ fresh: true });
  readonly #nodes = new Map<string, ServedNode>();

  private constructor(options: StageOptions, folder: string, clock: SystemClock, store: EmbeddedStore) {
    this.#options = options;
    this.#folder = folder;
    this.#clock = clock;
    this.#store = store;
    this.shards = Array.from({ length: options.shards }, (_, n) => String(n));
    const random = systemRandom;
    this.#pool = new WirePool({ clock, random, name: "demo client" });
    this.client = new FleetClient({
      fleet: FLEET,
      store: store.connect(),
      transport: new WireTransport(this.#pool),
      clock,
      random,
    });
  }

  static async open(options: StageOptions): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), "keelson-demo-"));
    const clock = new SystemClock();
    const store = await EmbeddedStore.open({ folder: join(folder, "store"), clock, random: systemRandom });
    const stage = new Stage(options, folder, clock, store);
    stage.client.start();
    return stage;
  }

  /** Starts a node, or one that was killed, as a new process would: it remembers nothing. */
  async start(name: string): Promise<void> {
    this.states.set(name, "starting");
    const served = await ServedNode.listen({
      fleet: FLEET,
      node: name,
      plugins: [
        servicePlugin(counterService({ folder: join(this.#folder, "counts"), shards: this.shards.length })),
      ],
      config: {},
      log: this.#log,
      terms: { ttlMs: this.#options.ttlMs },
      listen: { host: "127.0.0.1", port: 0 },
      store: this.#store.connect(),
      clock: this.#clock,
      random: systemRandom,
      eras: this.#eras,
    });
    this.#nodes.set(name, served);
    await served.node.start();
    this.states.set(name, "up");
  }

  async kill(name: string): Promise<void> {
    const served = this.#nodes.get(name);
    this.#nodes.delete(name);
    this.states.set(name, "killed");
    await served?.kill();
  }

  async drain(name: string): Promise<void> {
    this.states.set(name, "draining");
    await this.#nodes.get(name)?.leave();
    this.#nodes.delete(name);
    this.states.set(name, "left");
  }

  node(name: string): KeelsonNode | undefined {
    return this.#nodes.get(name)?.node;
  }

  /** Whom the store names as the shard's holder, dead or alive. */
  named(shard: string): string | undefined {
    return this.client.table.lookup(SERVICE, shard)?.node;
  }

  /** Nodes that would admit a request for the shard right now. There is one, or none. */
  holders(shard: string): string[] {
    const replica = replicaKey(SERVICE, shard, 0);
    return [...this.#nodes].filter(([, { node }]) => node.check(replica)).map(([name]) => name);
  }

  allHeld(): boolean {
    return this.shards.every((shard) => this.holders(shard).length === 1);
  }

  /** Ends everything and leaves nothing on the disk. */
  async close(): Promise<void> {
    this.client.stop();
    this.#pool.close();
    await Promise.all([...this.#nodes.values()].map((served) => served.kill()));
    await this.#store.close();
    this.clean();
  }

  /** What is left to do when there is no time for anything else. */
  clean(): void {
    // A write that is under way may put a file into a folder that is just being removed; it is over a moment later.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
  }
}
