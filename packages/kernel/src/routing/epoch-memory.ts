import { compareEpochs, type Epoch } from "../identity/epoch.ts";

/** The greatest epochs seen in answers about one shard: by replica, and for writes of a service with primaries under {@link WRITES}. */
export class ShardEpochs {
  readonly #greatest: (Epoch | undefined)[] = [];

  /** The greatest epoch seen so far. An answer to a request sent from now on must not be below it. */
  floor(slot: number): Epoch | undefined {
    return this.#greatest[slot + 1];
  }

  see(slot: number, epoch: Epoch): void {
    const known = this.#greatest[slot + 1];
    if (known && compareEpochs(epoch, known) <= 0) return;
    while (this.#greatest.length < slot + 1) this.#greatest.push(undefined);
    this.#greatest[slot + 1] = epoch;
  }
}

/** The slot of write epochs, which are those of a shard's primary and not of one replica. */
export const WRITES = -1;

/**
 * What a router remembers so as never to take an answer from a holder that it knows to be a former one. Bounded: the shard that has been
 * known longest is forgotten first, and its next answer is taken as it comes.
 */
export class EpochMemory {
  readonly #services = new Map<string, Map<string, ShardEpochs>>();
  readonly #shardsMax: number;
  #lastName: string | undefined;
  #last: Map<string, ShardEpochs> | undefined;

  /** `shardsMax` counts per service. */
  constructor(shardsMax = 200_000) {
    this.#shardsMax = shardsMax;
  }

  of(service: string, shard: string): ShardEpochs {
    const shards = service === this.#lastName && this.#last ? this.#last : this.#service(service);
    const known = shards.get(shard);
    if (known) return known;
    if (shards.size >= this.#shardsMax) {
      const oldest = shards.keys().next();
      if (!oldest.done) shards.delete(oldest.value);
    }
    const made = new ShardEpochs();
    shards.set(shard, made);
    return made;
  }

  #service(name: string): Map<string, ShardEpochs> {
    let shards = this.#services.get(name);
    if (!shards) {
      shards = new Map();
      this.#services.set(name, shards);
    }
    this.#lastName = name;
    this.#last = shards;
    return shards;
  }
}
