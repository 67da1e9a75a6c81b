/** What an answer counts is what it would show if it showed everything, lines or chunks, as with zoekt. */
import { SystemClock } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openEngine, type CodeEngine, type CodeIndex } from "../engine/index.ts";
import { linesApart } from "./lines-apart.ts";

const TEXTS = {
  "one.txt": "alpha beta alpha\nbeta\n\ngamma alpha\n",
  "two.txt": "alpha\n\n\nbeta alpha\nno line break at the end: alpha",
  "alpha.md": "only the name has it\n",
  "breaks.txt": "\n\n\n",
  "many.txt": `${"x\n".repeat(3_000)}alpha\n`,
};
let engine: CodeEngine;
let index: CodeIndex;

beforeAll(async () => {
  engine = openEngine({ memoryBytes: 32 << 20, workers: 1 }, { clock: new SystemClock() });
  const documents = Object.entries(TEXTS).map(([path, text], i) => ({
    path,
    oid: String(i).padStart(40, "0"),
    branches: ["main"],
    content: Buffer.from(text),
  }));
  index = await engine.build(documents, { branches: ["main"] });
});

afterAll(() => engine.close());

test.each([
  "alpha",
  "alpha|beta",
  "(?s)alpha.*alpha",
  "(?s)alpha.*?beta",
  String.raw`alpha\n+`,
  String.raw`\n`,
  String.raw`\n\n`,
  String.raw`beta\n\ngamma`,
  "[^a]+",
  "(?s).+",
  "x*",
  String.raw`(?m)^$`,
  String.raw`x\nx\nx`,
])("%s", async (pattern) => {
  const { files, counts, partial } = await index.search({
    kind: "regex",
    pattern,
    caseSensitive: true,
    scope: "both",
  });
  expect(partial).toBeUndefined();
  let lines = 0;
  let matches = 0;
  for (const file of files) {
    const apart = [...linesApart(file.lines, 0)].filter((line) => line !== undefined);
    lines += Math.max(1, apart.length);
    matches +=
      file.lines.length === 0
        ? file.pathRanges.length
        : file.lines.reduce((sum, { ranges }) => sum + ranges.length, 0);
  }
  expect(files.length).toBeGreaterThan(0);
  expect([counts.lines, counts.matches]).toEqual([lines, matches]);
});
