import { expect, test } from "vitest";
import { Keys } from "../identity/keys.ts";
import type { Plan } from "../placement/plan.ts";
import type { Entry } from "../store/contract.ts";
import { explain, renderExplanation, type ExplainSources } from "./explain.ts";

const keys = new Keys("f");

function sources(...entries: Entry[]): ExplainSources {
  const plan: Plan = {
    viewN: 3,
    parameters: { shards: 8, replicas: 1, placement: {} },
    lines: new Map([["s/7/0", { candidates: ["a", "b"], reason: "first on the ring" }]]),
  };
  return {
    keys,
    plan,
    get: (key) => entries.find((entry) => entry.key === key),
    entries: () => entries,
    decisions: () => [{ at: 5, node: "a", kind: "refused", replica: "s/7/0", reason: "the era was closed" }],
  };
}

const tenure = (revision: number): Entry => ({
  key: keys.tenure("s/7/0"),
  revision,
  value: JSON.stringify({
    v: 1,
    node: "b",
    boot: "x",
    session: "y",
    era: 2,
    address: "b:1",
    how: "hand-over",
    reason: "a is leaving",
    from: "a",
    since: 9,
  }),
});

test("says who holds it, since when, at which epoch, why, what is planned, and what was refused", () => {
  const explanation = explain(sources(tenure(40)), "s", "7");
  const text = renderExplanation(explanation!, (ms) => `t${ms}`);
  expect(text).toBe(
    [
      "s/7",
      "  replica 0: held by b (b:1) since t9, epoch 2.40",
      "    why: hand-over from a: a is leaving",
      "    plan: a, then b: first on the ring",
      "    t5 a refused: the era was closed",
    ].join("\n"),
  );
});

test("says when nobody holds it, who is getting ready, and what is held against it", () => {
  const contender = {
    key: keys.contender("s/7/0", "b"),
    revision: 41,
    value: JSON.stringify({ phase: "preparing", progress: 0.4 }),
  };
  const trouble = {
    key: keys.trouble("s/7"),
    revision: 42,
    value: JSON.stringify({ v: 1, strikes: 2, last: { node: "a", what: "open failed", message: "no disk" } }),
  };
  const text = renderExplanation(explain(sources(contender, trouble), "s", "7")!, String);
  expect(text).toContain("held by nobody");
  expect(text).toContain("contender: b, preparing (40 %)");
  expect(text).toContain("trouble: 2 strikes, the last: open failed on a: no disk");
});

test("a shard that does not exist has no explanation", () => {
  expect(explain(sources(), "s", "99")).toBeUndefined();
});

test("shows what an open auction has heard, why bidders passed, and how the last round ended", () => {
  const auction = (part: "round" | "bidder" | "pass", about: string, value: object): Entry => ({
    key: keys.auction("s", part, about),
    revision: 50,
    value: JSON.stringify(value),
  });
  const bid = (freeBytes: number, round = 3): object => {
    const lot = { round: 3, tenure: 0, maxBids: 0, bytes: 2 ** 10 };
    return {
      freeBytes,
      lots: [
        { ...lot, replica: "s/6/0" },
        { ...lot, round, replica: "s/7/0" },
      ],
    };
  };
  const seat = { boot: "", session: "", address: "", budgetBytes: 2 ** 30 };
  const pass = { session: "", tenure: 0, maxBids: 0 };
  const found = explain(
    sources(
      auction("round", "s/7/0", { n: 2, empties: 1, unheldAt: 0, last: "round 2: nobody of 3 has room" }),
      auction("bidder", "a", { ...seat, node: "a", bid: bid(2 ** 20) }),
      auction("bidder", "b", { ...seat, node: "b", bid: bid(2 ** 21) }),
      auction("bidder", "c", { ...seat, node: "c", bid: bid(2 ** 30, 2) }),
      // As the version before wrote it.
      auction("bidder", "f", { ...seat, node: "f", bid: { replica: "s/7/0", round: 3, freeBytes: 9 } }),
      auction("pass", "s/7/0/d", { ...pass, node: "d", round: 3, reason: "needs 3.0 MiB, has 1.0 MiB" }),
      auction("pass", "s/7/0/e", { ...pass, node: "e", round: 2, reason: "long ago" }),
    ),
    "s",
    "7",
  )!;
  expect(found.replicas[0]?.auction?.bids.map(({ node }) => node)).toEqual(["b", "a"]);
  const text = renderExplanation(found, String);
  expect(text).toContain("last auction: round 2: nobody of 3 has room");
  expect(text).toContain("round 3: b bids 2.0 MiB free\n    round 3: a bids 1.0 MiB free\n");
  expect(text).toContain("round 3: d passes: needs 3.0 MiB, has 1.0 MiB");
  expect(text).toContain("nobody had room in the last round");
  expect(text).not.toContain("long ago");
});
