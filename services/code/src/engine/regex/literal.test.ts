import { expect, test } from "vitest";
import { ANY_BYTE, requiredLiteral } from "./literal.ts";
import { parseRegex } from "./parse.ts";

/** As text, with `?` where any byte may stand, and how far a match reaches around it. */
function literalOf(pattern: string): unknown[] {
  const { literal, whole, before, after } = requiredLiteral(
    parseRegex(pattern, { caseSensitive: true, withinLines: true }),
  );
  const text = Array.from(literal?.bytes ?? [], (byte, i) =>
    literal?.mask[i] === ANY_BYTE ? "?" : String.fromCharCode(byte),
  ).join("");
  return [text, whole, before, after];
}

test.each([
  ["abc", "abc", true, 0, 0],
  [String.raw`function\(\w,\w\)\{return`, "function(?,?){return", false, 0, 0],
  [String.raw`\d\dab[cd]\d`, "ab", false, 2, 2],
  [String.raw`[0-9]{4}-[0-9]{2}-`, "-??-", false, 4, 0],
  [String.raw`a\w+b\wcd`, "b?cd", false, Infinity, 0],
  [String.raw`ab.cd[ef]gh`, "cd?gh", false, 6, 0],
  [String.raw`\w\d`, "", false, 0, 2],
  ["(?i)a[bx]z", "a?z", false, 0, 0],
])("%s must have %s", (pattern, ...expected) => {
  expect(literalOf(pattern)).toEqual(expected);
});
