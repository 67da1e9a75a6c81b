import type { ReplicaKey } from "@keelson/kernel";

/** Since when each replica is up for auction as it is, in true time. A bid may be older: it is on a lot that somebody took by rank and lost again, and counts from here on. */
export class LotAges {
  readonly #since = new Map<ReplicaKey, { readonly tenure: number; readonly atMs: number }>();

  /** `tenure` is the revision of its tenure, 0 for none; undefined when it is no lot. */
  look(replica: ReplicaKey, tenure: number | undefined, nowMs: number): void {
    if (tenure === undefined) this.#since.delete(replica);
    else if (this.#since.get(replica)?.tenure !== tenure) this.#since.set(replica, { tenure, atMs: nowMs });
  }

  of(replica: ReplicaKey): number {
    return this.#since.get(replica)?.atMs ?? -Infinity;
  }
}
