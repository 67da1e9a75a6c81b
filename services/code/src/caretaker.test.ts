import { ManualClock } from "@keelson/testkit";
import { afterEach, expect, test } from "vitest";
import { Caretaker } from "./caretaker.ts";
import type { RepositoryCatalogue } from "./catalogue.ts";
import type { Figures } from "./fleet-figures.ts";
import { loadEveryMs, type LoadRecord } from "./node-load.ts";
import { repositoriesMax, type IndexRecord, type Repository } from "./repository.ts";

const clock = new ManualClock();
const lookMs = 1_000;
const sustainMs = 5_000;
let caretaker: Caretaker | undefined;
afterEach(() => caretaker?.stop());

/** A fleet of three nodes that holds nothing and has nothing to do; what they say of themselves is the test's. */
function quietFleet(unclaimed = new Map<string, number>()): {
  rows: Map<number, Repository>;
  records: Map<number, IndexRecord>;
  figures: {
    unclaimed: Map<string, number>;
    resting: Set<number>;
    demand: Figures["demand"];
    claimLatency: Figures["claimLatency"];
    freeBytesMax: number;
  };
  loads: Map<string, LoadRecord>;
  removed: string[];
  wish: () => number | undefined;
} {
  const loads = new Map<string, LoadRecord>();
  const removed: string[] = [];
  let wish: number | undefined;
  const rows = new Map<number, Repository>();
  const records = new Map<number, IndexRecord>();
  const figures = {
    nodes: ["a", "b", "c"],
    unclaimed,
    resting: new Set<number>(),
    claims: 0,
    claimLatency: { sumMs: 0, count: 0 },
    demand: undefined as Figures["demand"],
    saturation: 0.01,
    freeBytesMax: 99,
  };
  const catalogue: Pick<RepositoryCatalogue, "get" | "records" | "edit" | "loads" | "load"> = {
    get: (id) => rows.get(id),
    records: () => records,
    edit: (ids, change) => {
      const edited = ids.map((id) => change(rows.get(id)!)!);
      for (const row of edited) rows.set(row.id, row);
      return Promise.resolve(edited);
    },
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
    scale: {
      unclaimedMax: 0,
      claimLatencyMsMax: 1_000,
      saturationMax: 0.9,
      saturationLow: 0.4,
      processorsMax: 0.9,
      sustainMs,
    },
    lookMs,
    log: () => undefined,
  });
  return { rows, records, figures, loads, removed, wish: () => wish };
}

const says = (cpu: number): LoadRecord => ({ v: 1, cpu, processors: 2, at: clock.wall() });

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

test("more nodes are wished for when the processors of all are busy for long", async () => {
  const { loads, wish } = quietFleet();
  loads.set("a", says(2)).set("b", says(1.9));
  await clock.advance(2 * sustainMs);
  expect(wish()).toBe(0);
  loads.set("c", says(1));
  await clock.advance(2 * sustainMs);
  expect(wish()).toBe(0);
  loads.set("c", says(1.8));
  await clock.advance(sustainMs - lookMs);
  expect(wish()).toBe(0);
  await clock.advance(3 * lookMs);
  expect(wish()).toBe(1);
  loads.set("a", says(0.5));
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

test("more nodes are wished for while claims of the last minute took long, whoever judged them", async () => {
  const { figures, wish } = quietFleet();
  figures.claimLatency = { sumMs: 50_000, count: 10 };
  await clock.advance(lookMs);
  // What was before this node looked is no concern of it.
  expect(wish()).toBe(0);
  figures.claimLatency = { sumMs: 53_000, count: 12 };
  await clock.advance(lookMs);
  expect(wish()).toBe(1);
  await clock.advance(50 * lookMs);
  expect(wish()).toBe(1);
  await clock.advance(15 * lookMs);
  expect(wish()).toBe(0);
});

const seven = {
  id: 7,
  name: "seven",
  state: "resting",
  reason: "made room for six",
  wantedAt: 1,
} as Repository;
const demandOf = (...replicas: string[]): Figures["demand"] => ({
  v: 1,
  replicas,
  count: replicas.length,
  bytes: 1,
  reason: "",
  since: 0,
});

test("what is woken because there seemed to be room rests again when nobody has it, until more is free or a while has passed", async () => {
  const { rows, figures } = quietFleet();
  rows.set(7, seven);
  figures.resting.add(7);
  const wokenInVain = async (): Promise<void> => {
    await clock.advance(3 * lookMs);
    expect(rows.get(7)).toMatchObject({ state: "active", reason: "there is room again" });
    figures.resting.delete(7);
    figures.unclaimed.set("7/0", clock.now());
    await clock.advance(3 * lookMs);
    expect(rows.get(7)?.state).toBe("active");
    figures.demand = demandOf("code/7/0");
    await clock.advance(lookMs);
    expect(rows.get(7)).toMatchObject({ state: "resting", reason: "there was no room for it after all" });
    figures.resting.add(7);
    figures.unclaimed.delete("7/0");
    figures.demand = undefined;
    await clock.advance(10 * lookMs);
    expect(rows.get(7)?.state).toBe("resting");
  };
  await wokenInVain();
  // Indexes that are held become larger and smaller all the time.
  figures.freeBytesMax += 1;
  await clock.advance(10 * lookMs);
  expect(rows.get(7)?.state).toBe("resting");
  figures.freeBytesMax += 20;
  await wokenInVain();
  await clock.advance(600_000);
  expect(rows.get(7)?.state).toBe("active");
});

test("what found room for one replica and not for the other rests again, and stays so though its room is free again", async () => {
  const { rows, figures } = quietFleet();
  rows.set(7, seven);
  figures.resting.add(7);
  await clock.advance(3 * lookMs);
  expect(rows.get(7)?.state).toBe("active");
  figures.resting.delete(7);
  figures.unclaimed.set("7/1", clock.now());
  figures.freeBytesMax = 50;
  figures.demand = demandOf("code/7/1");
  await clock.advance(lookMs);
  expect(rows.get(7)?.state).toBe("resting");
  figures.resting.add(7);
  figures.unclaimed.delete("7/1");
  figures.demand = undefined;
  figures.freeBytesMax = 99;
  await clock.advance(60 * lookMs);
  expect(rows.get(7)?.state).toBe("resting");
});

test("what another node woke in vain rests again too, unless it was asked for lately", async () => {
  const { rows, records, figures } = quietFleet();
  rows.set(7, { ...seven, state: "active", reason: "there is room again" });
  figures.unclaimed.set("7/0", clock.now());
  figures.demand = demandOf("code/7/0");
  records.set(0, { lastServedAt: clock.wall() } as IndexRecord);
  await clock.advance(3 * lookMs);
  expect(rows.get(7)?.state).toBe("active");
  records.set(0, { lastServedAt: 0 } as IndexRecord);
  await clock.advance(lookMs);
  expect(rows.get(7)?.state).toBe("resting");
});

test("what was woken and held since is demanded when its node is gone", async () => {
  const { rows, records, figures } = quietFleet();
  rows.set(7, seven);
  figures.resting.add(7);
  await clock.advance(3 * lookMs);
  figures.resting.delete(7);
  await clock.advance(3 * lookMs);
  records.set(0, { lastServedAt: clock.wall() } as IndexRecord);
  figures.unclaimed.set("7/0", clock.now());
  figures.demand = demandOf("code/7/0");
  await clock.advance(10 * lookMs);
  expect(rows.get(7)?.state).toBe("active");
});
