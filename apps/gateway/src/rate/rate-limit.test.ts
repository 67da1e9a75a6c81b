import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { RateLimit } from "./rate-limit.ts";
import { RateLimits } from "./rate-limits.ts";

test("a burst passes, then as many as the rate says, and the wait that is told is the wait that is needed", async () => {
  const clock = new ManualClock();
  const limit = new RateLimit({ perSecond: 10, burst: 5, keysMax: 100 }, clock);
  const passed = (): number =>
    Array.from({ length: 20 }, () => limit.take("a")).filter((ms) => ms === 0).length;
  expect(passed()).toBe(5);
  const waitMs = limit.take("a");
  expect(waitMs).toBeGreaterThan(0);
  expect(limit.take("b")).toBe(0);
  await clock.advance(waitMs);
  expect(limit.take("a")).toBe(0);
  expect(limit.take("a")).toBeGreaterThan(0);
  await clock.advance(10_000);
  expect(passed()).toBe(5);
});

test("no limit is no limit", () => {
  const limit = new RateLimit({ perSecond: 0, burst: 0, keysMax: 10 }, new ManualClock());
  expect(Array.from({ length: 1_000 }, () => limit.take("a")).every((ms) => ms === 0)).toBe(true);
  expect(limit.keys).toBe(0);
});

test("however many keys there are, memory is bounded: those that come last share one, until others are forgotten", async () => {
  const clock = new ManualClock();
  const limit = new RateLimit({ perSecond: 1, burst: 1, keysMax: 100 }, clock);
  for (let n = 0; n < 10_000; n++) limit.take(`key ${n}`);
  expect(limit.keys).toBeLessThanOrEqual(101);
  expect(limit.take("another")).toBeGreaterThan(0);
  await clock.advance(60_000);
  expect(limit.take("another")).toBe(0);
  expect(limit.keys).toBeLessThan(5);
});

const TERMS = {
  tokenRequestsPerSecondMax: 1,
  addressRequestsPerSecondMax: 1,
  refusalsPerSecondMax: 1,
  rateKeysMax: 10,
};

test("tokens count by their id, others by address, and a whole IPv6 network is one", () => {
  const limits = new RateLimits(TERMS, new ManualClock());
  const many = (take: () => void): string => {
    for (let n = 0; n < 50; n++)
      try {
        take();
      } catch (error) {
        return `${(error as { code: string }).code} after ${n}`;
      }
    return "never";
  };
  const token = { name: "ci", tokenId: "1", scope: "read" } as const;
  expect(many(() => limits.admit(token, "10.0.0.1"))).toBe("SHED after 2");
  expect(many(() => limits.admit({ ...token, tokenId: "2" }, "10.0.0.1"))).toBe("SHED after 2");
  expect(many(() => limits.admit(undefined, "10.0.0.1"))).toBe("SHED after 2");
  expect(many(() => limits.admit(undefined, "::ffff:10.0.0.1"))).toBe("SHED after 0");
  expect(many(() => limits.admit(undefined, "2001:db8:1:2::5"))).toBe("SHED after 2");
  expect(many(() => limits.admit(undefined, "2001:db8:1:2:ffff:1:2:3"))).toBe("SHED after 0");
  expect(many(() => limits.admit(undefined, "2001:db8:1:3::5"))).toBe("SHED after 2");
  expect(many(() => limits.refused("10.0.0.1"))).toBe("SHED after 10");
});
