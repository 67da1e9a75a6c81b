import { ManualClock } from "@keelson/testkit";
import { afterEach, expect, test } from "vitest";
import { Caretaker } from "./caretaker.ts";
import type { RepositoryCatalogue } from "./catalogue.ts";
import type { FleetFigures } from "./fleet-figures.ts";
import { loadEveryMs, type LoadRecord } from "./node-load.ts";
import { repositoriesMax, type Repository } from "./repository.ts";

const clock = new ManualClock();
const lookMs = 1_000;
const sustainMs = 5_000;
let caretaker: Caretaker | undefined;
afterEach(() => caretaker?.stop());

/** A fleet of three nodes that holds nothing and has nothing to do; what they say of themselves is the test's. */
function quietFleet(
  repositories: readonly Repository[] = [],
  replicas = 1,
  everyMs = lookMs,
): { loads: Map<string, LoadRecord>; removed: string[]; wish: () => number | undefined } {
  const loads = new Map<string, LoadRecord>();
  const removed: string[] = [];
  let wish: number | undefined;
  const nodes = new Map(["a", "b", "c"].map((node) => [node, { node, budgetBytes: 100, takenBytes: 1 }]));
  const figures: FleetFigures = { nodes, tenures: new Map(), demand: undefined, footprints: new Map() };
  const catalogue: Pick<RepositoryCatalogue, "all" | "loads" | "load"> = {
    all: () => repositories,
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
    figures: () => figures,
    replicas,
    sizeOf: () => 1,
    claimLatencyMs: () => 0,
    scale: {
      unclaimedMax: 0,
      claimLatencyMsMax: 1_000,
      saturationMax: 0.9,
      saturationLow: 0.4,
      sustainMs,
    },
    lookMs: everyMs,
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
  const repositories = Array.from(
    { length: repositoriesMax },
    (_, id) => ({ id, state: "active" }) as Repository,
  );
  const everyMs = 20_000;
  const { wish } = quietFleet(repositories, 6, everyMs);
  await clock.advance(2 * everyMs);
  expect(wish()).toBe(1);
});
