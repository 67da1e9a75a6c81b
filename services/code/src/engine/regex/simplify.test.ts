import { expect, test } from "vitest";
import { parseRegex } from "./parse.ts";
import { simplify } from "./simplify.ts";

const parsed = (pattern: string) => parseRegex(pattern, { caseSensitive: true });

test.each([
  ["(a|b)c(d|[x-z]|e)", "[ab]c[dex-z]"],
  ["a|b|cd|e|f", "(?:[ab]|cd|[ef])"],
  ["(?:(?:a|b)|c)+", "[a-c]+"],
  ["a||b", "a||b"],
])("%s is %s", (pattern, simple) => {
  expect(simplify(parsed(pattern))).toEqual(parsed(simple));
});

test("an alternative that is preferred stays before those after it", () => {
  expect(simplify(parsed("ab|a|b"))).toEqual(parsed("ab|[ab]"));
});
