import { expect, test } from "vitest";
import { bestLines } from "./best-lines.ts";
import { TermCounts } from "./bm25.ts";
import { fileScore, pathScore, wordScore } from "./score.ts";
import { kindWorth } from "./symbol-kind.ts";

function word(text: string, found: string): number {
  const bytes = Buffer.from(text);
  const at = bytes.indexOf(found);
  return wordScore(bytes, 0, bytes.length, at, at + Buffer.byteLength(found));
}

test("a whole word is worth more than a part that ends with one, and that more than letters in the midst", () => {
  expect(word("a name = 1", "name")).toBe(500);
  expect(word("name", "name")).toBe(500);
  for (const text of ["fileName", "Name2", "my_Name", "aNameB"]) expect(word(text, "Name")).toBe(450);
  expect(word("a names", "name")).toBe(50);
  expect(word("rename", "name")).toBe(50);
  expect(word("renamed", "name")).toBe(0);
  // A character beyond ASCII is a letter.
  expect(word("éname", "name")).toBe(450);
  expect(word("naméé", "namé")).toBe(50);
});

function inPath(path: string, found: string): number {
  const bytes = Buffer.from(`xx${path}yy`);
  const at = bytes.indexOf(found);
  const base = 2 + path.lastIndexOf("/") + 1;
  return pathScore(bytes, 2, bytes.length - 2, base, at, at + found.length);
}

test("the name of a file is worth more than one of its edges, that more than its midst, and a folder only its word", () => {
  expect(inPath("a/b/config.go", "config.go")).toBe(7500);
  expect(inPath("config", "config")).toBe(7500);
  expect(inPath("a/b/config.go", "config")).toBe(6000);
  expect(inPath("a/b/my.config.go", "config")).toBe(4500);
  expect(inPath("a/config/d.go", "config")).toBe(500);
  expect(inPath("a/config/d.go", "config/d")).toBe(500);
  expect(inPath("a/config/d.go", "onfig/d.go")).toBe(5550);
});

test("what a definition is worth depends on its kind and its language", () => {
  const worth = (language: string, kind: string, first = "a", path = "a"): number =>
    kindWorth(language, kind, first, () => path);
  expect(
    [
      "class",
      "struct",
      "enum",
      "interface",
      "type",
      "function",
      "member",
      "constant",
      "variable",
      "label",
    ].map((kind) => worth("", kind)),
  ).toEqual([1000, 950, 900, 800, 800, 700, 550, 500, 400, 100]);
  expect(
    ["interface", "struct", "methodSpec", "func", "member", "const", "var"].map((kind) => worth("Go", kind)),
  ).toEqual([1000, 900, 850, 800, 700, 600, 500]);
  expect(worth("Go", "func", "A")).toBe(850);
  expect(worth("Go", "func", "É")).toBe(850);
  expect(worth("Go", "func", "A", "a/b_test.go")).toBe(680);
  expect(["method", "enumConstant"].map((kind) => worth("Java", kind))).toEqual([700, 500]);
  expect(["struct", "typedef", "union"].map((kind) => worth("C++", kind))).toEqual([700, 500, 600]);
  expect(["method", "module", "singletonMethod", "accessor"].map((kind) => worth("Ruby", kind))).toEqual([
    900, 700, 600, 400,
  ]);
  expect(["function", "member", "variable"].map((kind) => worth("Python", kind))).toEqual([800, 400, 300]);
  expect(["trait", "define", "local"].map((kind) => worth("PHP", kind))).toEqual([700, 600, 300]);
  expect(["chapter", "section", "subsection"].map((kind) => worth("Markdown", kind))).toEqual([
    400, 300, 200,
  ]);
  expect(worth("Kotlin", "typealias")).toBe(700);
  expect(worth("Scala", "object")).toBe(800);
  expect(worth("GraphQL", "type")).toBe(1000);
  expect(worth("Go", "__proto__")).toBe(100);
});

test("no match lifts a file over one of a better category, and several atoms lift it within its own", () => {
  expect(fileScore(0, 1, 0, 1)).toBeGreaterThan(fileScore(9_000, 64, 1, 1));
  expect(fileScore(500, 3, 0, 1) - fileScore(500, 1, 0, 1)).toBe(266);
});

test("words are worth more the more often they are found, in less text, and never more than a bound each", () => {
  const score = (counts: readonly number[], ratio: number, isLess = false): number => {
    const terms = new TermCounts();
    for (const [term, count] of counts.entries()) for (let i = 0; i < count; i += 1) terms.add(term, false);
    return terms.score(ratio, isLess);
  };
  expect(score([14], 1)).toBeCloseTo(2.026, 3);
  expect(score([5], 0)).toBeCloseTo(2.075, 3);
  expect(score([5], 0, true)).toBeCloseTo(1.692, 3);
  expect(score([1, 1], 1)).toBeGreaterThan(score([1_000], 1) * 0.9);
  expect(score([3], 2)).toBeLessThan(score([3], 1));
  const named = new TermCounts();
  named.add(0, true);
  expect(named.score(1, false)).toBe(score([5], 1));
});

test("of more lines than can be shown the best are, and of equal ones the first", () => {
  expect(bestLines([1, 9, 9, 5], [1, 2, 2, 1], 3)).toEqual([0, 2, 1, 0]);
  expect(bestLines([1, 9, 9, 5], [1, 2, 2, 1], 5)).toEqual([0, 2, 2, 1]);
  expect(bestLines([1, 1, 1], [1, 1, 1], 2)).toEqual([1, 1, 0]);
  expect(bestLines([3, 1], [4, 4], 100)).toEqual([4, 4]);
});
