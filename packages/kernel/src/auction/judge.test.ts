import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judgeAuction, type Answer, type Auction, type BidAnswer } from "./judge.ts";

const WINDOW = 60_000;

function bid(node: string, freeBytes: number, given: Partial<BidAnswer> = {}): BidAnswer {
  return {
    node,
    session: `s-${node}`,
    revision: 10,
    seenAt: 0,
    maxBids: 0,
    freeBytes,
    neighbours: 0,
    away: 0,
    ...given,
  };
}
function pass(node: string, given: Partial<Answer> = {}): Answer {
  return { node, revision: 20, seenAt: 0, maxBids: 0, ...given };
}
function auction(given: Partial<Auction>): Auction {
  return {
    bids: [],
    passes: [],
    expected: new Set(["a", "b", "c"]),
    configured: undefined,
    minBytes: 0,
    neighboursMax: Infinity,
    awayMax: Infinity,
    gone: new Set(),
    ...given,
  };
}
const judge = (given: Partial<Auction>, now = 0) => judgeAuction(auction(given), WINDOW, now);
const winner = (given: Partial<Auction>, now = 0): string | undefined => {
  const verdict = judge(given, now);
  return verdict.kind === "won" ? verdict.ranked[0]!.node : undefined;
};

describe("who wins", () => {
  test("the highest free memory", () => {
    expect(winner({ bids: [bid("a", 5), bid("b", 7), bid("c", 6)] })).toBe("b");
  });

  test("the earlier of equal bids, whatever the names", () => {
    const bids = [bid("a", 7, { revision: 12 }), bid("b", 7, { revision: 11 }), bid("c", 6)];
    expect(winner({ bids })).toBe("b");
  });

  test("never a bid below the footprint, however high the others passed", () => {
    expect(winner({ bids: [bid("a", 5)], passes: [pass("b"), pass("c")], minBytes: 5 })).toBe("a");
    expect(judge({ bids: [bid("a", 4)], passes: [pass("b"), pass("c")], minBytes: 5 }).kind).toBe("empty");
  });

  test("a bid from a zone without another replica of the shard, before all that share one", () => {
    const bids = [bid("a", 9, { neighbours: 1 }), bid("b", 5), bid("c", 6)];
    expect(winner({ bids })).toBe("c");
    expect(winner({ bids: [bid("a", 9, { neighbours: 1 })], passes: [pass("b"), pass("c")] })).toBe("a");
  });

  test("never a bid from a more crowded zone when the replica is well where it is", () => {
    const bids = [bid("a", 9, { neighbours: 1 })];
    expect(judge({ bids, passes: [pass("b"), pass("c")], neighboursMax: 0 }).kind).toBe("empty");
  });

  test("the nearest zone goes before free memory, and after being alone in a zone", () => {
    const bids = [bid("a", 9, { away: 2 }), bid("b", 5), bid("c", 7, { away: 1 })];
    expect(winner({ bids })).toBe("b");
    expect(
      winner({ bids: [bid("a", 9, { away: 2 }), bid("b", 5, { neighbours: 1 })], passes: [pass("c")] }),
    ).toBe("a");
  });

  test("what is moved does not go farther away than it is", () => {
    const bids = [bid("a", 9, { away: 2 })];
    expect(judge({ bids, passes: [pass("b"), pass("c")], awayMax: 1 }).kind).toBe("empty");
  });

  test("the next best when the winner's session is gone", () => {
    const bids = [bid("a", 5), bid("b", 7), bid("c", 6)];
    expect(winner({ bids, gone: new Set(["s-b"]) })).toBe("c");
  });
});

describe("when it closes", () => {
  test("it rests until somebody bids, even when some have passed", () => {
    expect(judge({}).kind).toBe("resting");
    expect(judge({ passes: [pass("a"), pass("b")] })).toEqual({ kind: "resting", missing: ["c"] });
    expect(judge({ passes: [pass("a"), pass("b")] }, 10 * WINDOW).kind).toBe("resting");
  });

  test("it is open while answers are missing, and says whose", () => {
    expect(judge({ bids: [bid("b", 5, { seenAt: 100 })], passes: [pass("a")] }, 200)).toEqual({
      kind: "open",
      openedAt: 100,
      until: 100 + WINDOW,
      needed: 3,
      answers: 2,
      missing: ["c"],
    });
  });

  test("bids and passes together close it early", () => {
    const verdict = judge({ bids: [bid("b", 5)], passes: [pass("a"), pass("c")] });
    expect(verdict).toMatchObject({ kind: "won", how: "short-circuited", answers: 3, needed: 3 });
  });

  test("a node that both passed and bid is one answer", () => {
    expect(judge({ bids: [bid("a", 5)], passes: [pass("a"), pass("b")] }).kind).toBe("open");
  });

  test("the window after the first bid is a hard stop, counted from when that was seen", () => {
    const given = { bids: [bid("b", 5, { seenAt: 100, maxBids: 99 })], configured: 99 };
    expect(judge(given, 100 + WINDOW - 1).kind).toBe("open");
    expect(judge(given, 100 + WINDOW)).toMatchObject({ kind: "won", how: "timed out" });
  });

  test("a bid that came after the window does not win", () => {
    const bids = [bid("a", 5, { seenAt: 0 }), bid("b", 9, { seenAt: WINDOW + 1, revision: 30 })];
    expect(winner({ bids }, WINDOW + 2)).toBe("a");
  });

  test("when all have passed it is empty", () => {
    expect(judge({ passes: [pass("a"), pass("b"), pass("c")] })).toMatchObject({ kind: "empty", answers: 3 });
  });

  test("a configured number does not make it empty before all have passed", () => {
    expect(judge({ passes: [pass("a"), pass("b")], configured: 2 }).kind).toBe("resting");
  });
});

