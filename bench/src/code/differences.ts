/** How many lines only one of two answers has; numbers are in rising order. Files in `skipped` do not count: what is not text is not searched here. */
export function differences(
  ours: ReadonlyMap<string, readonly number[]>,
  theirs: ReadonlyMap<string, readonly number[]>,
  skipped: ReadonlySet<string>,
): number {
  let count = 0;
  for (const path of new Set([...ours.keys(), ...theirs.keys()])) {
    if (!skipped.has(path)) count += apart(ours.get(path) ?? [], theirs.get(path) ?? []);
  }
  return count;
}

function apart(a: readonly number[], b: readonly number[]): number {
  let count = 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      i += 1;
      j += 1;
    } else {
      count += 1;
      if (a[i]! < b[j]!) i += 1;
      else j += 1;
    }
  }
  return count + a.length - i + b.length - j;
}
