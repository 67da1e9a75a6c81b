import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Hall, type Fate, type Guest } from "./fixtures/hall.ts";
import { FRONT_MAX } from "./front.ts";
import { compareLots } from "./order.ts";
import type { Bidder, Round } from "./records.ts";

const half = (): number => 0.5;
const everyone = (hall: Hall): (string | undefined)[] =>
  [...hall.sizes.keys()].map((shard) => hall.holder(`s/${shard}/0`));
const counter = (hall: Hall, name: keyof Guest["machine"]["market"]["counters"]): number =>
  [...hall.guests.values()].reduce((sum, { machine }) => sum + machine.market.counters[name], 0);

const lotsOf = (hall: Hall, name: string): string[] =>
  hall.read<Bidder>(hall.keys.auction("s", "bidder", name))?.value.bid?.lots.map(({ replica }) => replica) ??
  [];

describe("an auction", () => {
  test("goes to the node with the most free memory, one lot after the other", () => {
    const hall = new Hall([10, 10, 10, 10], half);
    hall.join("a", 100);
    hall.join("b", 120);
    hall.join("c", 90);
    hall.run(2_000);
    // 120 beats 100; with 110 it still does; with 100 both have as much, and the earlier bid wins.
    expect(everyone(hall).slice(0, 2)).toEqual(["b", "b"]);
    expect(hall.usedBy("c")).toBe(0);
    expect(everyone(hall)).not.toContain(undefined);
    expect(counter(hall, "auctions_won")).toBe(4);
    expect(counter(hall, "auctions_short_circuited")).toBe(4);
    expect(hall.broken).toEqual([]);
  });

  test("is held for many lots at once with one bid of each node, whose memory is spent once", () => {
    const hall = new Hall(
      Array.from({ length: 6 }, () => 10),
      half,
      { levelAt: 0 },
    );
    for (const name of ["a", "b", "c"]) hall.join(name, 200);
    const bidsOf: string[] = [];
    const commit = hall.commit.bind(hall);
    hall.commit = (one) => {
      for (const write of one.writes) if (JSON.stringify(write).includes("freeBytes")) bidsOf.push(write.key);
      return commit(one);
    };
    hall.run(2_000);
    expect(everyone(hall)).not.toContain(undefined);
    // Who has won the first has less for the second.
    expect(["a", "b", "c"].map((name) => hall.usedBy(name))).toEqual([20, 20, 20]);
    expect(counter(hall, "auctions_won")).toBe(6);
    expect(bidsOf).toHaveLength(3);
    expect(counter(hall, "bids_placed")).toBe(18);
    expect(hall.broken).toEqual([]);
  });

  test("is bid for only as far as all lots of a bid fit together, and none that would fit is leapt over", () => {
    const hall = new Hall([60, 60, 30, 200], half);
    hall.put(hall.keys.auction("s", "config"), { v: 1, maxBids: 9 });
    hall.join("small", 100);
    hall.join("large", 160);
    hall.run(1_500);
    expect(lotsOf(hall, "small")).toEqual(["s/0/0"]);
    expect(lotsOf(hall, "large")).toEqual(["s/0/0", "s/1/0", "s/2/0"]);
  });

  test("of a shard that lost its holders is bid for alone", () => {
    const hall = new Hall([10, 10, 10], half);
    hall.put(hall.keys.auction("s", "config"), { v: 1, maxBids: 9 });
    const last = { node: "x", what: "open failed", message: "" } as const;
    const { host, machine } = hall.join("a", 100);
    host.setTrouble("s/1", { value: { v: 1, strikes: 1, last }, revision: 1 }, hall.now);
    machine.noticedShard("s/1");
    hall.run(1_500);
    expect(lotsOf(hall, "a")).toEqual(["s/0/0", "s/2/0"]);
  });

  test("closes when all have answered, and passes are answers", () => {
    const hall = new Hall([50], half);
    hall.join("a", 100);
    hall.join("b", 20);
    hall.join("c", 20);
    hall.run(1_500);
    expect(everyone(hall)).toEqual(["a"]);
    expect(counter(hall, "passes_placed")).toBe(2);
    expect(counter(hall, "bids_placed")).toBe(1);
  });

  test("counts the answers that came before there was anybody to judge them", () => {
    // Candidates wait as long as they may.
    const hall = new Hall([10], () => 0.999);
    hall.join("a", 100);
    hall.join("b", 5);
    hall.run(3_000);
    expect(everyone(hall)).toEqual(["a"]);
    expect([counter(hall, "bids_placed"), counter(hall, "passes_placed")]).toEqual([1, 1]);
    expect([counter(hall, "bids_received"), counter(hall, "passes_received")]).toEqual([1, 1]);
  });

  test("takes pinned shards first, then in the order of their keys", () => {
    const hall = new Hall([10, 10, 10], half);
    hall.put(hall.keys.auction("s", "override", "s/2"), { v: 1, pinned: true });
    hall.join("a", 10);
    hall.run(1_500);
    expect(everyone(hall)).toEqual([undefined, undefined, "a"]);
  });

  test("takes the longest unheld first", () => {
    const hall = new Hall([10, 10], half, { levelAt: 0 });
    hall.join("full", 5);
    hall.join("a", 10);
    hall.join("b", 10);
    hall.run(1_500);
    hall.kill(hall.holder("s/1/0")!);
    hall.run(100);
    hall.kill(hall.holder("s/0/0")!);
    hall.run(1_500);
    // It was not there when they were lost, and goes by what the empty rounds recorded.
    hall.join("c", 10);
    hall.run(1_500);
    expect(everyone(hall)).toEqual([undefined, "c"]);
  });

  test("waits for a hung bidder once, and not again until it answers", () => {
    const hall = new Hall([10, 10, 10, 10], half, { silentMs: 500 });
    hall.join("a", 101);
    // It bids once, and hears of nothing after that.
    hall.join("deaf", 10, 1e9);
    hall.run(450);
    expect(everyone(hall)).toEqual(["a", undefined, undefined, undefined]);
    hall.run(400);
    expect(everyone(hall)).toEqual(["a", "a", "a", "a"]);
    expect([...hall.guests.get("a")!.machine.silent.keys()]).toEqual(["deaf"]);
    hall.run(5_000);
    expect([...hall.guests.get("a")!.machine.silent.keys()]).toEqual([]);
  });

  test("ends with the window when a configured number of bids is never reached", () => {
    const hall = new Hall([10], half, { windowMs: 3_000 });
    hall.put(hall.keys.auction("s", "config"), { v: 1, maxBids: 5 });
    hall.join("a", 100);
    hall.join("b", 90);
    hall.run(3_000);
    expect(everyone(hall)).toEqual([undefined]);
    hall.run(1_000);
    expect(everyone(hall)).toEqual(["a"]);
    expect(counter(hall, "auctions_timed_out")).toBe(1);
  });

  test("closes early at a per-shard number, less than there are bidders", () => {
    const hall = new Hall([10], half, { windowMs: 3_000 });
    hall.put(hall.keys.auction("s", "config"), { v: 1, maxBids: 5 });
    hall.put(hall.keys.auction("s", "override", "s/0"), { v: 1, maxBids: 2 });
    hall.join("a", 100);
    hall.join("b", 90);
    hall.run(1_500);
    expect(everyone(hall)).toEqual(["a"]);
  });

  test("that is empty five times in a row is demanded, until it is granted", () => {
    const hall = new Hall([50], half, { emptyPauseMs: 10 });
    hall.join("a", 20);
    hall.run(3_000);
    const round = hall.read<Round>(hall.keys.auction("s", "round", "s/0/0"))!.value;
    expect(round.empties).toBeGreaterThanOrEqual(5);
    expect(hall.read(hall.keys.auction("s", "demand"))?.value).toMatchObject({ count: 1, bytes: 50 });
    hall.join("b", 60);
    hall.run(3_000);
    expect(everyone(hall)).toEqual(["b"]);
    expect(hall.read(hall.keys.auction("s", "demand"))).toBeUndefined();
    expect(hall.read<Round>(hall.keys.auction("s", "round", "s/0/0"))!.value.empties).toBe(0);
  });

  test("is held for some at a time of many that fit nowhere, and one behind them that fits is taken at once", () => {
    const many = 8 * FRONT_MAX;
    const hall = new Hall([...Array.from({ length: many }, () => 50), 10], half, {
      emptyPauseMs: 100,
      emptiesMax: 2,
    });
    hall.join("a", 20);
    hall.join("b", 19);
    hall.run(1_000, 20);
    expect(hall.holder(`s/${many}/0`)).toBe("a");
    // Two of each in front, which is asked for twice or three times in a second, and again when it moves on.
    expect(counter(hall, "passes_placed")).toBeLessThan(many);
    const demanded = (): number =>
      hall.read<{ count: number }>(hall.keys.auction("s", "demand"))?.value.count ?? 0;
    hall.run(1_000, 20);
    const first = demanded();
    expect(first).toBeGreaterThanOrEqual(FRONT_MAX);
    hall.run(2_000, 20);
    // Those behind move up.
    expect(demanded()).toBeGreaterThanOrEqual(first + FRONT_MAX);
    hall.join("c", 60);
    hall.run(1_000, 20);
    expect(everyone(hall).filter((node) => node === "c")).toHaveLength(1);
  });

  test("is held for those that were behind when so few are left that all are in front", () => {
    const hall = new Hall(
      Array.from({ length: FRONT_MAX + 1 }, () => 50),
      half,
      { emptyPauseMs: 1_000_000 },
    );
    hall.join("a", 20);
    hall.join("b", 19);
    hall.run(3_000, 20);
    const asked = (): string[] =>
      [...hall.sizes.keys()].filter((shard) => hall.read(hall.keys.auction("s", "round", `s/${shard}/0`)));
    const first = asked();
    expect(first).toHaveLength(FRONT_MAX);
    // Somebody else gets ready to take one of them, and nobody's memory changes.
    hall.put(hall.keys.contender(`s/${first[0]}/0`, "x"), { v: 1, phase: "preparing", session: "s-x" });
    hall.run(3_000, 20);
    expect(asked()).toHaveLength(FRONT_MAX + 1);
  });

  test("is held for those behind many that nobody may bid on for now", () => {
    const sizes = Array.from({ length: FRONT_MAX + 5 }, () => 50);
    const hall = new Hall(sizes, half, { emptyPauseMs: 1_000_000 });
    const last = { node: "x", what: "open failed", message: "" } as const;
    const guests = [hall.join("a", 20), hall.join("b", 19)];
    const shards = [...hall.sizes.keys()].sort();
    for (const { host, machine } of guests)
      for (const shard of shards.slice(0, FRONT_MAX)) {
        host.setTrouble(`s/${shard}`, { value: { v: 1, strikes: 1_000, last }, revision: 1 }, hall.now);
        machine.noticedShard(`s/${shard}`);
      }
    hall.run(3_000, 20);
    const asked = shards.filter((shard) => hall.read(hall.keys.auction("s", "round", `s/${shard}/0`)));
    expect(asked).toEqual(shards.slice(FRONT_MAX));
  });

  test("gives the next best the lot at once when the winner is gone before the grant", () => {
    const hall = new Hall([10], half);
    const evaluator = hall.join("evaluator", 5);
    hall.run(1_000);
    const best = hall.join("best", 100);
    hall.join("next", 90);
    evaluator.lagMs = 400;
    hall.run(50);
    expect(lotsOf(hall, "best")).toEqual(["s/0/0"]);
    hall.kill(best.name, false);
    // The evaluator's copy does not show the loss before 450; the refused grant does.
    hall.run(390);
    expect(everyone(hall)).toEqual(["next"]);
  });

  test("never goes to a bid that was taken back, however late the evaluator hears of it", () => {
    const hall = new Hall([10], half, { silentMs: 200 });
    hall.join("evaluator", 5);
    hall.run(1_000);
    const best = hall.join("best", 100);
    hall.join("next", 90);
    hall.guests.get("evaluator")!.lagMs = 40;
    hall.run(20);
    best.host.leave(hall.now);
    hall.run(1_000);
    expect(everyone(hall)).toEqual(["next"]);
    expect(hall.read<Bidder>(hall.keys.auction("s", "bidder", "best"))?.value.bid).toBeUndefined();
  });

  test("that was won unseen keeps its bidder from bidding again before it knows", () => {
    const hall = new Hall([10, 10], half, { levelAt: 0, emptyPauseMs: 60_000 });
    hall.join("evaluator", 5).lagMs = 20;
    hall.run(1_000);
    const slow = hall.join("slow", 15, 100);
    hall.run(150);
    expect(everyone(hall)).toEqual(["slow", undefined]);
    // It does not know yet, wants its bid back, and would bid on the other lot with the same memory.
    slow.host.prepareFailed("s/0/0", "no disk", hall.now);
    hall.run(1_000);
    expect(hall.broken).toEqual([]);
    expect(everyone(hall)).toEqual(["slow", undefined]);
  });

  test("does not wait for a bidder whose own bid waits for this one", () => {
    const hall = new Hall([10, 10], half, { elsewhereMs: 300, graceMs: 500 });
    hall.join("a", 10, 200);
    hall.join("b", 10);
    hall.run(490);
    // Only b hears in time that the other one goes first now: each bids where the other does not.
    hall.put(hall.keys.auction("s", "override", "s/1"), { v: 1, pinned: true });
    hall.run(210);
    expect([...lotsOf(hall, "a"), ...lotsOf(hall, "b")]).toEqual(["s/0/0", "s/1/0"]);
    expect(everyone(hall)).toEqual([undefined, undefined]);
    hall.run(1_000);
    expect(everyone(hall)).toEqual(["a", "b"]);
    expect(counter(hall, "bids_rejected_already_pending")).toBeGreaterThan(0);
  });

  test("names a target for what a leaving node still holds, and a node leaves no bid behind", () => {
    const hall = new Hall([10, 10], half, { levelAt: 0 });
    const leaver = hall.join("a", 100);
    hall.run(1_500);
    hall.join("b", 100);
    hall.guests.get("a")!.host.leave(hall.now);
    const plan = { viewN: 2, parameters: { shards: 2, replicas: 1, placement: { graceMs: 1 } } };
    for (const { host, machine } of hall.guests.values()) {
      const lines = host.plan("s")!.lines;
      host.setPlan("s", { ...plan, lines, bidders: ["b"] }, hall.now);
      machine.setPlan({ ...plan, lines, bidders: ["b"] });
    }
    hall.run(1_500);
    for (const shard of [0, 1]) {
      expect(hall.holder(`s/${shard}/0`)).toBe("a");
      expect(hall.read(hall.keys.auction("s", "award", `s/${shard}/0`))?.value).toMatchObject({
        node: "b",
        from: "a",
      });
    }
    expect(hall.usedBy("b")).toBe(20);
    expect(leaver.machine.market.takesPart).toBe(false);
  });

  test("levels memory when a node joins, a few moves at a time", () => {
    const hall = new Hall(
      Array.from({ length: 10 }, () => 10),
      half,
      { levelEveryMs: 50, levelMovesMax: 2 },
    );
    hall.join("a", 200);
    hall.run(2_000);
    hall.join("b", 200);
    hall.run(3_000);
    const awards = [...hall.store.keys()].filter((key) => key.includes("/award/"));
    expect(awards).toHaveLength(2);
    expect(hall.usedBy("b")).toBe(20);
  });

  test("moves a shard off a node that it has outgrown, however level memory is", () => {
    const hall = new Hall([10], half, { levelEveryMs: 50, levelAt: 100 });
    hall.join("a", 20);
    hall.run(2_000);
    hall.join("b", 200);
    hall.run(2_000);
    const award = hall.keys.auction("s", "award", "s/0/0");
    expect(hall.read(award)).toBeUndefined();
    hall.put(hall.keys.auction("s", "footprint", "s/0"), { v: 1, bytes: 50 });
    hall.run(2_000);
    expect(hall.read(award)?.value).toMatchObject({ node: "b", from: "a" });
  });
});

