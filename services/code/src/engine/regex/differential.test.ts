import { RE2JS } from "re2js";
import { expect, test } from "vitest";
import { searchText } from "../fixtures/text-search.ts";

/** Small and seeded: a failure names its number, and the same number fails again. */
function randomOf(seed: number): (below: number) => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % below;
  };
}

const chars = [
  "a",
  "b",
  "c",
  "A",
  "B",
  "k",
  "s",
  "S",
  "_",
  "1",
  " ",
  "\\n",
  "é",
  "É",
  "ß",
  "K",
  "ſ",
  "世",
  "😀",
  "\\.",
  "x",
];
const sets = [
  "[ab]",
  "[^a]",
  "[a-c]",
  "[^\\n]",
  "\\w",
  "\\W",
  "\\d",
  "\\s",
  "\\S",
  ".",
  "[[:alpha:]]",
  "[é-世]",
  "\\pL",
  "\\PL",
  "[k-s]",
  "\\p{Greek}",
  "(?s:.)",
  "[^\\s\\d]",
];
const asserts = ["^", "$", "\\b", "\\B", "\\A", "\\z", "(?m:^)", "(?m:$)"];

function pattern(random: (below: number) => number, depth: number): string {
  switch (random(depth <= 0 ? 5 : 12)) {
    case 0:
    case 1:
    case 2:
      return chars[random(chars.length)]!;
    case 3:
      return sets[random(sets.length)]!;
    case 4:
      return random(3) === 0 ? asserts[random(asserts.length)]! : "";
    case 5:
    case 6:
      return `(?:${pattern(random, depth - 1)}|${pattern(random, depth - 1)})`;
    case 7: {
      const times = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{2,}", "{0,2}?"][random(10)]!;
      return `(?:${pattern(random, depth - 1)})${times}`;
    }
    case 8:
      return random(4) === 0 ? `(?i:${pattern(random, depth - 1)})` : `(${pattern(random, depth - 1)})`;
    default:
      return pattern(random, depth - 1) + pattern(random, depth - 1);
  }
}

const letters = [
  "a",
  "b",
  "c",
  "A",
  "B",
  "k",
  "K",
  "s",
  "S",
  "_",
  "1",
  " ",
  "\n",
  "é",
  "É",
  "ß",
  "K",
  "ſ",
  "世",
  "😀",
  ".",
  "x",
  "α",
  "\t",
];

function text(random: (below: number) => number): string {
  return Array.from(
    { length: random(24) },
    () => letters[random(random(2) === 0 ? 6 : letters.length)]!,
  ).join("");
}

/** Byte offsets, as ours are. */
function oracle(source: string, flags: number, subject: string): [number, number][] {
  const matcher = RE2JS.compile(source, flags).matcher(subject);
  const found: [number, number][] = [];
  while (matcher.find()) {
    found.push([bytes(subject, matcher.start()), bytes(subject, matcher.end())]);
  }
  // It reports an empty match right after another; Go, whose semantics we follow, does not.
  return found.filter(([start, end], i) => start !== end || i === 0 || found[i - 1]![1] !== start);
}

function bytes(subject: string, index: number): number {
  return Buffer.byteLength(subject.slice(0, index));
}

test("finds what RE2 finds, for generated expressions and texts", () => {
  const differences: unknown[] = [];
  for (let seed = 1; seed <= 1000; seed += 1) {
    const random = randomOf(seed);
    const source = pattern(random, 4);
    const caseSensitive = random(3) !== 0;
    const query = { kind: "regex", pattern: source, caseSensitive, scope: "content" } as const;
    const flags = caseSensitive ? 0 : RE2JS.CASE_INSENSITIVE;
    for (let i = 0; i < 4; i += 1) {
      const subject = text(random);
      const ours = searchText(query, subject);
      const theirs = oracle(source, flags, subject);
      if (String(ours) !== String(theirs))
        differences.push({ seed, source, caseSensitive, subject, ours, theirs });
    }
  }
  expect(differences).toEqual([]);
}, 60_000);

test("within lines, finds in a long text what it finds in each line alone", () => {
  const differences: unknown[] = [];
  for (let seed = 1; seed <= 150; seed += 1) {
    const random = randomOf(seed + 10_000);
    const source = pattern(random, 3).replaceAll(/\\A|\\z/g, "");
    const query = {
      kind: "regex",
      pattern: source,
      caseSensitive: true,
      scope: "content",
      withinLines: true,
    } as const;
    const lines = Array.from({ length: 40 }, () => text(random).replaceAll("\n", ""));
    const apart: string[] = [];
    const firsts: string[] = [];
    let offset = 0;
    for (const line of lines) {
      const found = searchText(query, line).map(([start, end]) => `${offset + start}-${offset + end}`);
      apart.push(...found);
      firsts.push(...found.slice(0, 1));
      offset += Buffer.byteLength(line) + 1;
    }
    const show = (pairs: [number, number][]): string[] => pairs.map(([start, end]) => `${start}-${end}`);
    const together = show(searchText(query, lines.join("\n")));
    const first = show(searchText(query, lines.join("\n"), { firstOfLine: true }));
    if (String(together) !== String(apart)) differences.push({ seed, source, lines, together, apart });
    if (String(first) !== String(firsts)) differences.push({ seed, source, lines, first, firsts });
  }
  expect(differences).toEqual([]);
}, 60_000);

