import { describe, expect, test } from "vitest";
import { Hall, type Guest } from "./fixtures/hall.ts";
import type { Tenure } from "../tenure/tenure.ts";
import type { Bidder } from "./records.ts";

const half = (): number => 0.5;

const lotsOf = (hall: Hall, name: string): string[] =>
  hall.read<Bidder>(hall.keys.auction("s", "bidder", name))?.value.bid?.lots.map(({ replica }) => replica) ??
  [];

const holders = (hall: Hall): (string | undefined)[] =>
  [...hall.sizes.keys()].map((shard) => hall.holder(`s/${shard}/0`));

const strike = (hall: Hall, { host, machine }: Guest, shard: string, strikes: number): void => {
  const last = { node: "x", what: "open failed", message: "" } as const;
  host.setTrouble(shard, { value: { v: 1, strikes, last }, revision: hall.revision }, hall.now);
  machine.noticedShard(shard);
};

describe("a bid for several lots", () => {
  test("is given no more than it is for when the lots turn out larger than its node knew", () => {
    const hall = new Hall([10, 10], half, { windowMs: 1_000 });
    hall.put(hall.keys.auction("s", "config"), { v: 1, maxBids: 9 });
    hall.join("evaluator", 5);
    hall.run(1_000);
    const deaf = hall.join("deaf", 60);
    hall.run(100);
    expect(lotsOf(hall, "deaf")).toEqual(["s/0/0", "s/1/0"]);
    deaf.lagMs = 1e9;
    for (const shard of ["s/0", "s/1"])
      hall.put(hall.keys.auction("s", "footprint", shard), { v: 1, bytes: 50 });
    hall.run(2_000);
    expect(holders(hall)).toEqual(["deaf", undefined]);
  });

  test("is taken back when one of them is struck meanwhile, and the others are bid on again", () => {
    const hall = new Hall([10, 10], half);
    hall.put(hall.keys.auction("s", "config"), { v: 1, maxBids: 9 });
    const a = hall.join("a", 100);
    hall.run(500);
    expect(lotsOf(hall, "a")).toEqual(["s/0/0", "s/1/0"]);
    strike(hall, a, "s/0", 1_000);
    hall.run(500);
    expect(lotsOf(hall, "a")).toEqual(["s/1/0"]);
  });
});

test("an award that was carried out does not count again when the former holder wins the lot", () => {
  const hall = new Hall([10, 15], half, { levelAt: 0 });
  const key = hall.keys.auction("s", "award", "s/0/0");
  hall.join("evaluator", 5);
  const a = hall.join("a", 10);
  const b = hall.join("b", 20);
  hall.run(10);
  // From a, in its present session, to b, which had the tenure and gave it up a moment ago.
  const award = { v: 1, node: "b", session: "s-b", from: "a", fromSession: "s-a", reason: "" };
  hall.commit({ guards: [], writes: [{ kind: "put", key, value: JSON.stringify(award), session: "s-b" }] });
  b.host.prepareFailed("s/0/0", "no disk", hall.now);
  hall.run(500);
  expect(holders(hall)).toEqual(["a", "b"]);
  expect(hall.broken).toEqual([]);
  expect(hall.read(key)).toBeUndefined();
  expect(a.machine.market.lots.size).toBe(0);
});

test("what a node asked for while it had it ready stays promised after it let go of that, until it is refused, given, or up for another round", () => {
  const hall = new Hall([10], half, { levelAt: 0, emptyPauseMs: 60_000 });
  const { host, machine } = hall.join("a", 50);
  hall.run(500);
  expect(holders(hall)).toEqual(["a"]);
  const local = host.local("s/0/0")!;
  host.setHold(local, undefined);
  local.data = "none";
  host.setTenure("s/0/0", undefined, false, hall.now);
  const { round } = host.facts.known("s/0/0")!;
  const free = (): number => machine.market.freeBytes();
  expect(free()).toBe(50);
  local.sentGrant = { session: "s-a", round };
  expect(free()).toBe(40);
  local.sentGrant = { session: "s-a", round: round - 1 };
  expect(free()).toBe(50);
  local.sentGrant = { session: "of before", round };
  expect(free()).toBe(50);
  local.sentGrant = { session: "s-a", round };
  local.granting = true;
  const tenure = { session: "s-b", node: "b" } as Tenure;
  host.setTenure("s/0/0", { value: tenure, revision: hall.revision }, false, hall.now);
  expect(free()).toBe(40);
  host.committed("grant", "s/0/0", undefined, "unknown", hall.now);
  expect(free()).toBe(50);
  host.setTenure("s/0/0", undefined, false, hall.now);
  expect(free()).toBe(40);
  host.committed("grant", "s/0/0", undefined, "conflict", hall.now);
  expect(free()).toBe(50);
});

