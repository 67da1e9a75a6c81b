import {
  parseReplicaKey,
  replicaKey,
  shardKey,
  type Clock,
  type Epoch,
  type PrepareContext,
  type Prepared,
  type Random,
  type Shard,
  type ShardHandler,
  type ShardRequest,
  type ShardStats,
} from "@keelson/kernel";
import { chance, uniform, type Range } from "./chance/draw.ts";
import type { Emit } from "./events.ts";
import type { Network } from "./network.ts";
import type { SimProcess } from "./process.ts";
import { RemoteResource, type Resources } from "./resource.ts";

export interface ServiceTerms {
  readonly name: string;
  /** Replicas share one resource, which the primary alone writes. */
  readonly primary: boolean;
  readonly prepareMs: Range;
  readonly activateMs: Range;
  readonly requestMs: Range;
  /** The share of prepares and of activations that fail. */
  readonly openFailures: number;
}

export interface ServicePorts {
  readonly process: SimProcess;
  readonly network: Network;
  readonly resources: Resources;
  readonly random: Random;
  readonly emit: Emit;
  /** Switched off by `--break activate-raise`. */
  readonly raisesFirst: boolean;
  /** What a shard carries, where placement goes by load. */
  readonly load?: (shard: string) => number;
}

/**
 * The service that simulated nodes run: each shard is a counter, kept in memory and written through to a fenced resource. A write adds one; a read gives what memory has.
 * It does what a real service must, no more: it raises the epoch before it reads, writes one at a time, and stops writing when closed.
 */
export function simulatedService(terms: ServiceTerms, ports: ServicePorts): ShardHandler {
  return { prepare: (context) => prepare(terms, ports, context) };
}

async function prepare(terms: ServiceTerms, ports: ServicePorts, context: PrepareContext): Promise<Prepared> {
  const fails = chance(ports.random, terms.openFailures);
  const takesMs = uniform(ports.random, terms.prepareMs);
  await sleep(ports.process.clock, takesMs / 2);
  context.progress(0.5);
  await sleep(ports.process.clock, takesMs / 2);
  if (fails) throw new Error("the prepare fails by chance");
  return {
    activate: async (epoch) => {
      const shard = new CounterShard(terms, ports, context.shard, context.replica);
      await shard.activate(epoch);
      return shard;
    },
  };
}

class CounterShard implements Shard {
  readonly #terms: ServiceTerms;
  readonly #ports: ServicePorts;
  readonly #replica: string;
  readonly #shard: string;
  /** What this replica alone writes. */
  readonly #own: RemoteResource;
  /** What requests write: the same, or with a primary what the shard's replicas share. */
  readonly #written: RemoteResource;
  #value = 0;
  #closed = false;
  /** The write under way. */
  #writing: Promise<void> | undefined;

  constructor(terms: ServiceTerms, ports: ServicePorts, shard: string, replica: number) {
    this.#terms = terms;
    this.#ports = ports;
    this.#replica = replicaKey(terms.name, shard, replica);
    this.#shard = shardKey(terms.name, shard);
    const remote = (name: string): RemoteResource =>
      new RemoteResource(ports.process, ports.network, ports.resources.get(name));
    this.#own = remote(this.#replica);
    this.#written = terms.primary ? remote(this.#shard) : this.#own;
  }

  stats(): ShardStats {
    const { load } = this.#ports;
    return load ? { load: load(parseReplicaKey(this.#replica).shard) } : {};
  }

  async activate(epoch: Epoch): Promise<void> {
    const { process, random } = this.#ports;
    this.#emit("activated", epoch);
    const fails = chance(random, this.#terms.openFailures);
    await sleep(process.clock, uniform(random, this.#terms.activateMs));
    if (fails) throw new Error("the activation fails by chance");
    this.#value = await this.#raiseAndRead(this.#own, epoch);
  }

  async promote(epoch: Epoch): Promise<void> {
    this.#emit("promoted", epoch);
    this.#value = await this.#raiseAndRead(this.#written, epoch);
  }

  async handle({ epoch, mode }: ShardRequest): Promise<unknown> {
    const { process, random, emit } = this.#ports;
    const node = process.name;
    emit({ kind: "admitted", node, replica: this.#replica, shard: this.#shard, epoch, mode });
    try {
      await sleep(process.clock, uniform(random, this.#terms.requestMs));
      return mode === "read" ? this.#value : await this.#increment(epoch);
    } finally {
      emit({ kind: "finished", node, replica: this.#replica });
    }
  }

  close(): Promise<void> {
    this.#closed = true;
    return Promise.resolve();
  }

  /** One write at a time: the next begins when the last has ended, however it ended. */
  async #increment(epoch: Epoch): Promise<number> {
    // oxlint-disable-next-line no-await-in-loop -- whoever waited longest goes first, and the others wait for it.
    while (this.#writing) await this.#writing.then(nothing, nothing);
    if (this.#closed) throw new Error("the shard was closed before the write began");
    const value = this.#value + 1;
    this.#writing = this.#written.write(epoch, value);
    try {
      await this.#writing;
    } finally {
      this.#writing = undefined;
    }
    this.#value = value;
    return value;
  }

  async #raiseAndRead(resource: RemoteResource, epoch: Epoch): Promise<number> {
    if (this.#ports.raisesFirst) {
      await resource.raise(epoch);
      return resource.read();
    }
    const value = await resource.read();
    await resource.raise(epoch);
    return value;
  }

  #emit(kind: "activated" | "promoted", epoch: Epoch): void {
    const { process, emit } = this.#ports;
    emit({ kind, node: process.name, life: process.life, replica: this.#replica, shard: this.#shard, epoch });
  }
}

function nothing(): void {}

function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
