import { expect, test } from "vitest";
import type { RateLimit } from "../engine/model/job-spec.ts";
import { rateAlgorithm } from "./rate-algorithm.ts";
import { BEHAVIOUR } from "./rate-limit.ts";

const T0 = 1_700_000_000_000;

function limit(given: Partial<RateLimit>): RateLimit {
  const backoff = { initialMs: 10, maxMs: 100, factor: 2 };
  const common = { kind: "rate", name: "n", uniqueKey: "k", limit: 2, durationMs: 1_000, hits: 1 } as const;
  return { ...common, algorithm: 0, behavior: 0, burst: 0, backoff, ...given };
}

/** Hits again and again at the times that it names, and says when it was allowed. */
function passes(given: RateLimit, count: number): number[] {
  const found: number[] = [];
  let state: string | undefined;
  let now = T0;
  for (let tries = 0; found.length < count && tries < 50; tries += 1) {
    const answer = rateAlgorithm.hit(state, given, now);
    state = answer.state;
    if (answer.allowed) found.push(now - T0);
    else now = answer.retryAtMs!;
  }
  return found;
}

test("a token bucket lets a window's worth through, and names the next window", () => {
  expect(passes(limit({}), 5)).toEqual([0, 0, 1_001, 1_001, 2_002]);
});

test("a leaky bucket names the moment at which the next hit fits", () => {
  expect(passes(limit({ algorithm: 1 }), 5)).toEqual([0, 0, 500, 1_000, 1_500]);
});

test("a leaky bucket of a minute of the calendar names the moment too, and is not asked every millisecond", () => {
  const given = limit({
    algorithm: 1,
    limit: 60,
    durationMs: 0,
    behavior: BEHAVIOUR.durationIsGregorian,
    hits: 60,
  });
  const full = rateAlgorithm.hit(undefined, given, T0);
  const one = { ...given, hits: 1 };
  const refused = rateAlgorithm.hit(full.state, one, T0 + 10);
  expect(refused).toMatchObject({ allowed: false, retryAtMs: T0 + 1_000 });
  expect(rateAlgorithm.hit(refused.state, one, T0 + 1_000).allowed).toBe(true);
});

test("never lets more through than the limit allows, whatever the times of asking", () => {
  for (const algorithm of [0, 1]) {
    const given = limit({ algorithm, limit: 5, durationMs: 1_000 });
    let state: string | undefined;
    let allowed = 0;
    for (let ms = 0; ms < 10_000; ms += 7) {
      const answer = rateAlgorithm.hit(state, given, T0 + ms);
      state = answer.state;
      if (answer.allowed) allowed += 1;
    }
    expect(allowed).toBeLessThanOrEqual(5 * 10 + 5);
    expect(allowed).toBeGreaterThanOrEqual(5 * 9);
  }
});

test("a request that can never pass names no time", () => {
  expect(rateAlgorithm.hit(undefined, limit({ hits: 3 }), T0)).toMatchObject({
    allowed: false,
    retryAtMs: undefined,
  });
  expect(rateAlgorithm.hit(undefined, limit({ hits: 3, algorithm: 1 }), T0)).toMatchObject({
    allowed: false,
    retryAtMs: undefined,
  });
});

test("a limit that makes no sense lets nothing through, and is looked at again later", () => {
  const broken = limit({ behavior: BEHAVIOUR.durationIsGregorian, durationMs: 77 });
  expect(rateAlgorithm.hit(undefined, broken, T0)).toMatchObject({ allowed: false, retryAtMs: T0 + 60_000 });
});

test("a bucket is as good as none once it says so", () => {
  const first = rateAlgorithm.hit(undefined, limit({}), T0);
  const again = rateAlgorithm.hit(first.state, limit({}), first.forgetAtMs);
  expect(again).toEqual(rateAlgorithm.hit(undefined, limit({}), first.forgetAtMs));
});
