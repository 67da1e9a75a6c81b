import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dateMatches, parseCron, type CronExpression } from "./expression.ts";
import { nextRun } from "./next-run.ts";
import { instants, localTime, timeZoneProblem } from "./time-zone.ts";

function cron(text: string): CronExpression {
  const parsed = parseCron(text);
  if ("problem" in parsed) throw new Error(parsed.problem);
  return parsed.cron;
}

/** The next runs, in ISO. */
function runs(text: string, zone: string, after: string, count: number): string[] {
  const found: string[] = [];
  let last = Date.parse(after);
  for (let index = 0; index < count; index += 1) {
    last = nextRun(cron(text), zone, last)!;
    found.push(new Date(last).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

describe("expressions", () => {
  test.each([
    ["* * * *", "five fields"],
    ["60 * * * *", "is no minute"],
    ["* 24 * * *", "is no hour"],
    ["* * 0 * *", "is no day of month"],
    ["* * * 13 *", "is no month"],
    ["* * * foo *", "is no month"],
    ["* * * * 8", "is no day of week"],
    ["*/0 * * * *", "at least 1"],
    ["5-1 * * * *", "runs backwards"],
    ["1- * * * *", "is no minute"],
    ["0 0 31 2 *", "never comes"],
    ["@often", "five fields"],
    ["", "five fields"],
    ["x".repeat(300), "at most 256"],
  ])("%s is refused", (text, problem) => {
    expect(parseCron(text)).toEqual({ problem: expect.stringContaining(problem) as string });
  });

  test.each([
    ["*/20 * * * *", ["2026-01-01T00:20Z", "2026-01-01T00:40Z", "2026-01-01T01:00Z"]],
    ["5,10-12 0 * * *", ["2026-01-01T00:05Z", "2026-01-01T00:10Z", "2026-01-01T00:11Z"]],
    ["0 9 * * MON-FRI", ["2026-01-01T09:00Z", "2026-01-02T09:00Z", "2026-01-05T09:00Z"]],
    ["0 0 1 jan,jul *", ["2026-07-01T00:00Z", "2027-01-01T00:00Z", "2027-07-01T00:00Z"]],
    ["0 0 13 * 5", ["2026-01-02T00:00Z", "2026-01-09T00:00Z", "2026-01-13T00:00Z"]],
    ["0 0 29 2 *", ["2028-02-29T00:00Z", "2032-02-29T00:00Z", "2036-02-29T00:00Z"]],
    ["0 0 * * 7", ["2026-01-04T00:00Z", "2026-01-11T00:00Z", "2026-01-18T00:00Z"]],
    ["@monthly", ["2026-02-01T00:00Z", "2026-03-01T00:00Z", "2026-04-01T00:00Z"]],
  ])("%s", (text, expected) => {
    expect(runs(text, "UTC", "2026-01-01T00:00:00Z", 3)).toEqual(expected);
  });

  test("six fields begin with seconds", () => {
    const [first, second] = runs("15,45 * * * * *", "UTC", "2026-01-01T00:00:20Z", 2);
    expect([first, second]).toEqual(["2026-01-01T00:00:45.000Z", "2026-01-01T00:01:15.000Z"]);
  });
});

describe("clocks that change", () => {
  // Berlin: 29 March 2026 at 01:00Z from 02:00 to 03:00; 25 October 2026 at 01:00Z from 03:00 to 02:00.
  test("a time that is skipped comes when the gap ends, once", () => {
    const expected = ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"];
    expect(runs("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3)).toEqual(expected);
    expect(runs("0,15,30 2 * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 2)).toEqual([
      "2026-03-29T01:00Z",
      "2026-03-30T00:00Z",
    ]);
  });

  test("a time that happens twice comes the first time", () => {
    const expected = ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"];
    expect(runs("30 2 * * *", "Europe/Berlin", "2026-10-23T12:00:00Z", 3)).toEqual(expected);
  });

  test("a pace goes on evenly through both", () => {
    const spring = ["2026-03-29T00:30Z", "2026-03-29T01:00Z", "2026-03-29T01:30Z", "2026-03-29T02:00Z"];
    expect(runs("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 4)).toEqual(spring);
    const autumn = ["2026-10-25T00:30Z", "2026-10-25T01:00Z", "2026-10-25T01:30Z", "2026-10-25T02:00Z"];
    expect(runs("*/30 * * * *", "Europe/Berlin", "2026-10-25T00:00:00Z", 4)).toEqual(autumn);
  });

  test("half an hour on Lord Howe, midnight that does not exist in Santiago, a day that Samoa left out", () => {
    // Lord Howe goes from 02:00 to 02:30 on 4 October 2026 (15:30Z the day before).
    expect(runs("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00Z", 1)).toEqual([
      "2026-10-03T15:30Z",
    ]);
    // Chile goes from 24:00 to 01:00 on 6 September 2026 at 04:00Z.
    expect(runs("0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z", 1)).toEqual(["2026-09-06T04:00Z"]);
    expect(runs("0 12 * * *", "Pacific/Apia", "2011-12-29T12:00:00Z", 2)).toEqual([
      "2011-12-29T22:00Z",
      "2011-12-30T10:00Z",
    ]);
  });

  test("a zone that does not exist is refused with an example", () => {
    expect(timeZoneProblem("Europe/Atlantis")).toMatch(/no time zone: write one such as Europe\/Berlin/);
    expect(timeZoneProblem("Asia/Kolkata")).toBeUndefined();
  });
});

const SEARCH_MS = 3_000 * 60_000;

function bySearch(cron: CronExpression, zone: string, after: number): number | undefined {
  for (let atMs = after + 60_000; atMs <= after + SEARCH_MS; atMs += 60_000) {
    const local = new Date(localTime(atMs, zone));
    const isDay = dateMatches(cron, local.getUTCMonth() + 1, local.getUTCDate(), local.getUTCDay());
    const isTime = cron.hours.includes(local.getUTCHours()) && cron.minutes.includes(local.getUTCMinutes());
    if (isDay && isTime) return atMs;
  }
  return undefined;
}

test("agrees with a search minute by minute, for any pace and zone", () => {
  const zones = fc.constantFrom(
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
  );
  const pace = fc.constantFrom(
    "*/7 * * * *",
    "0 */5 * * *",
    "3,33 * * * 0",
    "59 */6 25 * *",
    "*/11 */2 * 3,10 *",
  );
  const near = fc.constantFrom(
    Date.UTC(2026, 2, 29),
    Date.UTC(2026, 9, 25),
    Date.UTC(2026, 2, 8),
    Date.UTC(2026, 9, 3),
    Date.UTC(2026, 10, 1),
  );
  fc.assert(
    fc.property(zones, pace, near, fc.integer({ min: -2_000, max: 2_000 }), (zone, text, around, minutes) => {
      const after = around + minutes * 60_000;
      const expression = cron(text);
      const found = bySearch(expression, zone, after);
      const next = nextRun(expression, zone, after)!;
      // What lies beyond the search is only known to do so.
      expect(next <= after + SEARCH_MS ? next : undefined).toBe(found);
    }),
    { numRuns: 40 },
  );
});

test("a local time is shown at no, one or two moments", () => {
  expect(instants(Date.UTC(2026, 2, 29, 2, 30), "Europe/Berlin")).toEqual([]);
  expect(instants(Date.UTC(2026, 2, 29, 3, 30), "Europe/Berlin")).toEqual([Date.UTC(2026, 2, 29, 1, 30)]);
  expect(instants(Date.UTC(2026, 9, 25, 2, 30), "Europe/Berlin")).toEqual([
    Date.UTC(2026, 9, 25, 0, 30),
    Date.UTC(2026, 9, 25, 1, 30),
  ]);
});
