import { describe, expect, test } from "vitest";
import { isFresh, judge, type Try, type Verdict } from "./judge.ts";
import { TransportError, type NodeReply } from "./transport.ts";

const tried: Try = {
  node: "a",
  address: "a:1",
  repeatable: false,
  mayFollow: true,
  floor: { era: 1, revision: 5 },
};
const hint = { node: "b", address: "b:1" };

const brief = (verdict: Verdict): string =>
  verdict.kind === "follow"
    ? `follow ${verdict.hint.node}`
    : `${verdict.kind} ${verdict.failure.code}${verdict.failure.unknown ? " unknown" : ""}${verdict.failure.reached ? "" : " free"}`;

const outcomes: [name: string, outcome: NodeReply | TransportError, read: string, write: string][] = [
  [
    "a former holder's answer",
    { kind: "ok", epoch: { era: 1, revision: 4 }, body: 1 },
    "retry STALE",
    "fail STALE unknown",
  ],
  ["not-owner with a hint", { kind: "not-owner", hint }, "follow b", "follow b"],
  ["not-owner without one", { kind: "not-owner" }, "retry NO_HOLDER", "retry NO_HOLDER"],
  [
    "a hint to itself",
    { kind: "not-owner", hint: { node: "a", address: "a:1" } },
    "retry NO_HOLDER",
    "retry NO_HOLDER",
  ],
  ["warming", { kind: "warming", progress: 0.4 }, "retry WARMING", "retry WARMING"],
  ["overloaded", { kind: "overloaded", reason: "full" }, "retry OVERLOADED", "retry OVERLOADED"],
  ["quarantined", { kind: "quarantined", reason: "crashes" }, "fail QUARANTINED", "fail QUARANTINED"],
  [
    "the service's own error",
    { kind: "error", code: "BAD_QUERY", message: "no" },
    "fail BAD_QUERY",
    "fail BAD_QUERY",
  ],
  [
    "an outcome the node does not know",
    { kind: "error", code: "OUTCOME_UNKNOWN", message: "?" },
    "retry OUTCOME_UNKNOWN unknown",
    "fail OUTCOME_UNKNOWN unknown",
  ],
  [
    "unreachable",
    new TransportError("UNREACHABLE", "refused"),
    "retry UNREACHABLE free",
    "retry UNREACHABLE free",
  ],
  ["a timeout", new TransportError("TIMEOUT", "5 ms"), "retry TIMEOUT", "fail TIMEOUT unknown"],
  ["a cut connection", new TransportError("CUT", "reset"), "retry CUT", "fail CUT unknown"],
];

describe("judge", () => {
  test.each(outcomes)("%s", (_, outcome, read, write) => {
    expect(brief(judge(outcome, { ...tried, repeatable: true }))).toBe(read);
    expect(brief(judge(outcome, tried))).toBe(write);
  });

  test("follows no more hints when enough were followed", () => {
    expect(brief(judge({ kind: "not-owner", hint }, { ...tried, mayFollow: false }))).toBe("retry NO_HOLDER");
  });

  test("says what to do about a write whose outcome is unknown", () => {
    const verdict = judge(new TransportError("TIMEOUT", "no answer within 5 ms"), tried);
    expect(verdict).toMatchObject({
      failure: {
        text: "no answer from node a (no answer within 5 ms): the write may have been carried out, so read before you write again",
      },
    });
  });
});

describe("isFresh", () => {
  test("takes an answer at or above what was known, and anything when nothing was", () => {
    expect(isFresh({ era: 1, revision: 5 }, tried.floor)).toBe(true);
    expect(isFresh({ era: 2, revision: 1 }, tried.floor)).toBe(true);
    expect(isFresh({ era: 1, revision: 4 }, tried.floor)).toBe(false);
    expect(isFresh({ era: 1, revision: 1 }, undefined)).toBe(true);
  });
});
