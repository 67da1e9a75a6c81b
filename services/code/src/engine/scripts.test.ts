/** Grams say in which blocks to look, and must leave out none in any script: every letter here is found in any of its cases, wherever a block ends between its bytes or beside them. */
import { SystemClock } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CodeEngine, CodeIndex } from "./engine.ts";
import { openEngine } from "./local/open-engine.ts";
import type { EngineQuery } from "./query.ts";

/** Letters whose cases are several, of other scripts, or of other lengths; and characters of two, three and four bytes. */
const characters = [
  "kKsSiI\u0130\u0131\u00df\u1e9e\u00c5\u00e5\u03a9\u03c9\u00b5\u03bc\u039c\u03c3\u03c2\u03a3\u1fb3\u1fbc",
  // The Kelvin sign, the long s, the signs for angstrom and ohm.
  "\u212a\u017f\u212b\u2126",
  // Cherokee, Georgian, Cyrillic, and Latin letters whose other case has another length.
  "\u13a0\uab70\u13f0\u13f8\u1c90\u10d0\u0416\u0436\u1c81\u0434\u0414\u2c6d\u0251\u023a\u2c65\u026b\u2c62\ua64a\u1c88\ua64b",
  "\u4e2d\u6587\ud55c\u{1f600}\u{10400}\u{10428}\u00e9\u00c9",
].flatMap((each) => Array.from(each));
const BLOCK_BYTES = 8_192;

let engine: CodeEngine;
let index: CodeIndex;

/** Two blocks with the zero byte that follows it. The end of the first lies before, in or after the character. */
function content(character: string, number: number): Buffer {
  const found = Buffer.from(`zq${character}qz`);
  const text = Buffer.alloc(2 * BLOCK_BYTES - 1, "\n");
  found.copy(text, BLOCK_BYTES - (number % (found.length + 1)));
  return text;
}

beforeAll(async () => {
  engine = openEngine({ memoryBytes: 32 << 20, workers: 1 }, { clock: new SystemClock() });
  const documents = characters.map((each, i) => ({
    path: each,
    oid: i.toString(16).padStart(40, "0"),
    branches: ["main"],
    content: content(each, i),
  }));
  index = await engine.build(documents, { branches: ["main"] });
});

afterAll(() => engine.close());

async function found(query: EngineQuery): Promise<string[]> {
  const { files } = await index.search(query);
  return files.map(({ path }) => path).sort();
}

test("a character is found as it is, and without case wherever one that folds to the same stands", async () => {
  for (const each of characters) {
    const like = characters.filter((other) => new RegExp(`^${each}$`, "iu").test(other)).sort();
    const terms = { scope: "content", caseSensitive: false } as const;
    const text = `zq${each}qz`;
    expect(await found({ kind: "substring", text, ...terms, caseSensitive: true })).toEqual([each]);
    expect(await found({ kind: "substring", text: `ZQ${each}qZ`, ...terms })).toEqual(like);
    expect(await found({ kind: "regex", pattern: `z(q)(${each}|!)q+z`, ...terms })).toEqual(like);
    const mixed = { kind: "regex", pattern: `zq(?i:${each})qz`, ...terms, caseSensitive: true } as const;
    expect(await found(mixed)).toEqual(like);
  }
});

test("alternatives of one character each are found as a set, with an empty one beside them or not", async () => {
  for (const [i, one] of characters.entries()) {
    const other = characters[(i + 7) % characters.length]!;
    const terms = { kind: "regex", scope: "content", caseSensitive: true } as const;
    const both = [one, other].sort();
    expect(await found({ ...terms, pattern: `zq(${one}|${other})qz` })).toEqual(both);
    expect(await found({ ...terms, pattern: `zq(?:${one}|${other}|)qz` })).toEqual(both);
    expect(await found({ ...terms, pattern: `(?m)^zq(${one}|${other}){1,2}(q|$)z$` })).toEqual(both);
  }
});
