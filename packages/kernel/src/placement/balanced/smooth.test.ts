import { describe, expect, test } from "vitest";
import { balanced } from "./balanced.ts";
import { chanceOf, memberList, Scene, zipf } from "./fixtures/scene.ts";
import { smooth, SMOOTHING_DEFAULTS, type SmoothedLoad } from "./smooth.ts";

const options = { halfLifeMs: 1000, hysteresisShare: 0.1 };

describe("smooth", () => {
  test("takes the first measurement as it is, and leaves alone what was not measured", () => {
    const first = smooth(undefined, [5, NaN], 1000, options);
    expect(first).toEqual({ mean: [5, NaN], used: [5, NaN] });
    expect(smooth(first, [NaN, 7], 1000, options)).toEqual({ mean: [5, 7], used: [5, 7] });
  });

  test("follows a lasting change by half in a half-life, in however many steps", () => {
    const start = smooth(undefined, [0], 0, options);
    expect(smooth(start, [8], 1000, options).mean[0]).toBeCloseTo(4);
    let steps = start;
    for (let i = 0; i < 10; i++) steps = smooth(steps, [8], 200, options);
    expect(steps.mean[0]).toBeCloseTo(6);
  });

  test("shows a change only once it is more than the hysteresis", () => {
    let load = smooth(undefined, [100], 0, options);
    load = smooth(load, [110], 1_000_000, options);
    expect(load).toEqual({ mean: [110], used: [100] });
    load = smooth(load, [112], 1_000_000, options);
    expect(load.used).toEqual([112]);
  });

  test("a load that ends is seen to end", () => {
    let load = smooth(undefined, [100], 0, options);
    for (let i = 0; i < 100; i++) load = smooth(load, [0], 1000, options);
    expect(load.used[0]).toBeLessThan(1e-9);
  });

  test("noise of half the load causes no moves, and would without smoothing", () => {
    const chance = chanceOf(5);
    const truth = zipf(200, 0.8, chance);
    const loads: SmoothedLoad[] = truth.map((load) => smooth(undefined, [load], 0));
    const scene = new Scene({ members: memberList(8, 4), loads: truth, replicas: 2 });
    scene.round();
    const moves = (measured: readonly number[]): number =>
      balanced(scene.input({ loads: measured.flatMap((load) => [load, load]) })).moves.length;
    let smoothed = 0;
    let raw = 0;
    // An hour, measured every ten seconds, with a plan every five minutes.
    for (let i = 1; i <= 360; i++) {
      const measured = truth.map((load) => load * (0.5 + chance()));
      for (const [shard, load] of measured.entries())
        loads[shard] = smooth(loads[shard], [load], 10_000, SMOOTHING_DEFAULTS);
      if (i % 30 !== 0) continue;
      smoothed += moves(loads.map(({ used }) => used[0]!));
      raw += moves(measured);
    }
    expect(smoothed).toBe(0);
    expect(raw).toBeGreaterThan(10);
  });
});
