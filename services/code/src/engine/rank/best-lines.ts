/** Which lines of a file are shown where not all of its matches can be: the best, and of equal ones the first. */

/** For each line its score and its matches; comes back with how many matches of each are shown, `max` in all. */
export function bestLines(
  scores: readonly number[],
  matches: readonly number[],
  max: number,
): readonly number[] {
  const ofScore = new Map<number, number>();
  for (const [i, score] of scores.entries()) ofScore.set(score, (ofScore.get(score) ?? 0) + matches[i]!);
  let left = max;
  let least = Infinity;
  for (const score of [...ofScore.keys()].sort((a, b) => b - a)) {
    least = score;
    if (ofScore.get(score)! >= left) break;
    left -= ofScore.get(score)!;
  }
  return scores.map((score, i) => {
    if (score !== least) return score > least ? matches[i]! : 0;
    const shown = Math.min(left, matches[i]!);
    left -= shown;
    return shown;
  });
}
