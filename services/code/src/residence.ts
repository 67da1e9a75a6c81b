/** The repositories that live in this node's memory, ready or being prepared: how much they take, and who of them hears what is new. */
import type { PrepareContext, Prepared } from "@keelson/kernel";
import { abortSignal } from "@keelson/runtime";
import type { RepositoryCatalogue } from "./catalogue.ts";
import type { CodeIndex } from "./engine/index.ts";
import type { Resident } from "./evict.ts";
import { HeldRepository } from "./held-repository.ts";
import type { Repository } from "./repository.ts";
import type { RepositoryPorts } from "./repository-ports.ts";

/** In an index of less content the tables that all have are much. */
const tellingBytes = 1 << 20;

export class Residence {
  /** By `<id>/<replica>`. */
  readonly #held = new Map<string, HeldRepository>();
  /** What is being prepared, and whether there is something new of it since that began: its commits were looked at first of all. */
  readonly #preparing = new Set<{ readonly id: number; changed: boolean }>();
  readonly #replicas: number;

  constructor(replicas: number) {
    this.#replicas = replicas;
  }

  get size(): number {
    return this.#held.size;
  }

  get(replica: string): HeldRepository | undefined {
    return this.#held.get(replica);
  }

  [Symbol.iterator](): Iterator<HeldRepository> {
    return this.#held.values();
  }

  async prepare(ports: RepositoryPorts, row: Repository, context: PrepareContext): Promise<Prepared> {
    const preparing = { id: row.id, changed: false };
    this.#preparing.add(preparing);
    const held = await HeldRepository.prepare(ports, row, context.replica, {
      signal: abortSignal(context.signal),
      progress: (fraction) => context.progress(fraction),
    }).finally(() => this.#preparing.delete(preparing));
    const key = `${row.id}/${context.replica}`;
    this.#held.set(key, held);
    if (preparing.changed) void held.refresh();
    return {
      activate: (epoch) => held.activate(epoch),
      close: async () => {
        if (this.#held.get(key) === held) this.#held.delete(key);
        await held.close();
      },
    };
  }

  /** The row of a repository has changed: other branches may be wanted. */
  rowChanged(id: number): void {
    this.#noticed(id, (held) => held.rowChanged());
  }

  /** Somebody says that there is something new. */
  poked(id: number): void {
    this.#noticed(id, (held) => void held.refresh());
  }

  bytes(): number {
    let bytes = 0;
    for (const held of this) bytes += held.memoryBytes;
    return bytes;
  }

  /** A node has one replica of a repository at most. */
  sizeOf(id: number | string): number | undefined {
    for (let replica = 0; replica < this.#replicas; replica++) {
      const held = this.#held.get(`${id}/${replica}`);
      if (held) return held.memoryBytes;
    }
    return undefined;
  }

  /** Of those that say something, the one that takes most for each byte of its files. */
  largest(): CodeIndex["stats"] | undefined {
    let largest: CodeIndex["stats"] | undefined;
    for (const { current } of this) {
      const stats = current?.index.stats;
      if (!stats || stats.contentBytes < tellingBytes) continue;
      if (!largest || share(stats) > share(largest)) largest = stats;
    }
    return largest;
  }

  leavingBytes(catalogue: RepositoryCatalogue): number {
    let bytes = 0;
    for (const held of this) if (catalogue.get(held.id)?.state !== "active") bytes += held.memoryBytes;
    return bytes;
  }

  /** Who could be evicted. */
  residents(catalogue: RepositoryCatalogue, wall: number): Resident[] {
    return [...this].flatMap((held): Resident[] => {
      const row = catalogue.get(held.id);
      if (!row || row.state !== "active") return [];
      const elsewhere = [...catalogue.records(held.id).values()].map(({ lastServedAt }) => lastServedAt);
      return [
        {
          id: held.id,
          memoryBytes: held.memoryBytes,
          pinned: row.pinned,
          since: held.since,
          lastServedAt: Math.max(held.traffic.lastServedAt, ...elsewhere),
          rate: held.traffic.rate(wall),
        },
      ];
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this].map((held) => held.close()));
    this.#held.clear();
  }

  #noticed(id: number, tell: (held: HeldRepository) => void): void {
    for (const each of this.#preparing) if (each.id === id) each.changed = true;
    for (const held of this) if (held.id === id) tell(held);
  }
}

function share({ memoryBytes, contentBytes }: CodeIndex["stats"]): number {
  return memoryBytes / contentBytes;
}
