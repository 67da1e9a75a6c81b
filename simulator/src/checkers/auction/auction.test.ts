import type { BidLot } from "@keelson/kernel";
import { describe, expect, it } from "vitest";
import { MIB } from "../../auction/catalogue.ts";
import { R0, R1, SERVICE } from "../stage.ts";
import { AuctionRulesChecker } from "./auction-rules.ts";
import { AuctionStage, BUDGET } from "./auction-stage.ts";
import { BalanceChecker } from "./balance.ts";
import { MemoryChecker } from "./memory.ts";
import { PromisesChecker } from "./promises.ts";
import { PromptnessChecker } from "./promptness.ts";
import { StarvationChecker } from "./starvation.ts";

describe("auctions", () => {
  const stage = (): AuctionStage => new AuctionStage().begin(AuctionRulesChecker);

  /** Three answers, a second before the close: the evaluator must have seen them all. */
  const answered = (): AuctionStage => {
    const of = stage();
    of.bid("a", R0, 500);
    of.bid("b", R0, 700);
    of.pass("c", R0);
    of.nowMs += 1_500;
    return of;
  };

  it("is content with a round that everyone answered and the highest bid won", () => {
    const of = answered();
    of.close(R0, "b");
    of.seconds(5);
    expect(of.reports).toEqual([]);
  });

  it("notices that a higher bid, or an equal and earlier one, did not win", () => {
    const higher = answered();
    higher.close(R0, "a");
    expect(higher.reports).toEqual([`${R0}: a won with 500 bytes free, and b had bid 700`]);
    const earlier = stage();
    for (const node of ["a", "b", "c"]) earlier.bid(node, R0, 500);
    earlier.nowMs += 1_500;
    earlier.close(R0, "c");
    expect(earlier.reports).toContain(`${R0}: c won, and a had bid as much before it`);
  });

  describe("of bids for several lots", () => {
    const lot = (replica: string, bytes = 200): BidLot => ({
      replica,
      round: 1,
      tenure: 0,
      maxBids: 0,
      bytes,
    });

    /** b has bid 650 for both, a 500 for R0 alone; and everyone has answered. */
    const both = (): AuctionStage => {
      const of = stage();
      of.bid("a", R0, 500);
      of.bid("b", R0, 650, {}, [lot(R1)]);
      for (const replica of [R0, R1]) of.pass("c", replica);
      of.pass("a", R1);
      of.nowMs += 1_500;
      return of;
    };

    it("lets a higher one lose that has won another lot before, whose memory is spent", () => {
      const of = both();
      of.close(R1, "b");
      of.close(R0, "a");
      expect(of.reports).toEqual([]);
    });

    it("lets it lose when the other lot was being given to it, whether that landed or not", () => {
      const of = both();
      of.send("a", of.closing(R1, "b", 1), ["b"]);
      of.rounds.delete(R1);
      of.close(R0, "a");
      expect(of.reports).toEqual([]);
    });

    it("notices that it lost for lots that it has not won, or won only afterwards", () => {
      const of = both();
      of.close(R0, "a");
      const said = [`${R0}: a won with 500 bytes free, and b had bid 650`];
      expect(of.reports).toEqual(said);
      const together = both();
      const puts = [...together.closing(R0, "a", 1), ...together.closing(R1, "b", 1)];
      together.send("a", puts);
      together.putAll(puts);
      expect(together.reports).toEqual(said);
    });

    it("notices that one won with memory that it had spent", () => {
      const of = stage();
      of.bid("a", R0, 500);
      of.bid("b", R0, 650, {}, [lot(R1)]);
      of.pass("c", R0);
      for (const node of ["a", "c"]) of.pass(node, R1);
      of.nowMs += 1_500;
      of.close(R1, "b");
      of.close(R0, "b");
      expect(of.reports).toEqual([`${R0}: b won with 450 bytes free, and a had bid 500`]);
    });

    it("notices that what is left is less than the footprint", () => {
      const of = stage();
      of.put(of.keys.auction(SERVICE, "footprint", "kv/0"), { v: 1, bytes: 500 });
      of.nowMs += 2_000;
      of.bid("b", R0, 650, {}, [lot(R1)]);
      for (const node of ["a", "c"]) for (const replica of [R0, R1]) of.pass(node, replica);
      of.nowMs += 1_500;
      of.close(R1, "b");
      of.close(R0, "b");
      expect(of.reports).toEqual([`${R0}: b won with 450 bytes free, and it last took 500`]);
    });

    it("notices one on more than fits together, and lets one be for a single lot of any size", () => {
      const of = stage();
      of.bid("a", R0, 250, {}, [lot(R1)]);
      expect(of.reports).toEqual([`${R0}: a bids 250 for lots that take 300`]);
      const single = stage();
      single.bid("a", R0, 50);
      expect(single.reports).toEqual([]);
    });
  });

  it("holds against an evaluator that hears badly what it says by its guards that it has seen", () => {
    for (const [seen, reports] of [
      [[], []],
      [["a", "b"], [`${R0}: a won with 500 bytes free, and b had bid 700`]],
    ] as const) {
      const of = answered();
      of.tell({ kind: "fault", edge: "begin", fault: { id: 1, kind: "stale-watch", node: "a", detail: "" } });
      of.close(R0, "a", 1, seen);
      expect(of.reports).toEqual(reports);
    }
  });

  it("counts a bid that is older than the lot from when that came up", () => {
    const again = (): AuctionStage => {
      const of = stage();
      of.memory("b", R0, "built");
      of.bid("a", R0, 500);
      of.takes("b", R0);
      of.nowMs += 3_600_000;
      of.remove(of.keys.tenure(R0));
      return of;
    };
    const early = again();
    early.nowMs += 1_500;
    early.close(R0, "a");
    expect(early.reports).toEqual([
      `${R0}: closed before b had answered, and before the window was over`,
      `${R0}: closed before c had answered, and before the window was over`,
    ]);
    const open = again();
    open.seconds(65);
    expect(open.reports).toEqual([]);
  });

  it("notices a round that gives both a tenure and an award", () => {
    const of = answered();
    const puts = [
      ...of.closing(R0, "b", 1),
      [of.keys.auction(SERVICE, "award", R0), { node: "b", session: "b-session" }] as const,
    ];
    of.send("a", puts);
    of.putAll(puts);
    expect(of.reports).toEqual([`${R0}: round 1 gives it both a tenure and an award`]);
  });

  it("lets go what the evaluator cannot have seen yet, and not what it needed for the close", () => {
    const late = answered();
    late.bid("c", R0, 900);
    late.nowMs += 1;
    late.close(R0, "b");
    expect(late.reports).toEqual([]);
    const needed = stage();
    for (const [node, free] of [
      ["a", 500],
      ["b", 700],
      ["c", 600],
    ] as const)
      needed.bid(node, R0, free);
    needed.nowMs += 1;
    needed.close(R0, "c");
    expect(needed.reports).toEqual([`${R0}: c won with 600 bytes free, and b had bid 700`]);
  });

  it("does not hold a bid from after the window against whoever won, however late the round is closed", () => {
    const late = stage();
    late.bid("a", R0, 500);
    late.bid("b", R0, 400);
    late.nowMs += 61_000;
    late.bid("c", R0, 900);
    late.nowMs += 1_500;
    late.close(R0, "a");
    expect(late.reports.filter((text) => text.includes("had bid 900"))).toEqual([]);
  });

  it("notices a winner that did not bid, and one whose bid was for another round", () => {
    const none = answered();
    none.close(R0, "c");
    expect(none.reports).toEqual([`${R0}: c won without a bid`]);
    const stale = stage();
    stale.bid("b", R0, 700, { round: 7 });
    stale.close(R0, "b");
    expect(stale.reports).toEqual([`${R0}: b won without a bid`]);
  });

  it("notices a bid below the footprint", () => {
    const of = stage();
    of.put(of.keys.auction(SERVICE, "footprint", "kv/0"), { v: 1, bytes: 800 });
    of.nowMs += 2_000;
    for (const node of ["a", "b", "c"]) of.bid(node, R0, 700);
    of.close(R0, "a");
    expect(of.reports).toEqual([`${R0}: a won with 700 bytes free, and it last took 800`]);
  });

  it("notices a round that was closed early without an answer, and not one whose bidder kept it waiting", () => {
    const early = stage();
    early.bid("a", R0, 500);
    early.pass("b", R0);
    early.nowMs += 1_500;
    early.close(R0, "a");
    expect(early.reports).toEqual([`${R0}: closed before c had answered, and before the window was over`]);
    const silent = stage();
    silent.bid("a", R0, 500);
    silent.pass("b", R0);
    silent.nowMs += 2_000;
    silent.close(R0, "a");
    // Not waited for again either, until it answers.
    silent.bid("a", R1, 400);
    silent.pass("b", R1);
    silent.nowMs += 10;
    silent.close(R1, "a");
    expect(silent.reports).toEqual([]);
  });

  it("goes by a configured number of answers where there is one", () => {
    const of = stage();
    of.put(of.keys.auction(SERVICE, "config"), { v: 1, maxBids: 2 });
    of.bid("a", R0, 500, { maxBids: 2 });
    of.close(R0, "a");
    expect(of.reports).toEqual([`${R0}: closed with 1 answers, and 2 were called for`]);
    const enough = stage();
    enough.put(enough.keys.auction(SERVICE, "config"), { v: 1, maxBids: 2 });
    enough.bid("a", R0, 500, { maxBids: 2 });
    enough.pass("b", R0);
    enough.close(R0, "a");
    expect(enough.reports).toEqual([]);
  });

  it("notices a round that is open long after its window", () => {
    const of = stage();
    of.bid("a", R0, 500);
    of.seconds(65);
    expect(of.reports).toEqual([]);
    of.seconds(10);
    expect(of.reports).toHaveLength(1);
    expect(of.reports[0]).toMatch(/round 1 is open more than a TTL after the end of its window/);
  });

  it("notices a second bid while the first is outstanding", () => {
    const of = stage();
    of.bid("a", R0, 500);
    of.nowMs += 2_000;
    of.bid("a", R1, 500);
    expect(of.reports).toEqual([`${R0}: a bids on ${R1} while its bid on ${R0} is outstanding`]);
    const settled = answered();
    settled.close(R0, "b");
    settled.nowMs += 2_000;
    settled.bid("a", R1, 500);
    expect(settled.reports).toEqual([]);
  });

  it("notices a first tenure that no auction gave, and lets those take it who have it ready", () => {
    const of = stage();
    of.memory("b", R0, "building");
    of.takes("b", R0);
    expect(of.reports).toEqual([`${R0}: b has a first tenure that no auction gave it`]);
    const ready = stage();
    ready.memory("b", R0, "built");
    ready.put(ready.keys.contender(R1, "c"), { phase: "ready" });
    ready.takes("b", R0);
    ready.takes("c", R1);
    expect(ready.reports).toEqual([]);
  });

  it("lets a grant by rank land late that was sent while its node had the replica, and none that was sent afterwards", () => {
    const late = stage();
    late.memory("b", R0, "built");
    late.send("b", [[late.keys.tenure(R0), { node: "b", session: "b-session", how: "grant" }]]);
    late.memory("b", R0, "freed");
    late.nowMs += 3_600_000;
    late.tenure(R0, "b");
    expect(late.reports).toEqual([]);
    const after = stage();
    after.memory("b", R0, "built");
    after.memory("b", R0, "freed");
    after.nowMs += 5_000;
    after.takes("b", R0);
    expect(after.reports).toEqual([`${R0}: b has a first tenure that no auction gave it`]);
  });

  it("notices a grant by rank that lands after a round that has closed since", () => {
    const of = stage();
    of.memory("b", R0, "built");
    for (const node of ["a", "b", "c"]) of.pass(node, R0);
    of.send("b", [[of.keys.tenure(R0), { node: "b", session: "b-session", how: "grant" }]]);
    of.close(R0);
    of.tenure(R0, "b");
    expect(of.reports).toEqual([`${R0}: b has a first tenure that it took by rank before round 1 closed`]);
  });

  it("notices an empty round that had a bid, and a round number that jumps", () => {
    const of = answered();
    of.close(R0);
    expect(of.reports).toContain(`${R0}: closed as empty, and b had bid 700`);
    const jump = stage();
    jump.close(R0, undefined, 3);
    expect(jump.reports).toEqual([`${R0}: round 3 closes after round 0`]);
  });
});

