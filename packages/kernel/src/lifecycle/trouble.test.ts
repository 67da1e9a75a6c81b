import { expect, test } from "vitest";
import { terms } from "../tenure/terms.ts";
import { judgeTrouble, struck, type Trouble } from "./trouble.ts";

const t = terms();
const strikes = (n: number): Trouble => ({
  v: 1,
  strikes: n,
  last: { node: "a", what: "open failed", message: "no disk" },
});

test("one strike delays nothing: a healthy shard may lose its holder", () => {
  expect(judgeTrouble(undefined, 0, 0, t)).toEqual({ kind: "free" });
  expect(judgeTrouble(strikes(1), 0, 0, t)).toEqual({ kind: "free" });
});

test("from two strikes on a grant waits longer each time", () => {
  expect(judgeTrouble(strikes(2), 100, 100, t)).toEqual({ kind: "wait", until: 1_100 });
  expect(judgeTrouble(strikes(3), 100, 100, t)).toEqual({ kind: "wait", until: 2_100 });
  expect(judgeTrouble(strikes(3), 100, 2_100, t)).toEqual({ kind: "free" });
});

test("a shard with too many strikes is quarantined, and tried again after a long while", () => {
  expect(judgeTrouble(strikes(5), 0, 599_999, t)).toEqual({ kind: "quarantined", until: 600_000 });
  expect(judgeTrouble(strikes(5), 0, 600_000, t)).toEqual({ kind: "free" });
});

test("strikes add up and remember the last one", () => {
  const once = struck(undefined, { node: "a", what: "holder lost", message: "1 s" });
  expect(struck(once, { node: "b", what: "open failed", message: "x" })).toEqual({
    v: 1,
    strikes: 2,
    last: { node: "b", what: "open failed", message: "x" },
  });
});
