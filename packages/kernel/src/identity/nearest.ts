/** The known word nearest to a mistyped one, for "did you mean"; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  // A third of the word may be wrong; of a short one, two letters.
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const far = distance(word.toLowerCase(), candidate.toLowerCase());
    if (far >= bestDistance) continue;
    best = candidate;
    bestDistance = far;
  }
  return best;
}

/** Letters to add, drop or change to make one of the other. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, n) => n);
  for (const [i, letter] of Array.from(from).entries()) {
    const next = [i + 1];
    for (const [j, other] of Array.from(to).entries()) {
      const change = (row[j] as number) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
