import { expect, test } from "vitest";
import type { FaultKind } from "./fault.ts";
import { FAULT_KINDS, schedule, type ScheduleOptions } from "./schedule.ts";

const options: ScheduleOptions = {
  seed: 1,
  lastsMs: 180_000,
  nodes: 4,
  ttlMs: 2_000,
  kinds: new Set(FAULT_KINDS),
};

test("the same seed gives the same faults, another seed others", () => {
  expect(schedule(options)).toEqual(schedule(options));
  expect(schedule({ ...options, seed: 2 })).not.toEqual(schedule(options));
});

test("three minutes hold more than 125 faults, of every kind and on every node, whatever the seed", () => {
  for (let seed = 0; seed < 50; seed++) {
    const faults = schedule({ ...options, seed }).map(({ fault }) => fault);
    // A few find nobody left to hurt.
    expect(faults.length).toBeGreaterThan(140);
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(FAULT_KINDS));
    expect(new Set(faults.flatMap((fault) => ("node" in fault ? [fault.node] : [])))).toEqual(
      new Set([0, 1, 2, 3]),
    );
  }
});

test("processes are stopped for 0.1 to 4 times the TTL", () => {
  const stops = Array.from({ length: 20 }, (_, seed) => schedule({ ...options, seed }))
    .flat()
    .flatMap(({ fault }) => (fault.kind === "stop" ? [fault.lastsMs / options.ttlMs] : []));
  expect(Math.min(...stops)).toBeGreaterThanOrEqual(0.1);
  expect(Math.min(...stops)).toBeLessThan(0.2);
  expect(Math.max(...stops)).toBeLessThanOrEqual(4);
  expect(Math.max(...stops)).toBeGreaterThan(3.9);
});

test("kinds that the machine cannot do are not drawn", () => {
  const kinds = new Set<FaultKind>(["stop", "cut"]);
  expect(new Set(schedule({ ...options, kinds }).map(({ fault }) => fault.kind))).toEqual(kinds);
});
