import type { ReplicaKey, ShardMemory } from "@keelson/kernel";
import type { Catalogue } from "./catalogue.ts";

export type MemoryChange = "building" | "built" | "freed";

/**
 * The memory of one node's process, as its service keeps it: what is built there, and what is being built. It ends with the process. The node is told only what a service
 * would tell; the checkers see the truth.
 */
export class IndexMemory implements ShardMemory {
  readonly budgetBytes: number;
  readonly #catalogue: Catalogue;
  readonly #changed: (replica: ReplicaKey, what: MemoryChange, bytes: number) => void;
  readonly #building = new Map<ReplicaKey, number>();
  readonly #built = new Map<ReplicaKey, number>();
  readonly #measured = new Set<string>();

  constructor(
    catalogue: Catalogue,
    budgetBytes: number,
    changed: (replica: ReplicaKey, what: MemoryChange, bytes: number) => void,
  ) {
    this.#catalogue = catalogue;
    this.budgetBytes = budgetBytes;
    this.#changed = changed;
  }

  freeBytes(): number {
    return this.budgetBytes - sum(this.#built);
  }

  sizeOf(shard: string): number {
    return this.#measured.has(shard)
      ? this.#catalogue.actualBytes(shard)
      : this.#catalogue.estimatedBytes(shard);
  }

  /** In truth: everything that is built or being built. */
  get usedBytes(): number {
    return sum(this.#built) + sum(this.#building);
  }

  get building(): number {
    return this.#building.size;
  }

  begin(replica: ReplicaKey): void {
    this.#building.set(replica, this.#catalogue.bytesOf(replica));
    this.#tell(replica, "building");
  }

  finish(replica: ReplicaKey, shard: string): void {
    this.#building.delete(replica);
    this.#built.set(replica, this.#catalogue.bytesOf(replica));
    this.#measured.add(shard);
    this.#tell(replica, "built");
  }

  free(replica: ReplicaKey): void {
    this.#building.delete(replica);
    this.#built.delete(replica);
    this.#tell(replica, "freed");
  }

  #tell(replica: ReplicaKey, what: MemoryChange): void {
    this.#changed(replica, what, this.#catalogue.bytesOf(replica));
  }
}

function sum(map: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const bytes of map.values()) total += bytes;
  return total;
}