describe("the evaluator", () => {
  test("closes no more rounds a second than it may, and counts what had to wait", () => {
    const hall = new Hall(
      Array.from({ length: 12 }, () => 1),
      half,
      { evaluationsPerSecond: 2, levelAt: 0 },
    );
    hall.join("a", 100);
    hall.run(3_000);
    const early = everyone(hall).filter((node) => node !== undefined).length;
    expect(early).toBeGreaterThanOrEqual(4);
    expect(early).toBeLessThanOrEqual(8);
    hall.run(6_000);
    expect(everyone(hall)).not.toContain(undefined);
    expect(counter(hall, "auction_evaluations_deferred")).toBeGreaterThan(0);
    expect(counter(hall, "auction_evaluations")).toBeGreaterThanOrEqual(12);
  });

  test("is one: every close is guarded by its office, and when it is lost another goes on with the bids that stand", () => {
    const hall = new Hall([10, 10], half, { windowMs: 3_000, levelAt: 0 });
    hall.put(hall.keys.auction("s", "config"), { v: 1, maxBids: 9 });
    for (const name of ["a", "b", "c"]) hall.join(name, 100);
    const closes: string[][] = [];
    const commit = hall.commit.bind(hall);
    hall.commit = (one) => {
      if (one.writes.some(({ key }) => key.startsWith(`${hall.keys.prefix}tenure/`)))
        closes.push(one.guards.map(({ key }) => key));
      return commit(one);
    };
    hall.run(2_000);
    const office = hall.keys.auction("s", "evaluator");
    const first = hall.read<{ node: string }>(office)!.value.node;
    hall.kill(first);
    hall.run(6_000);
    expect(hall.read<{ node: string }>(office)!.value.node).not.toBe(first);
    expect(everyone(hall)).not.toContain(undefined);
    expect(closes.length).toBeGreaterThanOrEqual(2);
    for (const guards of closes) expect(guards).toContain(office);
  });
});

