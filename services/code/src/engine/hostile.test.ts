import { SystemClock } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CodeEngine, CodeIndex } from "./engine.ts";
import { EngineError } from "./errors.ts";
import { openEngine } from "./local/open-engine.ts";
import { regexProblem } from "../query/index.ts";

let engine: CodeEngine;
let index: CodeIndex;

const CAP_MS = 150;
/** What a starved machine may add to the cap; without caps the worst of these run for minutes. */
const OVERRUN_MS_MAX = 8_000;
const STALL_MS_MAX = 2_000;

beforeAll(async () => {
  engine = openEngine({ memoryBytes: 64 * 1024 * 1024, workers: 1 }, { clock: new SystemClock() });
  const words = ["aaaaaaaa", "abab", "x=y;", "straße", "foo(bar)", "0123", "zzz", " ", "\t"];
  const text = Array.from({ length: 200_000 }, (_, i) => words[(i * 7 + (i >> 3)) % words.length]!);
  const oid = (n: number): string => String(n).padStart(40, "0");
  const documents = [
    { path: "lines.txt", oid: oid(1), content: Buffer.from(text.join("").replaceAll("zzz", "z\n")) },
    { path: "minified.js", oid: oid(2), content: Buffer.from(text.join("")) },
  ];
  index = await engine.build(
    documents.map((each) => ({ ...each, branches: ["main"] })),
    { branches: ["main"] },
  );
});

afterAll(() => engine.close());

/** Nests what makes automata large: counted repetitions, large classes, alternatives and optional parts; at most 1 KB. */
function nasty(seed: number): string {
  let state = seed * 2_654_435_761;
  const random = (below: number): number => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return state % below;
  };
  const part = (depth: number): string => {
    switch (depth === 0 ? random(3) : random(7)) {
      case 0:
        return ["a", "b", "x+", "=", "(?i)ß", "e?"][random(6)]!;
      case 1:
        return ["\\pL", "[\\pN\\pP]", "\\PL", ".", "[^x]", "\\w"][random(6)]!;
      case 2:
        return ["a*", "\\b", ".*", "[ab]{0,50}", "$", "(?:ab|ba)"][random(6)]!;
      case 3:
        return `(?:${part(depth - 1)}){${random(5)},${5 + random(60)}}`;
      case 4:
        return `(?:${part(depth - 1)}|${part(depth - 1)}|${part(depth - 1)})*`;
      default:
        return `(?:${part(depth - 1)}${part(depth - 1)})+`;
    }
  };
  return (part(4) + part(4)).slice(0, 1_024);
}

const fixed = [
  "\\pL{1000}",
  "(a{1,100}){1,10}",
  "((a{1,10}){1,10}){1,10}",
  "(?i)(\\pL\\pN?\\pP?){20}x",
  "x.*@@@@|x",
  `${"a?".repeat(250)}${"a".repeat(250)}`,
  `(?i)${"[\\pL\\pN_]".repeat(80)}`,
  Array.from({ length: 60 }, () => "(a.|").join("") + "z" + ")".repeat(60) + "{3}",
];

/** The longest that the event loop was away while `run` ran. */
async function longestStallMs(run: () => Promise<void>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  try {
    await run();
  } finally {
    clearInterval(timer);
  }
  return Math.max(longest, performance.now() - last);
}

test("whatever the expression, a search ends about at its time cap and the event loop goes on", async () => {
  const patterns = [...fixed, ...Array.from({ length: 24 }, (_, i) => nasty(i + 1))];
  for (const pattern of patterns) {
    const startedAt = performance.now();
    const stallMs = await longestStallMs(async () => {
      regexProblem(pattern);
      for (const withinLines of [true, false]) {
        const query = { kind: "regex", pattern, caseSensitive: true, scope: "content", withinLines } as const;
        const pieces = index.searchLines(query, { timeCapMs: CAP_MS, firstOfLine: withinLines });
        try {
          for await (const piece of pieces) expect(piece.length).toBeGreaterThan(0);
        } catch (error) {
          // Too large, or cut off in the middle: refused, which also is an end.
          if (!(error instanceof EngineError)) throw error;
        }
      }
    });
    expect(performance.now() - startedAt).toBeLessThan(2 * CAP_MS + OVERRUN_MS_MAX);
    expect(stallMs).toBeLessThan(STALL_MS_MAX);
  }
}, 120_000);
