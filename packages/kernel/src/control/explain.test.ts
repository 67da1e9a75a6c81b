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
