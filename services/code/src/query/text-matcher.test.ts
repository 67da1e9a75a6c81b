import fc from "fast-check";
import { expect, test } from "vitest";
import { foldSet } from "../engine/regex/case-fold.ts";
import { unicodeSet } from "../engine/regex/char-set.ts";
import { matchText, prepareText, regexProblem } from "./text-matcher.ts";

test("a table of Unicode that was stopped again and again is the one that was made at once", () => {
  const inSteps = <T>(make: (checkpoint: () => void) => T): { made: T; stops: number } => {
    for (let stops = 0; ; stops += 1) {
      let looks = 0;
      try {
        const made = make(() => {
          if (++looks > 2) throw new RangeError("stopped");
        });
        return { made, stops };
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
    }
  };
  const { made, stops } = inSteps((checkpoint) => unicodeSet("Nd", checkpoint));
  expect(stops).toBeGreaterThan(2);
  const all: number[] = [];
  for (let at = 0; at <= 0x1_ffff; at += 1) if (/^\p{Nd}$/u.test(String.fromCodePoint(at))) all.push(at);
  const within: number[] = [];
  for (let i = 0; i < made!.length; i += 2)
    for (let at = made![i]!; at <= made![i + 1]!; at += 1) within.push(at);
  expect(within).toEqual(all);
  const folded = inSteps((checkpoint) => foldSet([0x3c3, 0x3c3], checkpoint));
  expect(folded.stops).toBeGreaterThan(2);
  expect(folded.made).toEqual([0x3a3, 0x3a3, 0x3c2, 0x3c3]);
});

test("others get their turn while the tables of Unicode are made, and what is found is the same", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  await prepareText(String.raw`(?i)\p{Lu}\PN[\p{^Greek}]\p{Nobody}`);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
  expect(matchText(String.raw`(?i)^\p{Lu}\PN\p{Greek}$`)("éxλ")).toBe(true);
  expect(matchText(String.raw`^\p{Lu}$`)("é")).toBe(false);
});

test.each([
  ["a/b", "github.com/a/b", true],
  ["^a", "ba", false],
  ["b$", "ab", true],
  [String.raw`\bgo\b`, "x-go-y", true],
  [String.raw`\bgo\b`, "xgoy", false],
  ["(?i)KEEL", "keelson", true],
  ["", "anything", true],
  ["ü+", "müü", true],
])("%s in %s", (pattern, text, found) => {
  expect(matchText(pattern)(text)).toBe(found);
});

test("agrees with V8 on simple expressions", () => {
  const part = fc.constantFrom(
    "a",
    "b",
    ".",
    "a*",
    "(a|b)+",
    "[ab]",
    "b?",
    "^",
    "$",
    String.raw`\b`,
    "c{1,2}",
  );
  const text = fc.array(fc.constantFrom("a", "b", "c", " "), { maxLength: 12 }).map((all) => all.join(""));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), text, (parts, name) => {
      const pattern = parts.join("");
      expect(matchText(pattern)(name)).toBe(new RegExp(pattern).test(name));
    }),
  );
});

test("one that needs more states than are kept agrees with V8 too, text after text", () => {
  const pattern = "a[ab]{10}c";
  const matches = matchText(pattern);
  const text = fc
    .array(fc.constantFrom("a", "b", "a", "b", "c"), { maxLength: 60 })
    .map((all) => all.join(""));
  fc.assert(
    fc.property(text, (name) => {
      expect(matches(name)).toBe(new RegExp(pattern).test(name));
    }),
    { numRuns: 500 },
  );
});

test("an expression that makes others explode takes no time", () => {
  const startedAt = performance.now();
  expect(matchText("(x+x+)+y")("x".repeat(500))).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

test("says what is wrong with an expression, and where", () => {
  expect(regexProblem("a(b")).toMatchObject({ at: expect.any(Number) as number });
  expect(regexProblem("ü[z-a]")?.at).toBeGreaterThan(0);
  expect(regexProblem("a+b")).toBeUndefined();
});

test.each(["{", "a{", "()", "[", "\\Q{", "a|", "\\pL"])(
  "an expression of thousands of %s is understood, or refused, before anyone waits for it",
  (part) => {
    const startedAt = performance.now();
    regexProblem(part.repeat(10_000));
    regexProblem(`${part.repeat(10_000)}}`);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  },
);

test("a brace that repeats nothing is a brace, and one that repeats too often is refused however many digits it has", () => {
  for (const pattern of ["a{", "a{,3}", "a{x}", "a{1,2", "{}", "a{1,2,3}"])
    expect(regexProblem(pattern)).toBeUndefined();
  expect(matchText("^a{,3}$")("a{,3}")).toBe(true);
  for (const digits of [4, 50, 500]) expect(regexProblem(`a{${"9".repeat(digits)}}`)).toBeDefined();
});
