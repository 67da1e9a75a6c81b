import { describe, expect, test } from "vitest";
import { Limiter } from "./limiter.ts";
import { ALGORITHM, BEHAVIOUR, type RateLimitRequest } from "./rate-limit.ts";

const T0 = Date.UTC(2026, 2, 14, 11, 20, 10);
const TOKEN = ALGORITHM.tokenBucket;
const LEAKY = ALGORITHM.leakyBucket;

/** hits, expected remaining, expected status, then how long to wait. */
type Step = readonly [hits: number, remaining: number, status: "under" | "over", sleepMs?: number];

function request(given: Partial<RateLimitRequest>): RateLimitRequest {
  const defaults = { name: "emails", uniqueKey: "account:1", hits: 1, limit: 10, duration: 30_000 };
  return { ...defaults, algorithm: TOKEN, behaviour: 0, burst: 0, ...given };
}

function run(given: Partial<RateLimitRequest>, steps: readonly Step[]): unknown[] {
  const limiter = new Limiter();
  let now = T0;
  return steps.map(([hits, , , sleepMs = 0]) => {
    const { remaining, status, limit, error } = limiter.check(request({ ...given, hits }), now);
    now += sleepMs;
    return [remaining, status === 1 ? "over" : "under", limit, error];
  });
}

const CASES: readonly [string, Partial<RateLimitRequest>, readonly Step[]][] = [
  [
    "a token bucket empties and says over the limit",
    { limit: 2, duration: 9_000 },
    [
      [1, 1, "under"],
      [1, 0, "under"],
      [1, 0, "over"],
    ],
  ],
  [
    "a token bucket is full again after its window",
    { limit: 2, duration: 5 },
    [
      [1, 1, "under"],
      [1, 0, "under", 100],
      [1, 1, "under"],
    ],
  ],
  [
    "negative hits give back, beyond the limit too",
    { limit: 2, duration: 5 },
    [
      [-1, 3, "under"],
      [-1, 4, "under"],
      [4, 0, "under"],
      [-1, 1, "under"],
    ],
  ],
  [
    "a token bucket that is asked for more than it has keeps it",
    { limit: 2000, duration: 1000 },
    [
      [1000, 1000, "under"],
      [1500, 1000, "over"],
      [500, 500, "under"],
      [400, 100, "under"],
      [100, 0, "under"],
      [1, 0, "over"],
    ],
  ],
  [
    "a token bucket of a minute of the calendar",
    { limit: 60, duration: 0, behaviour: BEHAVIOUR.durationIsGregorian },
    [
      [1, 59, "under"],
      [1, 58, "under"],
      [58, 0, "under"],
      [1, 0, "over", 61_000],
      [0, 60, "under"],
    ],
  ],
  [
    "an over-ask drains a token bucket when told to",
    { behaviour: BEHAVIOUR.drainOverLimit },
    [
      [0, 10, "under"],
      [1, 9, "under"],
      [100, 0, "over"],
      [0, 0, "under"],
    ],
  ],
  [
    "an over-ask drains a leaky bucket when told to",
    { algorithm: LEAKY, behaviour: BEHAVIOUR.drainOverLimit },
    [
      [0, 10, "under"],
      [1, 9, "under"],
      [100, 0, "over"],
      [0, 0, "under"],
    ],
  ],
  [
    "a first request for more than a token bucket holds takes nothing",
    {},
    [
      [11, 10, "over"],
      [10, 0, "under"],
    ],
  ],
  [
    "a first request for more than a leaky bucket holds starts it empty",
    { algorithm: LEAKY },
    [
      [11, 0, "over"],
      [1, 0, "over"],
    ],
  ],
  [
    "a leaky bucket leaks a hit every three seconds",
    { algorithm: LEAKY },
    [
      [1, 9, "under", 1000],
      [1, 8, "under", 1000],
      [1, 7, "under", 1500],
      [0, 8, "under", 3000],
      [0, 9, "under"],
      [9, 0, "under"],
      [1, 0, "over", 3000],
      [0, 1, "under", 60_000],
      [0, 10, "under", 60_000],
      [10, 0, "under", 29_000],
      [9, 0, "under", 3000],
      [1, 0, "under"],
    ],
  ],
  [
    "a leaky bucket with a burst above its limit",
    { algorithm: LEAKY, burst: 20 },
    [
      [1, 19, "under", 1000],
      [1, 18, "under", 1000],
      [1, 17, "under", 1500],
      [0, 18, "under", 3000],
      [0, 19, "under"],
      [19, 0, "under"],
      [1, 0, "over", 3000],
      [0, 1, "under", 60_000],
      [0, 20, "under"],
    ],
  ],
  [
    "a leaky bucket gets hits back",
    { algorithm: LEAKY },
    [
      [1, 9, "under"],
      [-1, 10, "under"],
      [10, 0, "under"],
      [-1, 1, "under"],
    ],
  ],
  [
    "a leaky bucket that is asked for more than it has keeps it",
    { algorithm: LEAKY, limit: 2000, duration: 1000 },
    [
      [1000, 1000, "under"],
      [1500, 1000, "over"],
      [500, 500, "under"],
      [400, 100, "under"],
      [100, 0, "under"],
      [1, 0, "over"],
    ],
  ],
  [
    "a leaky bucket of a minute of the calendar",
    { algorithm: LEAKY, limit: 60, duration: 0, behaviour: BEHAVIOUR.durationIsGregorian },
    [
      [1, 59, "under", 500],
      [1, 58, "under", 1200],
      [1, 58, "under"],
    ],
  ],
  [
    "a duration of nothing passes",
    { duration: 0 },
    [
      [1, 9, "under", 1],
      [1, 9, "under"],
    ],
  ],
  [
    "a limit of nothing refuses",
    { limit: 0, duration: 10_000 },
    [
      [1, 0, "over"],
      [1, 0, "over"],
    ],
  ],
  [
    "batching, global and multi-region do not change the count",
    { behaviour: BEHAVIOUR.noBatching + BEHAVIOUR.global + BEHAVIOUR.multiRegion },
    [
      [4, 6, "under"],
      [7, 6, "over"],
      [6, 0, "under"],
    ],
  ],
];