describe("starvation", () => {
  const stage = (): AuctionStage => new AuctionStage().begin(StarvationChecker);

  it("notices a repository that fits and finds no holder, and not one that fits nowhere", () => {
    const of = stage();
    of.tenure(R1, "a");
    of.seconds(75);
    expect(of.reports).toEqual([]);
    of.seconds(10);
    expect(of.reports).toHaveLength(1);
    expect(of.reports[0]).toMatch(/^kv\/0\/0: it fits, and nobody has held it for/);
    const full = stage();
    for (const node of ["a", "b", "c"]) full.used.set(node, BUDGET - 50 * MIB);
    full.seconds(200);
    expect(full.reports).toEqual([]);
  });

  it("does not count the time in which only unhealthy nodes had room, or the store was away", () => {
    const of = stage();
    for (const node of ["a", "b"]) of.used.set(node, BUDGET);
    of.tell({ kind: "fault", edge: "begin", fault: { id: 1, kind: "slow", node: "c", detail: "" } });
    of.seconds(200);
    expect(of.reports).toEqual([]);
    const away = stage();
    for (let i = 0; i < 10; i++) {
      away.seconds(30);
      away.tell({ kind: "store-down" });
    }
    expect(away.reports).toEqual([]);
  });

  it("notices when the fleet has settled and something that fits, or was granted, is not served", () => {
    const of = stage();
    of.tenure(R1, "b");
    of.tell({ kind: "settled" });
    expect(of.reports).toEqual([
      `${R0}: the fleet has settled, and nobody holds it although it fits`,
      `${R1}: the fleet has settled, and b holds it and does not serve it`,
    ]);
    const served = stage();
    served.node("a").passes.add(R0);
    served.node("b").passes.add(R1);
    served.tell({ kind: "settled" });
    expect(served.reports).toEqual([]);
  });
});

