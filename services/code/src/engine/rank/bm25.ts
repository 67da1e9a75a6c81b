/**
 * The other way to rank, as searches of text do: a file is as good as the words that it has, each more often than others have it, in less text. A term is a text or an expression of the query;
 * how rare it is does not count. How long files are on average is known of each repository by itself, so that neither the nodes that hold it nor the other repositories change what it answers.
 */

const K = 1.2;
const B = 0.75;
/** So many times as much counts what is in a path, or in the name of a symbol. */
const IMPORTANT = 5;
/** So many times less counts what is in a test, or was written by others or by nobody. */
const LESS = 5;
/** What a line is compared with. */
const LINE_BYTES = 100;

/** How often each term was found. */
export class TermCounts {
  readonly #counts: number[] = [];

  clear(): void {
    this.#counts.length = 0;
  }

  add(term: number, important: boolean): void {
    this.#counts[term] = (this.#counts[term] ?? 0) + (important ? IMPORTANT : 1);
  }

  /** `lengthRatio` is the length of the text by the usual one. */
  score(lengthRatio: number, isLess: boolean): number {
    let score = 0;
    for (let term = 0; term < this.#counts.length; term += 1) {
      const count = (this.#counts[term] ?? 0) / (isLess ? LESS : 1);
      score += ((K + 1) * count) / (K * (1 - B + B * lengthRatio) + count);
    }
    return score;
  }
}

/** With its line break. */
export function lineRatio(bytes: number): number {
  return bytes / LINE_BYTES;
}

/** How long a document of an index is. */
export function averageBytes(stats: { readonly contentBytes: number; readonly documents: number }): number {
  return stats.contentBytes / Math.max(1, stats.documents);
}
