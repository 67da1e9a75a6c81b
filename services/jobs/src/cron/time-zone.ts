/**
 * Wall clocks of time zones, from the rules that Node carries (ICU). A local time is written as the milliseconds it would be in UTC, so that it can be added to
 * and compared; `instants` says at which moments a zone's clocks show it: none in a gap, two in an overlap.
 */

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ZONES_MAX = 1_000;

const formats = new Map<string, Intl.DateTimeFormat>();

export function timeZoneProblem(zone: string): string | undefined {
  try {
    formatOf(zone);
    return undefined;
  } catch {
    return `"${zone.slice(0, 64)}" is no time zone: write one such as Europe/Berlin or UTC`;
  }
}

/** What the zone's clocks show at `atMs`, as if it were UTC. */
export function localTime(atMs: number, zone: string): number {
  if (zone === "UTC") return atMs;
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(atMs)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  const wholeSeconds = Date.UTC(year, month - 1, day, hour, minute, second);
  return wholeSeconds + (((atMs % 1000) + 1000) % 1000);
}

/** The moments at which the zone's clocks show `localMs`, in order. */
export function instants(localMs: number, zone: string): readonly number[] {
  const [before, after] = offsetsAround(localMs, zone);
  const guesses = before === after ? [before] : [before, after];
  return guesses
    .map((offset) => localMs - offset)
    .filter((atMs) => localTime(atMs, zone) === localMs)
    .sort((a, b) => a - b);
}

/** The moment after the gap that `localMs` lies in: when clocks were put forward. */
export function gapEnd(localMs: number, zone: string): number {
  const [before, after] = offsetsAround(localMs, zone);
  let low = localMs - Math.max(before, after);
  let high = localMs - Math.min(before, after);
  // Clocks change on whole seconds.
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000;
    if (localTime(middle, zone) - middle === before) low = middle;
    else high = middle;
  }
  return high;
}

function offsetsAround(localMs: number, zone: string): readonly [number, number] {
  const [before, after] = [localMs - DAY_MS, localMs + DAY_MS];
  return [localTime(before, zone) - before, localTime(after, zone) - after];
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    calendar: "iso8601",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  if (formats.size >= ZONES_MAX) formats.clear();
  formats.set(zone, format);
  return format;
}
