import { expect, test } from "vitest";
import { requiredLiteral } from "./literal.ts";
import { parseRegex } from "./parse.ts";

/** As text, with `?` where not all bits count (besides those of case), and how far a match reaches around it. */
function literalOf(pattern: string): unknown[] {
  const { literal, whole, before, after } = requiredLiteral(
    parseRegex(pattern, { caseSensitive: true, withinLines: true }),
  );
  const text = Array.from(literal?.bytes ?? [], (byte, i) =>
    literal?.mask[i] === 0 || literal?.mask[i] === 0x20 ? String.fromCharCode(byte) : "?",
  ).join("");
  return [text, whole, before, after];
}

test.each([
  ["abc", "abc", true, 0, 0],
  [String.raw`function\(\w,\w\)\{return`, "function(?,?){return", false, 0, 0],
  [String.raw`\d\dab[cd]\d`, "??ab??", false, 0, 0],
  [String.raw`[0-9]{4}-[0-9]{2}-`, "????-??-", false, 0, 0],
  [String.raw`[0-9]{9}\w`, "????????", false, 0, 2],
  ["ab{2,}c", "abb", false, 0, Infinity],
  ["[bc]{1,3}z", "z", false, 3, 0],
  ["é[à-ï]x", "\xc3\xa9\xc3?x", false, 0, 0],
  ["(a|b)cd", "cd", false, 1, 0],
  [String.raw`a\w+b\wcd`, "b?cd", false, Infinity, 0],
  [String.raw`ab.cd[ef]gh`, "cd?gh", false, 6, 0],
  [String.raw`\w\d`, "?", false, 1, 0],
  ["(?i)a[bx]z", "a?z", false, 0, 0],
])("%s must have %s", (pattern, ...expected) => {
  expect(literalOf(pattern)).toEqual(expected);
});
