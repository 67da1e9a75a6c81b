/**
 * The documents that a thread found, as a few arrays of numbers: as objects, ten thousand of them would be put together on the main thread in one go when the message arrives.
 * Paths are not in it: whoever reads it has them in shared memory.
 */
import type { Hit } from "./hit.ts";

export interface PackedHits {
  readonly count: number;
  readonly shownBytes: Float64Array;
  readonly scores: Float64Array;
  /** For each: segment, document, matches, atoms, how many words of records and of ranges in the path follow, and these. */
  readonly words: Uint32Array;
}

const HEAD_WORDS = 6;

export function packHits(hits: readonly Hit[]): PackedHits {
  const length = hits.reduce(
    (sum, { records, pathRanges }) => sum + HEAD_WORDS + records.length + pathRanges.length,
    0,
  );
  const words = new Uint32Array(length);
  let at = 0;
  for (const { segment, document, matchCount, atoms, records, pathRanges } of hits) {
    words.set([segment, document, matchCount, atoms, records.length, pathRanges.length], at);
    words.set(records, at + HEAD_WORDS);
    words.set(pathRanges, at + HEAD_WORDS + records.length);
    at += HEAD_WORDS + records.length + pathRanges.length;
  }
  return {
    count: hits.length,
    shownBytes: Float64Array.from(hits, ({ shownBytes }) => shownBytes),
    scores: Float64Array.from(hits, ({ score }) => score),
    words,
  };
}

/** In the order in which they were packed. */
export function* unpackHits(
  { count, scores, shownBytes, words }: PackedHits,
  pathOf: (segment: number, document: number) => string,
): Generator<Hit> {
  let at = 0;
  for (let i = 0; i < count; i += 1) {
    const segment = words[at]!;
    const document = words[at + 1]!;
    const records = at + HEAD_WORDS;
    const pathRanges = records + words[at + 4]!;
    const end = pathRanges + words[at + 5]!;
    yield {
      segment,
      document,
      path: pathOf(segment, document),
      score: scores[i]!,
      matchCount: words[at + 2]!,
      atoms: words[at + 3]!,
      records: words.subarray(records, pathRanges),
      pathRanges: [...words.subarray(pathRanges, end)],
      shownBytes: shownBytes[i]!,
    };
    at = end;
  }
}
