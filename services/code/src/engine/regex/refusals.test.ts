import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { searchText } from "../fixtures/text-search.ts";
import { parseRegex } from "./parse.ts";

/** What means something in an expression, and letters that mean something behind it. */
const signs = [
  ...Array.from("()[]{}*+?|^$\\.-abismUP<>:QEpL12,0xé!=# "),
  "(?",
  "(?i)",
  "(?P<",
  "[:alpha:]",
  "\\Q",
  "\\E",
  "\\p",
  "\\x",
  "{2}",
  "\\C",
  "\\8",
  "\\_",
  "\\é",
];

function refused(accept: () => unknown): boolean {
  try {
    accept();
    return false;
  } catch {
    return true;
  }
}

test("refuses what RE2 refuses and nothing else, for signs thrown together", () => {
  let state = 2_654_435_761;
  const random = (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
  const differences: unknown[] = [];
  let accepted = 0;
  for (let i = 0; i < 3000; i += 1) {
    const source = Array.from({ length: 1 + random(8) }, () => signs[random(signs.length)]!).join("");
    const theirs = refused(() => RE2JS.compile(source));
    if (!theirs) accepted += 1;
    for (const syntaxOnly of [true, false]) {
      const ours = refused(() => parseRegex(source, { caseSensitive: true, syntaxOnly }));
      if (ours !== theirs) differences.push({ source, syntaxOnly, ours, theirs });
    }
  }
  expect(differences).toEqual([]);
  expect(accepted).toBeGreaterThan(300);
}, 60_000);

test.each([
  ["ab(?i)*", "abbB", "0,3"],
  ["a*(?i)+b", "aab", "0,3"],
  ["ab\\Q\\E{2}", "ab abb", "3,6"],
  ["\\Qab\\E{2}", "abb", "0,3"],
  ["(?)a", "ba", "1,2"],
])("repeats what stands before flags and empty quotations in %s", (pattern, text, found) => {
  const query = { kind: "regex", pattern, caseSensitive: true, scope: "content" } as const;
  expect(String(searchText(query, text))).toBe(found);
});

test("has no place in the class C that nobody has made a character yet", () => {
  const query = { kind: "regex", pattern: "\\pC", caseSensitive: true, scope: "content" } as const;
  expect(searchText(query, "a\u{10ffff}\u0378\u0007\u{e000}b")).toEqual([
    [7, 8],
    [8, 11],
  ]);
});

test("refuses to stack repetitions without end", () => {
  expect(() => parseRegex(`a${"*(?i)".repeat(100_000)}*`, { caseSensitive: true })).toThrow(
    /nested too deeply/,
  );
});
