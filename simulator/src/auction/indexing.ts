import {
  replicaKey,
  type Clock,
  type PrepareContext,
  type Prepared,
  type ShardHandler,
} from "@keelson/kernel";
import { MIB, type Catalogue } from "./catalogue.ts";
import type { IndexMemory } from "./index-memory.ts";

export interface IndexingTerms {
  /** How fast one build goes when it has the node for itself: what cloning gives. */
  readonly buildMibPerSecond: number;
  /** How fast all builds of a node together go: what its processors give. */
  readonly nodeMibPerSecond: number;
}

/**
 * Makes a service of one that indexes repositories into memory: preparing takes as long as the repository is large and the node is busy, and takes memory from the
 * first byte on. What it prepares is the given service's own.
 */
export function indexing(
  inner: ShardHandler,
  service: string,
  terms: IndexingTerms,
  ports: { readonly clock: Clock; readonly catalogue: Catalogue; readonly memory: IndexMemory },
): ShardHandler {
  return { prepare: (context) => prepare(inner, service, terms, ports, context) };
}

async function prepare(
  inner: ShardHandler,
  service: string,
  terms: IndexingTerms,
  ports: { readonly clock: Clock; readonly catalogue: Catalogue; readonly memory: IndexMemory },
  context: PrepareContext,
): Promise<Prepared> {
  const { clock, catalogue, memory } = ports;
  const replica = replicaKey(service, context.shard, context.replica);
  const chunk = catalogue.actualBytes(context.shard) / CHUNKS;
  memory.begin(replica);
  try {
    for (let i = 0; i < CHUNKS; i++) {
      if (context.signal.aborted) throw new Error("no longer wanted");
      const mibPerSecond = Math.min(terms.buildMibPerSecond, terms.nodeMibPerSecond / memory.building);
      await sleep(clock, (1_000 * chunk) / (mibPerSecond * MIB));
      context.progress((i + 1) / CHUNKS);
    }
    const prepared = await inner.prepare!(context);
    memory.finish(replica, context.shard);
    return {
      activate: (epoch) => prepared.activate(epoch),
      close: async () => {
        await prepared.close?.();
        memory.free(replica);
      },
    };
  } catch (error) {
    memory.free(replica);
    throw error;
  }
}

/** A build notices this often how busy its node is, and whether it is still wanted. */
const CHUNKS = 8;

function sleep(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => clock.after(ms, resolve));
}
