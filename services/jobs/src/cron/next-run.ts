/**
 * When a cron expression comes next in a time zone. Times of the day ("30 2 * * *") come once a day: one that a clock change skips comes when the gap
 * ends, one that happens twice comes the first time. A pace (every 20 minutes) goes by the clock as it is: it skips the gap and comes twice in the overlap.
 */
import { dateMatches, type CronExpression } from "./expression.ts";
import { gapEnd, instants, localTime } from "./time-zone.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** A 29 February on a given weekday can be 40 years away. */
const DAYS_MAX = 366 * 41;
/** More than clocks ever change by at once. */
const CHANGE_MS_MAX = 3 * HOUR_MS;

/** The first run after `afterMs`; undefined when there is none in 40 years. */
export function nextRun(cron: CronExpression, zone: string, afterMs: number): number | undefined {
  const dayMs = Math.floor(localTime(afterMs, zone) / DAY_MS) * DAY_MS;
  // A change of clocks can put a run of yesterday's date after midnight.
  for (let days = -1; days < DAYS_MAX; days += 1) {
    const found = runOnDate(cron, zone, dayMs + days * DAY_MS, afterMs);
    if (found !== undefined) return found;
  }
  return undefined;
}

function runOnDate(cron: CronExpression, zone: string, dayMs: number, afterMs: number): number | undefined {
  const date = new Date(dayMs);
  if (!dateMatches(cron, date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCDay())) return undefined;
  const earliestMs = localTime(afterMs, zone) - CHANGE_MS_MAX;
  let first: number | undefined;
  for (const hour of cron.hours) {
    if (dayMs + (hour + 1) * HOUR_MS <= earliestMs) continue;
    // Runs of this hour and of later ones come after what was found, unless clocks change in between.
    if (first !== undefined && dayMs + hour * HOUR_MS > localTime(first, zone) + CHANGE_MS_MAX) break;
    first = earlier(first, runInHour(cron, zone, dayMs + hour * HOUR_MS, afterMs));
    if (first !== undefined && !cron.everyHour) break;
  }
  return first;
}

function runInHour(cron: CronExpression, zone: string, hourMs: number, afterMs: number): number | undefined {
  const runs = everyOccurrence(hourMs, zone);
  let first: number | undefined;
  for (const minute of cron.minutes) {
    const minuteMs = hourMs + minute * MINUTE_MS;
    // The hour has no change of clocks: minutes come in order, and those before are over.
    if (runs !== undefined && minuteMs - runs + MINUTE_MS <= afterMs) continue;
    for (const second of cron.seconds) {
      const localMs = minuteMs + second * 1000;
      if (runs !== undefined) {
        if (localMs - runs > afterMs) return localMs - runs;
        continue;
      }
      for (const atMs of runsAt(cron, localMs, zone)) if (atMs > afterMs) first = earlier(first, atMs);
    }
  }
  return first;
}

/** The zone's offset when it is the same all through the hour. */
function everyOccurrence(hourMs: number, zone: string): number | undefined {
  const [begin, end] = [instants(hourMs, zone), instants(hourMs + HOUR_MS - 1000, zone)];
  if (begin.length !== 1 || end.length !== 1) return undefined;
  const offset = hourMs - begin[0]!;
  return offset === hourMs + HOUR_MS - 1000 - end[0]! ? offset : undefined;
}

function runsAt(cron: CronExpression, localMs: number, zone: string): readonly number[] {
  const found = instants(localMs, zone);
  if (cron.everyHour) return found;
  return found.length === 0 ? [gapEnd(localMs, zone)] : found.slice(0, 1);
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
