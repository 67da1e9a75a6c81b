import { Keys, type ImageChange } from "@keelson/kernel";
import { ManualClock } from "@keelson/testkit";
import { expect, test } from "vitest";
import { FleetFigures } from "./fleet-figures.ts";
import type { Repository } from "./repository.ts";

const keys = new Keys("f");

/** A store of one fleet, as far as the figures look into it. */
class Fleet {
  readonly clock = new ManualClock();
  readonly rows = new Map<number, Repository>();
  readonly figures: FleetFigures;
  #changed: (changes: readonly ImageChange[]) => void = () => undefined;
  #listChanged: (about: string) => void = () => undefined;

  constructor(rows: readonly Repository[], replicas = 1, known: readonly ImageChange[] = []) {
    for (const row of rows) this.rows.set(row.id, row);
    const mirror = {
      image: { get: () => undefined },
      subscribe: (listener: { changed: (changes: readonly ImageChange[]) => void }) => {
        this.#changed = listener.changed;
        listener.changed(known);
        return () => undefined;
      },
    };
    const node = { keys, mirror } as unknown as ConstructorParameters<typeof FleetFigures>[0]["node"];
    const catalogue = {
      all: () => [...this.rows.values()],
      get: (id: number) => this.rows.get(id),
      onChange: (listener: (about: string) => void) => {
        this.#listChanged = listener;
        return () => undefined;
      },
    };
    this.figures = new FleetFigures({
      node,
      self: "a",
      service: "code",
      catalogue,
      replicas,
      clock: this.clock,
    });
  }

  put(key: string, value: unknown): void {
    this.#changed([change(key, value)]);
  }

  row(row: Repository): void {
    this.rows.set(row.id, row);
    this.#listChanged(`repo/${row.id}`);
  }
}

function change(key: string, value: unknown): ImageChange {
  const entry = value === undefined ? undefined : { key, value: JSON.stringify(value), revision: 1 };
  return { key, entry, before: undefined, revision: 1, expired: false };
}

const active = (id: number): Repository => ({ id, state: "active" }) as Repository;
const tenure = (id: number, replica = 0): string => keys.tenure(`code/${id}/${replica}`);
const footprint = (id: number): string => keys.auction("code", "footprint", String(id));
const bidder = (node: string): string => keys.auction("code", "bidder", node);

test("knows what this node holds, and since when, however it is moved about", async () => {
  const fleet = new Fleet([active(1), active(2)]);
  await fleet.clock.advance(100);
  fleet.put(tenure(1), { node: "a" });
  fleet.put(tenure(2), { node: "b" });
  await fleet.clock.advance(50);
  // A tenure that is stamped anew is no other.
  fleet.put(tenure(1), { node: "a" });
  fleet.put(tenure(2), { node: "a" });
  expect([...fleet.figures.ours]).toEqual([
    ["1/0", 100],
    ["2/0", 150],
  ]);
  fleet.put(tenure(1), { node: "b" });
  fleet.put(tenure(2), undefined);
  expect(fleet.figures.ours.size).toBe(0);
});

test("knows what nobody holds, and since when", async () => {
  const fleet = new Fleet([active(1), active(2)], 2);
  const startedAt = fleet.clock.now();
  await fleet.clock.advance(50);
  fleet.put(tenure(1), { node: "a" });
  fleet.put(tenure(2, 1), { node: "a" });
  expect([...fleet.figures.unclaimed]).toEqual([
    ["1/1", startedAt],
    ["2/0", startedAt],
  ]);
  fleet.put(tenure(1), undefined);
  expect([...fleet.figures.unclaimed].at(-1)).toEqual(["1/0", startedAt + 50]);
  fleet.row({ ...active(1), state: "resting" });
  fleet.row({ ...active(2), state: "resting" });
  expect([fleet.figures.unclaimed.size, [...fleet.figures.resting]]).toEqual([0, [1, 2]]);
  fleet.row(active(2));
  expect([...fleet.figures.unclaimed.keys()]).toEqual(["2/0"]);
  expect(fleet.figures.claims).toBe(2);
});

test("knows how long nobody held what somebody holds now, whoever granted it", async () => {
  const fleet = new Fleet([active(1), active(2)]);
  await fleet.clock.advance(50);
  fleet.put(tenure(1), { node: "a" });
  await fleet.clock.advance(100);
  fleet.put(tenure(1), undefined);
  fleet.put(tenure(2), { node: "a" });
  await fleet.clock.advance(30);
  fleet.put(tenure(1), { node: "b" });
  // It only moves.
  fleet.put(tenure(1), { node: "a" });
  expect(fleet.figures.claimLatency).toEqual({ sumMs: 50 + 150 + 30, count: 3 });
});

test("counts what nodes have taken, whatever is told first", () => {
  const fleet = new Fleet([active(1), active(2)]);
  fleet.put(tenure(1), { node: "a" });
  fleet.put(footprint(1), { bytes: 40 });
  fleet.put(footprint(2), { bytes: 10 });
  fleet.put(tenure(2), { node: "b" });
  const seat = { v: 1, boot: "", session: "", address: "", budgetBytes: 100 };
  fleet.put(bidder("a"), { ...seat, node: "a" });
  fleet.put(bidder("b"), { ...seat, node: "b" });
  // What is no record says nothing, and keeps nobody from counting.
  fleet.put(bidder("c"), { node: "c", budgetBytes: "all" });
  fleet.put(footprint(7), { bytes: null });
  expect([fleet.figures.saturation, fleet.figures.freeBytesMax]).toEqual([0.25, 90]);
  fleet.put(tenure(2), { node: "a" });
  fleet.put(footprint(1), { bytes: 60 });
  expect([fleet.figures.saturation, fleet.figures.freeBytesMax]).toEqual([0.35, 100]);
  fleet.put(bidder("b"), undefined);
  fleet.put(tenure(1), undefined);
  expect([fleet.figures.saturation, fleet.figures.nodes]).toEqual([0.1, ["a"]]);
});

test("what is free for a repository with two replicas is free on two nodes", () => {
  const fleet = new Fleet([], 2);
  const seat = { v: 1, boot: "", session: "", address: "" };
  fleet.put(bidder("a"), { ...seat, node: "a", budgetBytes: 100 });
  expect(fleet.figures.freeBytesMax).toBe(0);
  fleet.put(bidder("b"), { ...seat, node: "b", budgetBytes: 30 });
  expect(fleet.figures.freeBytesMax).toBe(30);
  fleet.put(bidder("c"), { ...seat, node: "c", budgetBytes: 40 });
  expect(fleet.figures.freeBytesMax).toBe(40);
});

test("takes in what a large fleet has a part at a time", async () => {
  const rows = Array.from({ length: 5_000 }, (_, id) => active(id));
  const known = rows.map(({ id }) => change(tenure(id), { node: "a" }));
  const fleet = new Fleet(rows, 1, known);
  expect(fleet.figures.unclaimed.size).toBeGreaterThan(0);
  // What comes meanwhile does not overtake it.
  fleet.put(tenure(4_999), undefined);
  await fleet.clock.advance(10);
  expect([...fleet.figures.unclaimed.keys()]).toEqual(["4999/0"]);
});