describe("Gubernator's documented cases", () => {
  test.each(CASES)("%s", (_, given, steps) => {
    expect(run(given, steps)).toEqual(
      steps.map(([, remaining, status]) => [remaining, status, given.limit ?? 10, ""]),
    );
  });
});

test("a leaky bucket says when it will be empty: three seconds for each hit in it", () => {
  const limiter = new Limiter();
  expect(limiter.check(request({ algorithm: LEAKY, hits: 4 }), T0).resetAtMs).toBe(T0 + 12_000);
  expect(limiter.check(request({ algorithm: LEAKY, hits: 2 }), T0 + 1).resetAtMs).toBe(T0 + 1 + 18_000);
});

test("a token bucket says when its window ends, and a peek does not move it", () => {
  const limiter = new Limiter();
  expect(limiter.check(request({}), T0).resetAtMs).toBe(T0 + 30_000);
  expect(limiter.check(request({ hits: 0 }), T0 + 9_000).resetAtMs).toBe(T0 + 30_000);
});

test("a changed limit adds or takes the difference, and never below nothing", () => {
  const limiter = new Limiter();
  const remaining = (limit: number, hits: number): number =>
    limiter.check(request({ limit, hits }), T0).remaining;
  expect(remaining(10, 4)).toBe(6);
  expect(remaining(15, 0)).toBe(11);
  expect(remaining(10, 0)).toBe(6);
  expect(remaining(3, 0)).toBe(0);
});

test("a changed duration counts from the window's beginning, and begins anew when that is over", () => {
  const limiter = new Limiter();
  const check = (duration: number, atMs: number) => limiter.check(request({ duration }), T0 + atMs);
  check(30_000, 0);
  expect(check(60_000, 10_000)).toMatchObject({ remaining: 8, resetAtMs: T0 + 60_000 });
  expect(check(5_000, 20_000)).toMatchObject({ remaining: 9, resetAtMs: T0 + 25_000 });
});

