import type { Streams } from "../chance/streams.ts";
import type { Emit } from "../events.ts";
import type { SimNode } from "../node.ts";
import { Catalogue, MIB } from "./catalogue.ts";
import { IndexMemory } from "./index-memory.ts";
import type { AuctionScenario } from "./terms.ts";

/** What a run with auctions or claims has beside the fleet: the repositories, and the memory of each machine's process. */
export class AuctionWorld {
  readonly scenario: AuctionScenario;
  readonly catalogue: Catalogue;
  readonly #memories = new Map<string, IndexMemory>();

  constructor(scenario: AuctionScenario, repositories: number, streams: Streams) {
    this.scenario = scenario;
    this.catalogue = new Catalogue({ ...scenario.catalogue, repositories }, streams.within("catalogue"));
  }

  /** For the process that has just begun on that machine; what the last one had is gone. */
  memoryFor(node: SimNode, emit: Emit): IndexMemory {
    const memory = new IndexMemory(this.catalogue, this.budgetBytes(node.name), (replica, what, bytes) =>
      emit({
        kind: "memory",
        node: node.name,
        replica,
        what,
        bytes,
        usedBytes: memory.usedBytes,
        budgetBytes: memory.budgetBytes,
      }),
    );
    this.#memories.set(node.name, memory);
    return memory;
  }

  ended(node: string): void {
    this.#memories.delete(node);
  }

  usedBytes(node: string): number {
    return this.#memories.get(node)?.usedBytes ?? 0;
  }

  /** Machines have the two budgets in turn. */
  budgetBytes(node: string): number {
    const { budgetsMib } = this.scenario;
    return budgetsMib[Number(node.slice(1)) % 2 === 1 ? 0 : 1] * MIB;
  }
}
