/**
 * The clients of the fault bench. Some ask through the router, as clients should; others ask nodes directly and at random, former holders among them: a
 * holder that does not know it is none is found by those who still believe in it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Epoch } from "@keelson/kernel";
import { FleetClient, SystemClock, systemRandom } from "@keelson/runtime";
import { openStore } from "@keelson/stores/url";
import { WirePool, WireTransport } from "@keelson/wire";
import { AnswerChecks } from "./checks.ts";
import { SERVICE } from "./counter.ts";
import { machineNs } from "./recorder.ts";

export interface LoadOptions {
  readonly fleet: string;
  readonly store: string;
  readonly shards: number;
  /** Where nodes listen at the moment. */
  readonly addresses: () => readonly string[];
}

const TICK_MS = 10;
const ROUTED_PER_TICK = 2;
const DIRECT_PER_TICK = 5;
const WRITES = 0.5;
const TIMEOUT_MS = 1_000;
/** When so many are waiting for answers, no more are asked. */
const OUTSTANDING_MAX = 2_000;

export class Load {
  readonly answers = new AnswerChecks();
  requests = 0;
  answered = 0;
  readonly #options: LoadOptions;
  readonly #client: FleetClient;
  readonly #transport: WireTransport;
  readonly #close: () => Promise<void>;
  #outstanding = 0;
  #over = false;

  private constructor(
    options: LoadOptions,
    client: FleetClient,
    transport: WireTransport,
    close: () => Promise<void>,
  ) {
    this.#options = options;
    this.#client = client;
    this.#transport = transport;
    this.#close = close;
  }

  static async open(options: LoadOptions): Promise<Load> {
    const ports = { clock: new SystemClock(), random: systemRandom, name: "load" };
    const store = await openStore(options.store, ports);
    const pool = new WirePool(ports);
    const transport = new WireTransport(pool);
    const client = new FleetClient({ fleet: options.fleet, store, transport, ...ports });
    client.start();
    return new Load(options, client, transport, async () => {
      client.stop();
      pool.close();
      await store.close();
    });
  }

  /** Asks at a fixed rate, whatever comes back, until `stop`. */
  async run(): Promise<void> {
    while (!this.#over) {
      for (let i = 0; i < ROUTED_PER_TICK; i++) void this.#ask((mode, shard) => this.#routed(mode, shard));
      for (let i = 0; i < DIRECT_PER_TICK; i++) void this.#ask((mode, shard) => this.#direct(mode, shard));
      await sleep(TICK_MS);
    }
  }

  stop(): void {
    this.#over = true;
  }

  /** The shards that nobody answers for, although they were asked for again and again all this time. */
  async unheld(withinMs: number): Promise<string[]> {
    const deadline = performance.now() + withinMs;
    const held = async (shard: string): Promise<boolean> => {
      while (performance.now() < deadline) {
        if (await this.#routed("write", shard).catch(() => undefined)) return true;
        await sleep(TICK_MS);
      }
      return false;
    };
    const shards = Array.from({ length: this.#options.shards }, (_, n) => String(n));
    const answers = await Promise.all(shards.map((shard) => held(shard)));
    return shards.filter((_, n) => !answers[n]);
  }

  close(): Promise<void> {
    return this.#close();
  }

  async #ask(call: (mode: "read" | "write", shard: string) => Promise<Epoch | undefined>): Promise<void> {
    if (this.#outstanding >= OUTSTANDING_MAX) return;
    const shard = String(Math.floor(Math.random() * this.#options.shards));
    const sentAtNs = machineNs();
    this.#outstanding++;
    this.requests++;
    try {
      const epoch = await call(Math.random() < WRITES ? "write" : "read", shard);
      if (epoch === undefined) return;
      this.answered++;
      this.answers.answered(shard, epoch, sentAtNs, machineNs());
    } catch {
      // With faults about, requests fail; what is checked is what was answered.
    } finally {
      this.#outstanding--;
    }
  }

  async #routed(mode: "read" | "write", shard: string): Promise<Epoch> {
    const request = { service: SERVICE, shard, method: "count", mode, body: null, timeoutMs: TIMEOUT_MS };
    return (await this.#client.call(request)).epoch;
  }

  /** Undefined when the node says that it is not the holder. */
  async #direct(mode: "read" | "write", shard: string): Promise<Epoch | undefined> {
    const addresses = this.#options.addresses();
    const address = addresses[Math.floor(Math.random() * addresses.length)];
    if (address === undefined) return undefined;
    const request = { service: SERVICE, shard, replica: 0, method: "count", mode, body: null } as const;
    const timing = { timeoutMs: TIMEOUT_MS };
    const reply = await this.#transport.call(address, { ...request, ...timing }, timing);
    return reply.kind === "ok" ? reply.epoch : undefined;
  }
}