test("in long lines, finds what RE2 finds around a substring that every match has", () => {
  const around = [
    "",
    "a?",
    "[ab]{0,3}",
    "\\b",
    "(?:a|bc)?",
    ".?",
    ".*",
    "x.{0,5}",
    "(?:b.{0,9}ab|c)",
    "^",
    "\\w+",
    "(?:(?:a*){0}|b)",
  ];
  const needles = [
    "ab",
    "abc",
    "(?i:Ab)",
    "b_1",
    "aaa",
    "(?:ab){2}",
    "(?:\\w+abc)+",
    "(?:a*ab){1,3}",
    "(?:(?:b+ab)+c?){2,}",
  ];
  const differences: unknown[] = [];
  for (let seed = 1; seed <= 600; seed += 1) {
    const random = randomOf(seed + 20_000);
    const source =
      around[random(around.length)]! + needles[random(needles.length)]! + around[random(around.length)]!;
    const query = { kind: "regex", pattern: source, caseSensitive: true, scope: "content" } as const;
    const pieces = ["ab", "abc", "a", "b", "_1", "aaa", "x", " ", "yyyyyyyyyyyyyyyyyyyy", "AB", "\n", "c"];
    const subject = Array.from({ length: random(200) }, () => pieces[random(pieces.length)]!).join("");
    const ours = searchText(query, subject);
    const theirs = oracle(source, 0, subject);
    if (String(ours) !== String(theirs)) differences.push({ seed, source, subject, ours, theirs });
  }
  expect(differences).toEqual([]);
}, 60_000);

test("in texts with long runs of the same, finds what RE2 finds, in all lines and as the first of each", () => {
  const runs = ["a", "b", "-", " ", "x1", "é", "世", "_k", "K", "\t"];
  // A match may end anywhere in a run, but for what comes after it.
  const endings = ["-+\\B", "a+\\b", " +\\B", "[^a]+\\B", ".*\\B", ".+\\b", "\\W*\\b", "(?:-|b)+?\\B[^x]?"];
  const differences: unknown[] = [];
  for (let seed = 1; seed <= 500; seed += 1) {
    const random = randomOf(seed + 30_000);
    const source = random(4) === 0 ? endings[random(endings.length)]! : pattern(random, 3);
    const subject = Array.from({ length: 1 + random(8) }, () => {
      const run = runs[random(runs.length)]!.repeat(random(3) * random(30));
      return run + text(random).slice(0, 6) + (random(3) === 0 ? "\n" : "");
    }).join("");
    const query = { kind: "regex", pattern: source, caseSensitive: true, scope: "content" } as const;
    const ours = searchText(query, subject);
    const theirs = oracle(source, 0, subject);
    if (String(ours) !== String(theirs)) differences.push({ seed, source, subject, ours, theirs });
  }
  expect(differences).toEqual([]);
}, 60_000);

test("in lines with long runs of the same, finds in all of them what RE2 finds in each, and of each the first", () => {
  const runs = ["a", "b", "-", " ", "x1", "é", "_k", "1", "c"];
  const differences: unknown[] = [];
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = randomOf(seed + 40_000);
    const source = pattern(random, 3).replaceAll(/\\A|\\z/g, "");
    const lines = Array.from({ length: 6 }, () =>
      Array.from({ length: random(4) }, () => runs[random(runs.length)]!.repeat(random(40)) + text(random))
        .join("")
        .replaceAll("\n", ""),
    );
    const all: string[] = [];
    const firsts: string[] = [];
    let offset = 0;
    for (const line of lines) {
      // A line has no line break, and neither has anything that is found in it.
      const found = oracle(source, 0, line).map(([start, end]) => `${offset + start}-${offset + end}`);
      all.push(...found);
      firsts.push(...found.slice(0, 1));
      offset += Buffer.byteLength(line) + 1;
    }
    const query = {
      kind: "regex",
      pattern: source,
      caseSensitive: true,
      scope: "content",
      withinLines: true,
    } as const;
    for (const firstOfLine of [false, true]) {
      const ours = searchText(query, lines.join("\n"), { firstOfLine }).map(
        ([start, end]) => `${start}-${end}`,
      );
      const theirs = firstOfLine ? firsts : all;
      if (String(ours) !== String(theirs))
        differences.push({ seed, source, lines, firstOfLine, ours, theirs });
    }
  }
  expect(differences).toEqual([]);
}, 60_000);
