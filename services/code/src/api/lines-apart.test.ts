import { expect, test } from "vitest";
import type { LineMatch, MatchRange } from "../engine/index.ts";
import { linesApart, type LineApart } from "./lines-apart.ts";

const range = (start: number, end: number): MatchRange => ({
  start: { offset: start, line: 1, column: start + 1 },
  end: { offset: end, line: 1, column: end + 1 },
});

function match(text: string, ranges: readonly MatchRange[]): LineMatch {
  return { line: 1, start: 0, end: text.length, text: Buffer.from(text), score: 1, ranges };
}

const placesOf = ({ line, ranges }: LineApart): unknown[] => [
  line,
  ...ranges.map(({ start, end }) => [start.offset, end.offset]),
];

test("each line has its parts of what crosses it, and the whole matches on it", () => {
  const lines = [...linesApart([match("aab\n\ncc\nd", [range(0, 1), range(1, 1), range(2, 9)])], 0)];
  expect(lines.flatMap((each) => (each === undefined ? [] : [placesOf(each)]))).toEqual([
    [1, [0, 1], [1, 1], [2, 3]],
    [3, [5, 7]],
    [4, [8, 9]],
  ]);
});

test("a match over many lines after many others on its first is gone through once, and others get their turn meanwhile", () => {
  const [before, lines] = [20_000, 100_000];
  const text = `${"a".repeat(before)}b${"\nx".repeat(lines)}`;
  const ranges = [...Array.from({ length: before }, (_, i) => range(i, i + 1)), range(before, text.length)];
  const counted = ranges.map((each) => ({
    ...each,
    get end() {
      looks += 1;
      return each.end;
    },
  }));
  let looks = 0;
  let most = 0;
  let shown = 0;
  let sinceTurn = 0;
  for (const each of linesApart([match(text, counted)], 0)) {
    sinceTurn = each === undefined ? 0 : sinceTurn + 1;
    most = Math.max(most, sinceTurn);
    if (each !== undefined) shown += 1;
  }
  expect(shown).toBe(lines + 1);
  // A few for each match and each line, instead of one for each match on each line.
  expect(looks).toBeLessThan(10 * (before + lines));
  expect(most).toBeLessThanOrEqual(500);
}, 60_000);

test("empty lines, of which nothing is shown, give others their turn too", () => {
  const text = "\n".repeat(10_000);
  const given = [...linesApart([match(text, [range(0, text.length)])], 0)];
  expect(given.filter((each) => each === undefined).length).toBeGreaterThanOrEqual(19);
  expect(given.flatMap((each) => (each === undefined ? [] : [placesOf(each)]))).toEqual([
    [10_000, [9_999, 9_999]],
  ]);
});