describe("memory", () => {
  it("notices a node above its budget", () => {
    const of = new AuctionStage().begin(MemoryChecker);
    const memory = { kind: "memory", node: "a", replica: R0, what: "building", bytes: 5 } as const;
    of.tell({ ...memory, usedBytes: 10, budgetBytes: 10 });
    expect(of.reports).toEqual([]);
    of.tell({ ...memory, usedBytes: 11, budgetBytes: 10 });
    expect(of.reports).toEqual([`a: ${R0} makes it use 11 bytes of 10`]);
  });
});

describe("promises", () => {
  const stage = (): AuctionStage => new AuctionStage().begin(PromisesChecker);
  const size = 100 * MIB;

  it("notices that a node is given more than it has room for, beside what it has in memory", () => {
    const of = stage();
    of.memory("b", "kv/8/0", "built", BUDGET - size);
    of.close(R0, "b");
    expect(of.reports).toEqual([]);
    of.close(R1, "b");
    expect(of.reports).toEqual([`b: is given ${R1}, and ${size} bytes more than it has room for`]);
  });

  it("counts what it was given and has built once, and an award as long as it is valid", () => {
    const of = stage();
    of.memory("b", "kv/8/0", "built", BUDGET - 2 * size);
    of.close(R0, "b");
    of.memory("b", R0, "building", size);
    of.tenure(R1, "a");
    const award = { node: "b", session: "b-session", from: "a", fromSession: "a-session" };
    of.put(of.keys.auction(SERVICE, "award", R1), award);
    expect(of.reports).toEqual([]);
    of.bid("b", "kv/3/0", 1);
    expect(of.reports).toEqual(["b: bids 1 bytes, and has 0 beside what it was given"]);
    of.tenure(R1, "c");
    of.bid("b", "kv/3/0", size);
    expect(of.reports).toHaveLength(1);
  });

  it("notices a bid with memory that was won with the bid before, whether or not its node has heard of it", () => {
    const of = stage();
    of.bid("b", R0, BUDGET);
    of.close(R0, "b");
    of.bid("b", R1, BUDGET - size);
    expect(of.reports).toEqual([]);
    of.bid("b", R1, BUDGET);
    expect(of.reports).toEqual([
      `b: bids ${BUDGET} bytes, and has ${BUDGET - size} beside what it was given`,
    ]);
  });
});

