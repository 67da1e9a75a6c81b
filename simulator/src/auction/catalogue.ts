import { parseReplicaKey, type Random } from "@keelson/kernel";
import type { Streams } from "../chance/streams.ts";
import { uniform } from "../chance/draw.ts";

export const MIB = 2 ** 20;

export interface CatalogueTerms {
  readonly repositories: number;
  /** Sizes are log-normal around this, with this spread: a few are very large. */
  readonly medianMib: number;
  readonly sigma: number;
  readonly largestMib: number;
  /** What is thought of a repository that was never indexed is too large by up to this share. */
  readonly overestimate: number;
}

/** The repositories of a run: how large each is, and how large it is thought to be before it was indexed. The same for every node. */
export class Catalogue {
  readonly #actual: readonly number[];
  readonly #estimates: readonly number[];

  constructor(terms: CatalogueTerms, streams: Streams) {
    const sizes = streams.stream("sizes");
    const errors = streams.stream("estimates");
    this.#actual = Array.from({ length: terms.repositories }, () =>
      Math.round(
        MIB *
          Math.min(terms.largestMib, Math.max(1, terms.medianMib * Math.exp(terms.sigma * normal(sizes)))),
      ),
    );
    this.#estimates = this.#actual.map((bytes) =>
      Math.ceil(bytes * (1 + uniform(errors, [0, terms.overestimate]))),
    );
  }

  actualBytes(shard: string): number {
    return this.#actual[Number(shard)] ?? 0;
  }

  estimatedBytes(shard: string): number {
    return this.#estimates[Number(shard)] ?? 0;
  }

  bytesOf(replica: string): number {
    return this.actualBytes(parseReplicaKey(replica).shard);
  }

  get totalBytes(): number {
    return this.#actual.reduce((sum, bytes) => sum + bytes, 0);
  }
}

/** Sum of twelve: near enough to normal between −4 and 4, and never farther out. */
function normal(random: Random): number {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += random();
  return sum;
}
