/**
 * Puts what is shown of a file in the order of its worth, as zoekt does: the best line or chunk first, of equal ones the first in the file. Files can have many, so others get their turn
 * meanwhile; and as most scores are alike, they are gathered by score instead of being compared with each other.
 */

/** Items between two looks at the time. */
const STEP_ITEMS = 500;

export interface Ranked<T> {
  readonly item: T;
  /** With what its place in the file adds: less than one. */
  readonly score: number;
}

/** Now and then there is none: then it is others' turn. `inFile` is false where places in the file add nothing. */
export function* bestFirst<T>(
  items: Iterable<T | undefined>,
  scoreOf: (item: T) => number,
  inFile: boolean,
): Generator<Ranked<T> | undefined> {
  const byScore = new Map<number, { readonly item: T; readonly place: number }[]>();
  let count = 0;
  for (const item of items) {
    if (item === undefined) {
      yield undefined;
      continue;
    }
    const score = scoreOf(item);
    const same = byScore.get(score);
    if (same) same.push({ item, place: count });
    else byScore.set(score, [{ item, place: count }]);
    count += 1;
    if (count % STEP_ITEMS === 0) yield undefined;
  }
  for (const score of Float64Array.from(byScore.keys()).sort().reverse())
    for (const { item, place } of byScore.get(score) ?? [])
      yield { item, score: inFile ? score + 1 - place / count : score };
}
