import { describe, expect, test } from "vitest";
import { Hall } from "./fixtures/hall.ts";
import { readRecord, readRecordText } from "./reading.ts";
import type { Bidder, Footprint, Round } from "./records.ts";

const half = (): number => 0.5;

const seat = { v: 1, node: "a", boot: "b", session: "s", address: "a:1", budgetBytes: 100 };
const lot = { replica: "s/0/0", round: 1, tenure: 0, maxBids: 0, bytes: 10 };

describe("a stored record", () => {
  test("is read as it is, with fields that are not known", () => {
    const value = { ...seat, bid: { freeBytes: 50, lots: [lot] }, later: true };
    expect(readRecord("bidder", value)).toEqual({ value, problem: undefined });
    expect(readRecord("config", { v: 1 })).toEqual({ value: { v: 1 }, problem: undefined });
  });

  test("with a bid of the version before is a seat without a bid", () => {
    const bid = { replica: "s/0/0", round: 1, tenure: 0, freeBytes: 50, maxBids: 0 };
    expect(readRecord("bidder", { ...seat, bid })).toEqual({ value: seat, problem: "has no proper bid" });
  });

  test.each([
    ["bidder", { ...seat, budgetBytes: null }, "has no proper budgetBytes"],
    ["pass", { v: 1, node: "a" }, "has no proper session"],
    ["round", { v: 1, n: "7", empties: 0, unheldAt: 0, last: "" }, "has no proper n"],
    ["round", [], "is no object"],
    ["footprint", { v: 1, bytes: -1 }, "has no proper bytes"],
    ["override", { v: 1, zones: "here" }, "has no proper zones"],
    ["demand", 7, "is no object"],
  ] as const)("of another shape says nothing: %s %j", (part, value, problem) => {
    expect(readRecord(part, value)).toEqual({ value: undefined, problem });
  });

  test("may be a text that is no JSON, or a part that is not known", () => {
    expect(readRecordText("round", "{").problem).toBe("is no object");
    expect(readRecord("lottery" as "round", {}).problem).toMatch(/a kind that this version does not know/);
  });
});

describe("what lies below the keys of auctions and cannot be read", () => {
  const odd: readonly [string, unknown][] = [
    ["garbage", null],
    ["another shape", { v: 1, n: "x", bytes: "y", lots: 7 }],
    ["a number", 7],
    ["the last version's bid", { ...seat, node: "a", bid: { ...lot, freeBytes: 50 } }],
  ];

  test.each(odd)("keeps nobody from bidding, closing and writing there: %s everywhere", (_, value) => {
    const hall = new Hall([10, 10], half, { levelAt: 0 });
    const parts = ["config", "override", "bidder", "pass", "round", "award", "move", "footprint"] as const;
    const about = { override: "s/0", bidder: "a", pass: "s/0/0/a", footprint: "s/0" } as const;
    for (const part of parts) {
      const named = part === "config" ? "" : part in about ? about[part as keyof typeof about] : "s/0/0";
      hall.put(hall.keys.auction("s", part, named), value as object);
    }
    for (const part of ["evaluator", "demand"] as const)
      hall.put(hall.keys.auction("s", part), value as object);
    hall.put(`${hall.keys.prefix}auction/s/lottery/0`, value as object);
    hall.join("a", 100);
    hall.join("b", 50);
    hall.run(4_000);
    expect([hall.holder("s/0/0"), hall.holder("s/1/0")]).toEqual(["a", "a"]);
    expect(hall.read<Bidder>(hall.keys.auction("s", "bidder", "a"))?.value.session).toBe("s-a");
    expect(hall.read<Round>(hall.keys.auction("s", "round", "s/0/0"))?.value.n).toBe(1);
    expect(hall.broken).toEqual([]);
  });

  test("is told of once for each write, with what is wrong", () => {
    const hall = new Hall([10], half);
    const { machine } = hall.join("a", 100);
    hall.run(10);
    machine.feed("round", "0/0", { value: 7, revision: 5 }, hall.now);
    const told = machine.step(hall.now).filter((action) => action.kind === "decided");
    expect(told).toEqual([
      {
        kind: "decided",
        decision: "refused",
        replica: undefined,
        reason: "ignores auction/s/round/0/0: it is no object",
      },
    ]);
    expect(machine.step(hall.now).filter((action) => action.kind === "decided")).toEqual([]);
  });

  test("takes no size of a shard for nothing, and the holder writes the footprint anew", () => {
    const hall = new Hall([10], half);
    hall.put(hall.keys.auction("s", "footprint", "s/0"), { v: 1, bytes: null });
    const { machine, host } = hall.join("a", 100);
    hall.run(2_000);
    expect(machine.market.sizeOf({ shard: "0", shardKey: "s/0" })).toBe(10);
    host.prepared("s/0/0");
    host.step(hall.now);
    host.activated("s/0/0", host.local("s/0/0")!.hold!.epoch, hall.now);
    hall.run(2_000);
    expect(hall.read<Footprint>(hall.keys.auction("s", "footprint", "s/0"))?.value.bytes).toBe(10);
  });
});
