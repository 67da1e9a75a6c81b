import { FleetClient, SystemClock, systemRandom } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { WirePool, WireTransport } from "@keelson/wire";

/** The bench's own eyes and hands: who holds what, and requests over the wire. */
export class BenchClient {
  readonly clock = new SystemClock();
  readonly client: FleetClient;
  readonly #close: () => Promise<void>;
  readonly #shards: number;
  readonly #transport: WireTransport;

  private constructor(
    client: FleetClient,
    transport: WireTransport,
    shards: number,
    close: () => Promise<void>,
  ) {
    this.client = client;
    this.#transport = transport;
    this.#shards = shards;
    this.#close = close;
  }

  static async open(url: string, fleet: string, shards: number): Promise<BenchClient> {
    const clock = new SystemClock();
    const store = await openStore(url, { clock, random: systemRandom, name: "bench" });
    const pool = new WirePool({ clock, random: systemRandom, name: "bench" });
    const transport = new WireTransport(pool);
    const client = new FleetClient({ fleet, store, transport, clock, random: systemRandom });
    client.start();
    return new BenchClient(client, transport, shards, async () => {
      client.stop();
      pool.close();
      await store.close();
    });
  }

  /** The shards whose tenure names this node. */
  heldBy(node: string): string[] {
    const held: string[] = [];
    for (let shard = 0; shard < this.#shards; shard++) {
      if (this.client.table.lookup("echo", String(shard))?.node === node) held.push(String(shard));
    }
    return held;
  }

  /** Waits until every shard is held by one of these nodes and each of them holds some. */
  async settled(nodes: readonly string[], timeoutMs: number): Promise<void> {
    const deadline = this.clock.now() + timeoutMs;
    for (;;) {
      const counts = nodes.map((node) => this.heldBy(node).length);
      const even = this.#shards / nodes.length / 2;
      if (counts.reduce((a, b) => a + b, 0) === this.#shards && counts.every((count) => count > even)) return;
      if (this.clock.now() > deadline)
        throw new Error(
          `not settled after ${timeoutMs} ms: ${nodes.map((n, i) => `${n} ${counts[i]}`).join(", ")}`,
        );
      await sleep(20);
    }
  }

  /** When a node other than `not` first answered for the shard, on this process's clock. */
  async answered(shard: string, not: string, deadline: number): Promise<number> {
    while (this.clock.now() < deadline) {
      const route = this.client.table.lookup("echo", shard);
      if (!route || route.node === not) {
        await this.#changed(shard, deadline);
        continue;
      }
      try {
        const request = {
          service: "echo",
          shard,
          replica: 0,
          method: "who",
          mode: "read",
          body: null,
          timeoutMs: 500,
        } as const;
        const reply = await this.#transport.call(route.address, request, { timeoutMs: 500 });
        if (reply.kind === "ok" && reply.body !== not) return this.clock.now();
      } catch {
        // Asked too early or too late; asked again below.
      }
      await sleep(5);
    }
    return Infinity;
  }

  close(): Promise<void> {
    return this.#close();
  }

  #changed(shard: string, deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        off();
        timer.cancel();
        resolve();
      };
      const off = this.client.table.onChange("echo", shard, done);
      const timer = this.clock.after(Math.max(0, deadline - this.clock.now()), done);
    });
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