test("whatever is lost, late or unnoticed: bids decide, memory is never promised twice, and all that fits is held", () => {
  const script = fc.record({
    sizes: fc.array(fc.integer({ min: 5, max: 60 }), { minLength: 1, maxLength: 8 }),
    budgets: fc.array(fc.integer({ min: 30, max: 120 }), { minLength: 2, maxLength: 4 }),
    lags: fc.array(fc.constantFrom(0, 5, 20, 60), { minLength: 4, maxLength: 4 }),
    fates: fc.array(fc.constantFrom<Fate>("ok", "ok", "ok", "ok", "lost", "unsure", "late"), {
      minLength: 20,
      maxLength: 60,
    }),
    kills: fc.array(fc.integer({ min: 50, max: 1_500 }), { maxLength: 1 }),
    seed: fc.integer({ min: 1, max: 1e6 }),
  });
  fc.assert(
    fc.property(script, ({ sizes, budgets, lags, fates, kills, seed }) => {
      let state = seed;
      const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
      const hall = new Hall(sizes, random, { silentMs: 300, emptyPauseMs: 50, levelAt: 0, elsewhereMs: 100 });
      budgets.forEach((budget, i) => hall.join(`n${i}`, budget, lags[i]));
      let at = 0;
      hall.fate = () => fates[at++] ?? "ok";
      for (const wait of kills) {
        hall.run(wait);
        hall.kill("n0");
      }
      hall.run(8_000);
      expect(hall.broken).toEqual([]);
      for (const { machine } of hall.guests.values()) {
        const lots = machine.market.lots.ordered();
        expect(lots).toEqual(lots.toSorted(compareLots));
        expect(lots).toHaveLength(machine.market.lots.size);
      }
      sizes.forEach((bytes, i) => {
        if (hall.holder(`s/${i}/0`) !== undefined) return;
        for (const { name, budgetBytes } of hall.guests.values())
          expect(budgetBytes - hall.usedBy(name)).toBeLessThan(bytes);
      });
    }),
    { numRuns: 40 },
  );
});