describe("maxBids in force", () => {
  test("a configured number closes it, less or more than there are bidders", () => {
    expect(judge({ bids: [bid("a", 1, { maxBids: 1 })], configured: 1 }).kind).toBe("won");
    const all = { bids: [bid("a", 1, { maxBids: 4 })], passes: [pass("b"), pass("c")], configured: 4 };
    expect(judge(all).kind).toBe("open");
  });

  test("a decrease does not cut a running round short", () => {
    const bids = [bid("a", 1, { maxBids: 3, revision: 5 }), bid("b", 2, { maxBids: 2, revision: 6 })];
    expect(judge({ bids, configured: 2 })).toMatchObject({ kind: "open", needed: 3 });
    expect(judge({ bids: bids.slice(1), configured: 2, passes: [pass("c")] }).kind).toBe("won");
  });

  test("an increase is honoured", () => {
    const bids = [bid("a", 1, { maxBids: 1 })];
    expect(judge({ bids, configured: 2 })).toMatchObject({ kind: "open", needed: 2 });
  });

  test("a number configured below the live bidders while a round runs waits for them all the same", () => {
    expect(judge({ bids: [bid("a", 1)], configured: 1 })).toMatchObject({ kind: "open", needed: 3 });
  });
});

const nodes = ["a", "b", "c", "d", "e"];
const answers = fc.record({
  bidders: fc.uniqueArray(fc.constantFrom(...nodes), { maxLength: 5 }),
  passers: fc.uniqueArray(fc.constantFrom(...nodes), { maxLength: 5 }),
  expected: fc.uniqueArray(fc.constantFrom(...nodes), { minLength: 1 }),
  free: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 5, maxLength: 5 }),
  seen: fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 5, maxLength: 5 }),
  minBytes: fc.integer({ min: 0, max: 4 }),
  configured: fc.option(fc.integer({ min: 1, max: 7 }), { nil: undefined }),
  gone: fc.uniqueArray(fc.constantFrom(...nodes), { maxLength: 2 }),
  now: fc.integer({ min: 0, max: 300 }),
});

test("over all answers: a winner has the most free of those that count, and closes only when full or over", () => {
  fc.assert(
    fc.property(answers, (given) => {
      const at = (node: string) => nodes.indexOf(node);
      const bids = given.bidders.map((node) =>
        bid(node, given.free[at(node)]!, { seenAt: given.seen[at(node)]!, revision: 100 + at(node) }),
      );
      const passes = given.passers.map((node) => pass(node));
      const gone = new Set(given.gone.map((node) => `s-${node}`));
      const expected = new Set(given.expected);
      const { minBytes, configured } = given;
      const verdict = judgeAuction(
        auction({ bids, passes, expected, configured, minBytes, gone }),
        100,
        given.now,
      );
      const alive = bids.filter(({ session }) => !gone.has(session));
      const answered = new Set([...alive, ...passes].map(({ node }) => node));
      const dead = bids.filter(({ session }) => gone.has(session)).map(({ node }) => node);
      const everyone = [...expected].every((node) => answered.has(node) || dead.includes(node));
      const opened = Math.min(...alive.map(({ seenAt }) => seenAt));
      const over = given.now >= opened + 100;
      const inTime = alive.filter(({ seenAt }) => seenAt <= opened + 100);
      const best = Math.max(...inTime.map(({ freeBytes }) => freeBytes));
      const full = everyone && answered.size >= (configured ?? 0);
      const able = best >= minBytes;
      const due = alive.length > 0 ? full || over : everyone && answered.size > 0;
      const kind = !due ? (alive.length > 0 ? "open" : "resting") : able ? "won" : "empty";
      expect(verdict.kind).toBe(kind);
      expect(verdict.kind === "won" ? verdict.ranked[0]!.freeBytes : best).toBe(best);
    }),
    { numRuns: 500 },
  );
});