describe("a bid", () => {
  test("that was won unseen is not forgotten when the node's budget changes", () => {
    const hall = new Hall([10, 10], half, { levelAt: 0, emptyPauseMs: 60_000 });
    hall.join("evaluator", 5).lagMs = 20;
    hall.run(1_000);
    const slow = hall.join("slow", 15, 100);
    hall.run(150);
    expect(holders(hall)).toEqual(["slow", undefined]);
    // It does not know yet; and will not bid on this one again, but on the other, with the same memory.
    slow.host.prepareFailed("s/0/0", "no disk", hall.now);
    (slow.machine.market.memory as { budgetBytes: number }).budgetBytes = 14;
    hall.run(1_000);
    expect(hall.broken).toEqual([]);
    expect(holders(hall)).toEqual(["slow", undefined]);
    expect(hall.read<Bidder>(hall.keys.auction("s", "bidder", "slow"))?.value.budgetBytes).toBe(14);
  });

  test("that was won unseen on what seems to be no lot any more keeps its node from bidding on another", () => {
    const hall = new Hall([10, 10], half, { levelAt: 0, emptyPauseMs: 60_000 });
    hall.join("evaluator", 5).lagMs = 20;
    hall.run(1_000);
    const slow = hall.join("slow", 15, 100);
    hall.run(150);
    expect(holders(hall)).toEqual(["slow", undefined]);
    const about = { session: "s-x", boot: "x-boot", address: "x:1" };
    const contender = { v: 1, phase: "preparing", progress: 0, ...about } as const;
    slow.host.setContender("s/0/0", "x", { value: contender, revision: 1 }, hall.now);
    slow.machine.noticed("s/0/0");
    hall.run(1_000);
    expect(hall.broken).toEqual([]);
    expect(holders(hall)).toEqual(["slow", undefined]);
  });

  test("on a lot that somebody took by rank and lost again does not keep others from bidding, however old it is", () => {
    const hall = new Hall([10], half, { windowMs: 1_000, levelAt: 0 });
    hall.put(hall.keys.auction("s", "config"), { v: 1, maxBids: 9 });
    hall.join("evaluator", 5);
    hall.join("x", 5);
    hall.join("a", 30);
    hall.run(500);
    expect(lotsOf(hall, "a")).toEqual(["s/0/0"]);
    const tenure = { v: 1, node: "x", session: "s-x", boot: "boot-x", era: 1, how: "grant", reason: "" };
    const write = { kind: "put", key: hall.keys.tenure("s/0/0"), value: JSON.stringify(tenure) } as const;
    hall.commit({ guards: [], writes: [{ ...write, session: "s-x" }] });
    hall.run(5_000);
    hall.join("b", 100);
    hall.run(500);
    hall.kill("x");
    hall.run(900);
    expect(holders(hall)).toEqual([undefined]);
    hall.run(500);
    expect(holders(hall)).toEqual(["b"]);
  });

  test("on a shard that waited long enough counts, though the evaluator has heard of its strikes only now", () => {
    // Four strikes make it wait for four seconds.
    const hall = new Hall([10], half, { silentMs: 300 });
    const evaluator = hall.join("evaluator", 5);
    hall.run(1_000);
    const elder = hall.join("elder", 100);
    strike(hall, elder, "s/0", 4);
    strike(hall, evaluator, "s/0", 4);
    hall.run(3_900);
    // As one that was started just now does.
    evaluator.host.setTrouble("s/0", undefined, hall.now);
    strike(hall, evaluator, "s/0", 4);
    hall.run(1_000);
    expect(holders(hall)).toEqual(["elder"]);
  });
});
