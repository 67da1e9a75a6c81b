/**
 * Only blocks are looked into that can have what every match has, and of long lines only what lies near these. So here the parts of a match lie on both sides of where a block ends, in lines of
 * one block and of many, and all matches are compared with those of JavaScript's own expressions, line by line.
 */
import { SystemClock } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CodeEngine, CodeIndex } from "./engine.ts";
import { openEngine } from "./local/open-engine.ts";

const BLOCK_BYTES = 8_192;
const SEED = 20_261_116;
const fragments = [
  "alpha(",
  "beta(",
  "gamma(",
  // A block has the grams of some sixty bytes after it too.
  `${"12.".repeat(30)}gamma(`,
  "alpha_one",
  "xalpha_one_more=omega",
  "alpha_one_more==omega",
  "alpha-omega",
  "alpha123omega",
  "pad.alpha",
  ".alpha",
  "betagamma",
  "lock",
  "LOCK",
  "loc\u212a",
  "task",
  "TA\u017fK",
  "ri\u017f\u212a",
  "loc\u212a---ri",
  "Kx",
  "\u017fX",
  "\u00e9t\u00e9",
];

let engine: CodeEngine;
let index: CodeIndex;
const texts = new Map<string, string>();

/** Numbers that look random and are the same each time. */
function* numbers(): Generator<number, never> {
  for (let state = SEED; ; state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) yield state >>> 8;
}

/** Of several blocks, most of which have nothing. Every second text has a line break here and there; fragments lie around ends of blocks or anywhere, some of them with another not far behind. */
function textOf(number: number, next: (below: number) => number): string | undefined {
  // With the zero byte that follows it, so that the next one starts with a block too.
  const length = BLOCK_BYTES * (3 + next(5)) - 1;
  const bytes = Buffer.alloc(length, number % 3 === 0 ? "a" : "-");
  if (number % 2 === 0) for (let i = 0; i < 1 + next(12); i += 1) bytes[next(length)] = 10;
  let at = 0;
  for (let i = 0; i < 1 + next(4); i += 1) {
    const fragment = Buffer.from(fragments[next(fragments.length)]!);
    const edge = BLOCK_BYTES * (1 + next(Math.floor(length / BLOCK_BYTES) - 1)) - next(fragment.length + 3);
    at = next(4) === 0 ? next(length) : next(2) === 0 ? at + next(300) : edge;
    if (at + fragment.length >= length) continue;
    fragment.copy(bytes, at);
    at += fragment.length;
    if (number % 4 === 0) bytes[at] = 10;
  }
  // What was cut through is no UTF-8, and would be one thing to JavaScript and another here: such a text is left out, or those after it would not start with a block.
  const text = bytes.toString("utf8");
  return text.includes("\ufffd") ? undefined : text;
}

beforeAll(async () => {
  const random = numbers();
  const next = (below: number): number => random.next().value % below;
  for (let i = 0; i < 400; i += 1) {
    const text = textOf(i, next);
    if (text !== undefined) texts.set(`${i}.txt`, text);
  }
  engine = openEngine({ memoryBytes: 96 << 20, workers: 1 }, { clock: new SystemClock() });
  index = await engine.build(
    Array.from(texts, ([path, text], i) => ({
      path,
      oid: String(i).padStart(40, "0"),
      branches: ["main"],
      content: Buffer.from(text),
    })),
    { branches: ["main"] },
  );
});

afterAll(() => engine.close());

type Lines = Record<string, readonly (readonly [number, number])[]>;

/** Of each line with a match, by path and number, where the matches are. */
function expected(expression: RegExp): Lines {
  const out: Lines = {};
  for (const [path, text] of texts) {
    for (const [i, line] of text.split("\n").entries()) {
      const ranges = Array.from(line.matchAll(expression), (match): [number, number] => {
        const start = Buffer.byteLength(line.slice(0, match.index));
        return [start, start + Buffer.byteLength(match[0])];
      });
      if (ranges.length > 0) out[`${path}:${i + 1}`] = ranges;
    }
  }
  return out;
}

async function found(pattern: string, firstOfLine: boolean): Promise<Lines> {
  const query = { kind: "regex", pattern, caseSensitive: true, scope: "content", withinLines: true } as const;
  let said = "";
  for await (const piece of index.searchLines(query, { firstOfLine }))
    said += Buffer.from(piece).toString("utf8");
  const out: Lines = {};
  for (const each of said.trimEnd().split("\n")) {
    const { path, line, ranges } = JSON.parse(each) as {
      path?: string;
      line: number;
      ranges: [number, number][];
    };
    if (path !== undefined) out[`${path}:${line}`] = ranges;
  }
  return out;
}

const expressions: readonly (readonly [string, RegExp])[] = [
  ["(?i)lock", /lock/giu],
  ["(?i)task|risk", /task|risk/giu],
  ["(?i)(k|s)x", /(k|s)x/giu],
  ["(?i)[-a]ta?sk", /[-a]ta?sk/giu],
  ["(?i)lock-*ri", /lock-*ri/giu],
  ["(alpha|beta|gamma)\\(", /(alpha|beta|gamma)\(/g],
  ["[ab](lph|et)a\\(", /[ab](lph|et)a\(/g],
  ["x?alpha_one\\w+=omega", /x?alpha_one\w+=omega/g],
  ["alpha_one\\w+=+omega", /alpha_one\w+=+omega/g],
  ["alpha.{0,9}omega", /alpha.{0,9}omega/g],
  ["alpha.*omega", /alpha.*omega/g],
  ["\\w{0,3}\\.alpha", /\w{0,3}\.alpha/g],
  ["[^-a]+\\.alpha", /[^-a]+\.alpha/g],
  ["beta[-a(]{0,1000}gamma", /beta[-a(]{0,1000}gamma/g],
  ["(beta|alpha)[-a]{5,200}(beta|alpha)", /(beta|alpha)[-a]{5,200}(beta|alpha)/g],
  ["[0-9.]{1,100}(alpha|gamma)\\(", /[0-9.]{1,100}(alpha|gamma)\(/g],
  ["gamma$|\\($", /gamma$|\($/g],
  ["^-*alpha", /^-*alpha/g],
  ["-\\bbeta", /-\bbeta/g],
  ["[\u00e0-\u00ff]t[\u00e0-\u00ff]", /[\u00e0-\u00ff]t[\u00e0-\u00ff]/g],
  ["[a-c]e|[k-m]o", /[a-c]e|[k-m]o/g],
];

test.each(expressions)("finds every %s, wherever blocks end", async (pattern, expression) => {
  const wanted = expected(expression);
  expect(Object.keys(wanted).length).toBeGreaterThan(0);
  expect(await found(pattern, false)).toEqual(wanted);
  const firsts = Object.entries(wanted).map(([line, ranges]) => [line, ranges[0]![0]]);
  const ours = Object.entries(await found(pattern, true)).map(([line, ranges]) => [line, ranges[0]![0]]);
  expect(ours).toEqual(firsts);
});
