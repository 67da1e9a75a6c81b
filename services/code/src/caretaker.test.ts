import { ManualClock } from "@keelson/testkit";
import { afterEach, expect, test } from "vitest";
import { Caretaker } from "./caretaker.ts";
import type { RepositoryCatalogue } from "./catalogue.ts";
import type { Figures } from "./fleet-figures.ts";
import { loadEveryMs, type LoadRecord } from "./node-load.ts";
import { repositoriesMax } from "./repository.ts";

const clock = new ManualClock();
const lookMs = 1_000;
const sustainMs = 5_000;
let caretaker: Caretaker | undefined;
afterEach(() => caretaker?.stop());

/** A fleet of three nodes that holds nothing and has nothing to do; what they say of themselves is the test's. */
function quietFleet(unclaimed: ReadonlyMap<string, number> = new Map()): {
  loads: Map<string, LoadRecord>;
  removed: string[];
  wish: () => number | undefined;
} {
  const loads = new Map<string, LoadRecord>();
  const removed: string[] = [];
  let wish: number | undefined;
  const figures: Figures = {
    nodes: ["a", "b", "c"],
    unclaimed,
    resting: new Set(),
    claims: 0,
    demand: undefined,
    saturation: 0.01,
    freeBytesMax: 99,
  };
  const catalogue: Pick<RepositoryCatalogue, "get" | "loads" | "load"> = {
    get: () => undefined,
    loads,
    load: (node) => {
      removed.push(node);
      loads.delete(node);
      return Promise.resolve();
    },
  };
  caretaker = new Caretaker({
    clock,
    catalogue: catalogue as RepositoryCatalogue,
    metrics: {
      set: (_, value) => {
        wish = value;
      },
      count: () => undefined,
      observe: () => undefined,
    },
    figures,
    sizeOf: () => 1,
    claimLatencyMs: () => 0,
    scale: {
      unclaimedMax: 0,
      claimLatencyMsMax: 1_000,
      saturationMax: 0.9,
      saturationLow: 0.4,
      sustainMs,
    },
    lookMs,
    log: () => undefined,
  });
  return { loads, removed, wish: () => wish };
}

const says = (cpu: number): LoadRecord => ({ v: 1, cpu, at: clock.wall() });

test("fewer nodes are wished for only when every node has said that it is idle", async () => {
  const { loads, wish } = quietFleet();
  loads.set("a", says(0.01)).set("b", says(0.01));
  await clock.advance(2 * sustainMs);
  expect(wish()).toBe(0);
  loads.set("c", says(0.8));
  await clock.advance(2 * sustainMs);
  expect(wish()).toBe(0);
  loads.set("c", says(0.02));
  await clock.advance(sustainMs - lookMs);
  expect(wish()).toBe(0);
  await clock.advance(3 * lookMs);
  expect(wish()).toBe(-1);
  // One that is busy again takes the wish back at once.
  loads.set("b", says(0.5));
  await clock.advance(lookMs);
  expect(wish()).toBe(0);
});

test("what a node that is gone has said is removed after a while", async () => {
  const { loads, removed } = quietFleet();
  loads.set("a", says(0)).set("gone", says(0));
  await clock.advance(2 * loadEveryMs);
  expect(removed).toEqual([]);
  await clock.advance(2 * loadEveryMs);
  expect(removed).toEqual(["gone"]);
});

test("more nodes are wished for however many repositories nobody holds", async () => {
  const unclaimed = new Map<string, number>();
  for (let id = 1; id <= repositoriesMax; id++) unclaimed.set(`${id}/0`, clock.now());
  const { wish } = quietFleet(unclaimed);
  await clock.advance(40_000);
  expect(wish()).toBe(1);
});
