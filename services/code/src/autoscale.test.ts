import { expect, test } from "vitest";
import { Autoscaler, type FleetFacts } from "./autoscale.ts";

const terms = {
  unclaimedMax: 0,
  claimLatencyMsMax: 1_000,
  saturationMax: 0.9,
  processorsMax: 0.9,
  saturationLow: 0.4,
  sustainMs: 500,
};
const calm: FleetFacts = {
  unclaimed: 0,
  unclaimedMsMax: 0,
  claimLatencyMs: 10,
  saturation: 0.6,
  demanded: 0,
  demandedBytes: 0,
  cpu: 0.5,
  processors: 0.5,
  claims: 0,
  nodes: 4,
};

test.each<[string, Partial<FleetFacts>, RegExp]>([
  [
    "repositories that fit nowhere",
    { demanded: 2, demandedBytes: 99 },
    /2 repositories fit on no node; they need 99 bytes/,
  ],
  [
    "repositories that nobody holds",
    { unclaimed: 3, unclaimedMsMax: 20_000 },
    /3 repositories are held by nobody/,
  ],
  ["slow claims", { claimLatencyMs: 1_001 }, /takes 1001 ms/],
  ["full memory", { saturation: 0.95 }, /95 % of the memory/],
])("%s ask for more nodes at once", (_, change, reason) => {
  const wish = new Autoscaler(terms).judge({ ...calm, ...change }, 0);
  expect(wish.direction).toBe("up");
  expect(wish.reasons.join()).toMatch(reason);
});

test("repositories that were unheld for a moment ask for nothing", () => {
  expect(new Autoscaler(terms).judge({ ...calm, unclaimed: 3, unclaimedMsMax: 100 }, 0).direction).toBe(
    "none",
  );
});

test("busy processors ask for more nodes only after they were busy for long enough, without a break", () => {
  const scaler = new Autoscaler(terms);
  const busy = { ...calm, processors: 0.96 };
  expect(scaler.judge(busy, 0).direction).toBe("none");
  expect(scaler.judge({ ...busy, processors: undefined }, 499).direction).toBe("none");
  expect(scaler.judge(busy, 600).direction).toBe("none");
  const wish = scaler.judge(busy, 1_100);
  expect([wish.direction, wish.reasons.join()]).toEqual([
    "up",
    "96 % of the processors are in use, for long",
  ]);
});

test("fewer nodes are wanted only after the fleet was quiet for long enough, without a break", () => {
  const scaler = new Autoscaler(terms);
  const quiet = { ...calm, saturation: 0.1, cpu: 0.01 };
  expect(scaler.judge(quiet, 0).direction).toBe("none");
  expect(scaler.judge(quiet, 499).direction).toBe("none");
  expect(scaler.judge({ ...quiet, claims: 1 }, 500).direction).toBe("none");
  expect(scaler.judge(quiet, 600).direction).toBe("none");
  const wish = scaler.judge(quiet, 1_100);
  expect([wish.direction, wish.reasons.join()]).toEqual(["down", expect.stringContaining("drain a node")]);
});

test("the last node is never one too many", () => {
  const scaler = new Autoscaler({ ...terms, sustainMs: 0 });
  expect(scaler.judge({ ...calm, saturation: 0, cpu: 0, nodes: 1 }, 0).direction).toBe("none");
});
