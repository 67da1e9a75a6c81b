/** Lengths of time as people write them: a number and a unit. A bare number is refused, because nobody can see what it counts. */

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^(?<number>\d+(?:\.\d+)?)(?<unit>ms|s|m|h)$/;

/** Undefined for anything that is not a length of time. */
export function parseDurationMs(text: string): number | undefined {
  const groups = DURATION.exec(text.trim())?.groups;
  const unitMs = UNITS_MS[groups?.["unit"] ?? ""];
  return groups === undefined || unitMs === undefined ? undefined : Number(groups["number"]) * unitMs;
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trim(ms / 1_000)} s`;
  return `${trim(ms / 60_000)} min`;
}

function trim(number: number): string {
  return number.toFixed(1).replace(/\.0$/, "");
}
