/** How many lines only one of two answers has. Files in `skipped` do not count: what is not text is not searched here. */
export function differences(
  ours: ReadonlyMap<string, readonly number[]>,
  theirs: ReadonlyMap<string, readonly number[]>,
  skipped: ReadonlySet<string>,
): number {
  let count = 0;
  for (const path of new Set([...ours.keys(), ...theirs.keys()])) {
    if (skipped.has(path)) continue;
    const a = new Set(ours.get(path));
    const b = new Set(theirs.get(path));
    for (const line of a) if (!b.has(line)) count += 1;
    for (const line of b) if (!a.has(line)) count += 1;
  }
  return count;
}
