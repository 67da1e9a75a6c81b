import { expect, test } from "vitest";
import { hashOf, linesOf } from "./line-hash.ts";
import { queryProblem } from "./query-problem.ts";
import { bytesOf, rangesOf, textOf } from "./text-bytes.ts";

test("lines in an address are read in any order, and nonsense is none", () => {
  expect(linesOf("#L10")).toEqual({ first: 10, last: 10 });
  expect(linesOf("#L20-L10")).toEqual({ first: 10, last: 20 });
  expect(linesOf("#L3-5")).toEqual({ first: 3, last: 5 });
  for (const bad of ["", "#L", "#L0", "#x", "#L1-", "#L99999999999"]) expect(linesOf(bad)).toBeUndefined();
  expect(hashOf({ first: 1, last: 2 })).toBe("#L1-L2");
});

test("ranges of bytes become ranges of characters, joined where they meet", () => {
  const bytes = new TextEncoder().encode("é ab 😀cd");
  const text = textOf(bytes);
  const ranges = rangesOf(bytes, text, [
    { LineOffset: 10, MatchLength: 2 },
    { LineOffset: 3, MatchLength: 1 },
    { LineOffset: 4, MatchLength: 1 },
  ]);
  expect(ranges.map(({ from, to }) => text.slice(from, to))).toEqual(["ab", "cd"]);
});

test("a line of megabytes beyond ASCII is gone through once, whatever its ranges", () => {
  const bytes = new TextEncoder().encode("é=1;".repeat(400_000));
  const parts = Array.from({ length: 20_000 }, (_, i) => ({ LineOffset: i * 100, MatchLength: 2 }));
  const text = textOf(bytes);
  const ranges = rangesOf(bytes, text, parts);
  expect(ranges).toHaveLength(20_000);
  expect(ranges.every(({ from, to }) => text.slice(from, to) === "é")).toBe(true);
});

test("base64 is read as bytes, whatever they are", () => {
  expect([...bytesOf(btoa("\u0000\u00ff"))]).toEqual([0, 255]);
});

test("the place of a mistake is taken out of what the gateway says", () => {
  expect(queryProblem('"or" needs something before it, at character 1\n  or a\n  ^')).toEqual({
    message: '"or" needs something before it',
    at: 0,
  });
  expect(queryProblem("Q is empty: say what to search for")).toEqual({
    message: "Q is empty: say what to search for",
    at: undefined,
  });
});