test("a leaky bucket that is told to reset is full, and counts the request's hits", () => {
  const limiter = new Limiter();
  limiter.check(request({ algorithm: LEAKY, hits: 8 }), T0);
  const reset = request({ algorithm: LEAKY, hits: 1, behaviour: BEHAVIOUR.resetRemaining });
  expect(limiter.check(reset, T0).remaining).toBe(9);
});

test("a token bucket that is told to reset forgets, and ignores the request's hits", () => {
  const limiter = new Limiter();
  limiter.check(request({ hits: 8 }), T0);
  const reset = request({ hits: 1, behaviour: BEHAVIOUR.resetRemaining });
  expect(limiter.check(reset, T0)).toMatchObject({ remaining: 10, resetAtMs: 0, status: 0 });
  expect(limiter.check(request({ hits: 1 }), T0).remaining).toBe(9);
});

test("a reset forgets whatever bucket there was, of the other algorithm too", () => {
  const limiter = new Limiter();
  limiter.check(request({ hits: 8, algorithm: LEAKY }), T0);
  const reset = request({ hits: 1, behaviour: BEHAVIOUR.resetRemaining });
  expect(limiter.check(reset, T0)).toMatchObject({ remaining: 10, resetAtMs: 0 });
});

test("a time of 0 is none: the request was made when it came", () => {
  const limiter = new Limiter();
  const check = () => limiter.check(request({ limit: 2, createdAtMs: 0 }), T0);
  expect([check(), check(), check()]).toMatchObject([
    { remaining: 1, status: 0, resetAtMs: T0 + 30_000 },
    { remaining: 0, status: 0 },
    { remaining: 0, status: 1 },
  ]);
});

test("another algorithm starts the limit anew", () => {
  const limiter = new Limiter();
  expect(limiter.check(request({ hits: 8 }), T0).remaining).toBe(2);
  expect(limiter.check(request({ hits: 1, algorithm: LEAKY }), T0).remaining).toBe(9);
  expect(limiter.check(request({ hits: 3 }), T0).remaining).toBe(7);
});

test.each([
  ["minute", 0, Date.UTC(2026, 2, 14, 11, 21)],
  ["hour", 1, Date.UTC(2026, 2, 14, 12)],
  ["day", 2, Date.UTC(2026, 2, 15)],
  ["month", 4, Date.UTC(2026, 3, 1)],
  ["year", 5, Date.UTC(2027, 0, 1)],
])("the %s of the calendar ends with its last millisecond", (_, duration, nextMs) => {
  const given = request({ duration, behaviour: BEHAVIOUR.durationIsGregorian });
  expect(new Limiter().check(given, T0)).toMatchObject({ error: "", resetAtMs: nextMs - 1 });
});

test.each([
  [{ uniqueKey: "" }, "field 'unique_key' cannot be empty"],
  [{ name: "" }, "field 'namespace' cannot be empty"],
  [{ algorithm: 7 }, "invalid rate limit algorithm '7'"],
  [
    { behaviour: BEHAVIOUR.durationIsGregorian, duration: 3 },
    "a Gregorian duration of weeks (3) is not supported",
  ],
  [
    { behaviour: BEHAVIOUR.durationIsGregorian, duration: 6 },
    "behavior DURATION_IS_GREGORIAN is set; but `Duration` is not a valid gregorian interval",
  ],
  [{ limit: -1 }, "limit, duration and burst cannot be negative"],
])("%j is refused and keeps nothing", (given, error) => {
  const limiter = new Limiter();
  expect(limiter.check(request(given), T0).error).toBe(error);
  expect(limiter.check(request({ algorithm: LEAKY, ...given }), T0).error).toBe(error);
  expect(limiter.size).toBe(0);
});

test("forgets the limit that was not used for longest, and never has more than its maximum", () => {
  const limiter = new Limiter({ bucketsMax: 2 });
  const remaining = (uniqueKey: string): number => limiter.check(request({ uniqueKey }), T0).remaining;
  remaining("a");
  remaining("b");
  expect(remaining("a")).toBe(8);
  remaining("c");
  expect(limiter.size).toBe(2);
  expect(remaining("a")).toBe(7);
  expect(remaining("b")).toBe(9);
});
