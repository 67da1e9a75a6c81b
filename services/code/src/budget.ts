/**
 * A node's memory, as it bids with it. What is taken is what the engine's arenas really hold, and what is free is what fits between; what a repository will take is what it took last, or what its files
 * suggest, or a guess that is rather too large. Part of the arenas is kept back, because a new commit is built beside the old one.
 */
import type { ShardMemory } from "@keelson/kernel";
import type { CodeEngine } from "./engine/index.ts";
import { CATALOGUE_SHARD } from "./repository.ts";

interface BudgetPorts {
  readonly engine: Pick<CodeEngine, "memory">;
  /** Memory of all that is prepared here. */
  readonly preparedBytes: () => number;
  /** Memory of a shard that is prepared here. */
  readonly preparedSize: (shard: string) => number | undefined;
  /** What it took, or was found to need. */
  readonly knownSize: (shard: string) => number | undefined;
  /** What it was found to need, and has not had yet. */
  readonly foundSize: (shard: string) => number | undefined;
}

/** What index and file contents cost at most, for each byte of content. */
const bytesPerContentByte = 1.5;
/** Even an empty index has tables. */
const indexBytesMin = 256 << 10;

/** Of an index as the one before was: other files may take a little more. */
const changeShare = 1.05;

/** What is not given to repositories: room for the next commit of one that is held. */
const reserveShare = 0.08;

export class Budget implements ShardMemory {
  readonly budgetBytes: number;
  readonly #ports: BudgetPorts;
  readonly #guessBytes: number;

  constructor(ports: BudgetPorts, guessBytes: number) {
    this.#ports = ports;
    this.budgetBytes = Math.floor(ports.engine.memory.budgetBytes * (1 - reserveShare));
    this.#guessBytes = Math.min(guessBytes, Math.floor(this.budgetBytes / 4));
  }

  freeBytes(): number {
    const { engine, preparedBytes } = this.#ports;
    return Math.max(0, Math.min(this.budgetBytes - preparedBytes(), engine.memory.roomBytes));
  }

  sizeOf(shard: string): number {
    if (shard === CATALOGUE_SHARD) return 0;
    const { preparedSize, knownSize } = this.#ports;
    return preparedSize(shard) ?? Math.max(indexBytesMin, knownSize(shard) ?? this.#guessBytes);
  }

  leastSizeOf(shard: string): number | undefined {
    return this.#ports.foundSize(shard);
  }
}

/** What an index of so much content is expected to take: for each byte little more than one took before, or as much as it was found to need; never more than any could. */
export function expectedBytes(
  contentBytes: number,
  files: number,
  before?: { readonly contentBytes: number; readonly memoryBytes: number },
  foundBytes = 0,
): number {
  const most = indexBytesMin + contentBytes * bytesPerContentByte + files * 128;
  if (!before || before.contentBytes === 0) return Math.ceil(most);
  const asBefore = (contentBytes * before.memoryBytes) / before.contentBytes;
  return Math.ceil(Math.min(most, Math.max(foundBytes, indexBytesMin + asBefore * changeShare)));
}