describe("balance", () => {
  it("notices a node that uses a tenth more than its part when all is at rest", () => {
    const of = new AuctionStage().begin(BalanceChecker);
    of.used.set("a", 109).set("b", 100).set("c", 91);
    of.tell({ kind: "settled" });
    expect(of.reports).toEqual([]);
    of.used.set("a", 110).set("c", 90);
    of.tell({ kind: "settled" });
    expect(of.reports).toHaveLength(1);
    expect(of.reports[0]).toMatch(/uses 10\.0 % of the average more than its part/);
  });

  it("does not look at claims, nor at nodes that are down", () => {
    const claims = new AuctionStage().begin(BalanceChecker, "claim");
    claims.used.set("a", 500);
    claims.tell({ kind: "settled" });
    expect(claims.reports).toEqual([]);
    const down = new AuctionStage().begin(BalanceChecker);
    down.used.set("a", 100).set("b", 100);
    down.node("c").up = false;
    down.tell({ kind: "settled" });
    expect(down.reports).toEqual([]);
  });
});

describe("promptness", () => {
  it("notices a median of 50 ms and more from the last answer to the close", () => {
    const after = (ms: number): string[] => {
      const of = new AuctionStage().begin(PromptnessChecker);
      of.bid("a", R0, 500);
      of.nowMs += 1_000;
      of.pass("b", R0);
      of.nowMs += ms;
      of.close(R0, "a");
      of.tell({ kind: "settled" });
      return of.reports;
    };
    expect(after(49)).toEqual([]);
    expect(after(50)).toEqual(["kv: the median of 1 rounds is closed 50.0 ms after its last answer"]);
  });
});
