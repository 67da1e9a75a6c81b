import { expect, test, vi } from "vitest";
import { grammarOf } from "./grammar.ts";
import { LineColours } from "./line-colours.ts";
import { segments, windowOf } from "./segments.ts";
import { tokenize } from "./tokens.ts";

const script = grammarOf("TypeScript");

/** What is coloured, as `kind:text`. */
function coloured(line: string, language = "TypeScript", state = 0): string[] {
  return tokenize(line, grammarOf(language), state).tokens.map(
    ({ from, to, kind }) => `${kind}:${line.slice(from, to)}`,
  );
}

test("words, strings, numbers, types, calls and comments get their colours", () => {
  expect(coloured('const a = new Map(0x1f, "b\\"c"); // end')).toEqual([
    "word:const",
    "word:new",
    "call:Map",
    "number:0x1f",
    'string:"b\\"c"',
    "comment:// end",
  ]);
  expect(coloured("def f(x): # no", "Python")).toEqual(["word:def", "call:f", "comment:# no"]);
  expect(coloured("SELECT 1 -- no", "SQL")).toEqual(["word:SELECT", "number:1", "comment:-- no"]);
  expect(coloured("anything 'at all'", "No such language")).toEqual([]);
});

test("a comment goes on over lines until it is closed", () => {
  const first = tokenize("a /* b", script);
  expect(first.state).toBe(1);
  const second = tokenize("still", script, first.state);
  expect(second).toEqual({ tokens: [{ from: 0, to: 5, kind: "comment" }], state: 1 });
  expect(tokenize("end */ if", script, second.state).tokens).toEqual([
    { from: 0, to: 6, kind: "comment" },
    { from: 7, to: 9, kind: "word" },
  ]);
});

test("a string that is never closed ends with its line", () => {
  expect(tokenize('say "hello', script).state).toBe(0);
});

test("a very long line costs little and keeps its rest plain", () => {
  const { tokens } = tokenize("if ".repeat(100_000), script);
  expect(tokens.length).toBeLessThan(2_000);
});

test("pieces put together are the line again, marked where it matched", () => {
  const line = "return open(1);";
  const pieces = segments(line, tokenize(line, script).tokens, [{ from: 3, to: 9 }]);
  expect(pieces.map(({ text }) => text).join("")).toBe(line);
  expect(pieces.filter(({ marked }) => marked).map(({ text, kind }) => [text, kind])).toEqual([
    ["urn", "word"],
    [" ", undefined],
    ["op", "call"],
  ]);
});

test("of a long line the part with the first match is shown", () => {
  const line = "x".repeat(10_000);
  expect(windowOf(line, [], 100)).toEqual({ from: 0, to: 100 });
  expect(windowOf(line, [{ from: 5_000, to: 5_003 }], 100)).toEqual({ from: 4_975, to: 5_075 });
  expect(windowOf(line, [{ from: 9_999, to: 10_000 }], 100)).toEqual({ from: 9_900, to: 10_000 });
  expect(windowOf("short", [], 100)).toEqual({ from: 0, to: 5 });
});

test("a jump far down is coloured as a guess first, and right once the lines between are read", () => {
  vi.useFakeTimers();
  const lines = ["/*", ...Array.from({ length: 5_000 }, () => "if")];
  const progress = vi.fn<() => void>();
  const colours = new LineColours(lines, script, progress);
  expect(colours.tokens(4_900)[0]?.kind).toBe("word");
  vi.runAllTimers();
  expect(progress).toHaveBeenCalledTimes(1);
  expect(colours.tokens(4_900)[0]?.kind).toBe("comment");
  expect(colours.tokens(10)[0]?.kind).toBe("comment");
  vi.useRealTimers();
});
