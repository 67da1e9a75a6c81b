/**
 * Calendar intervals of a rate limit: the minute, hour, day, month or year (UTC) that a moment lies in. Weeks have a number and no meaning upstream, where
 * asking for one is an error; it is the same error here.
 */

const GREGORIAN = { minutes: 0, hours: 1, days: 2, weeks: 3, months: 4, years: 5 } as const;

export type Interval = { readonly beginMs: number; readonly endMs: number } | { readonly problem: string };

/** The interval around `nowMs`. Its end is its last millisecond. */
export function gregorianInterval(nowMs: number, number: number): Interval {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (number) {
    case GREGORIAN.minutes:
      return fixed(nowMs, 60_000);
    case GREGORIAN.hours:
      return fixed(nowMs, 3_600_000);
    case GREGORIAN.days:
      return between(Date.UTC(year, month, day), Date.UTC(year, month, day + 1));
    case GREGORIAN.weeks:
      return { problem: "a Gregorian duration of weeks (3) is not supported" };
    case GREGORIAN.months:
      return between(Date.UTC(year, month), Date.UTC(year, month + 1));
    case GREGORIAN.years:
      return between(Date.UTC(year, 0), Date.UTC(year + 1, 0));
    default:
      return {
        problem: "behavior DURATION_IS_GREGORIAN is set; but `Duration` is not a valid gregorian interval",
      };
  }
}

function fixed(nowMs: number, lengthMs: number): Interval {
  const beginMs = Math.floor(nowMs / lengthMs) * lengthMs;
  return between(beginMs, beginMs + lengthMs);
}

function between(beginMs: number, nextMs: number): Interval {
  return { beginMs, endMs: nextMs - 1 };
}
