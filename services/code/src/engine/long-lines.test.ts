import { SystemClock } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CodeEngine, CodeIndex } from "./engine.ts";
import { openEngine } from "./local/open-engine.ts";

let engine: CodeEngine;
let index: CodeIndex;

/** Lines of many blocks, between ordinary ones. */
const far = "-".repeat(60_000);
const texts: Record<string, string> = {
  "minified.js": `var a=1;${far}function(a,b){return${far}Kelvin${far}KELVIN${far}import x from "y"${far}\nshort kelvin\n`,
  "apart.js": `alpha${far}\nomega\n${far}alpha${far}omega${far}\nalpha omega\n`,
  "sign.txt": `mask ${far}mask ${far}ma\u017f\u212a ${far}mask\nno\nMASK`,
};

beforeAll(async () => {
  engine = openEngine({ memoryBytes: 64 * 1024 * 1024, workers: 1 }, { clock: new SystemClock() });
  index = await engine.build(
    Object.entries(texts).map(([path, text], i) => ({
      path,
      oid: String(i).padStart(40, "0"),
      branches: ["main"],
      content: Buffer.from(text),
    })),
    { branches: ["main"] },
  );
});

afterAll(() => engine.close());

function expected(expression: RegExp): Record<string, [number, number[][]][]> {
  const out: Record<string, [number, number[][]][]> = {};
  for (const [path, text] of Object.entries(texts)) {
    for (const [i, line] of text.split("\n").entries()) {
      const ranges = Array.from(line.matchAll(expression), (match) => {
        const start = Buffer.byteLength(line.slice(0, match.index));
        return [start, start + Buffer.byteLength(match[0])];
      });
      if (ranges.length > 0) (out[path] ??= []).push([i + 1, ranges]);
    }
  }
  return out;
}

async function found(pattern: string, firstOfLine: boolean): Promise<Record<string, [number, number[][]][]>> {
  const out: Record<string, [number, number[][]][]> = {};
  const query = { kind: "regex", pattern, caseSensitive: true, scope: "content", withinLines: true } as const;
  let said = "";
  for await (const piece of index.searchLines(query, { firstOfLine }))
    said += Buffer.from(piece).toString("utf8");
  for (const each of said.trimEnd().split("\n")) {
    const line = JSON.parse(each) as { path?: string; line: number; ranges: number[][] };
    if (line.path !== undefined) (out[line.path] ??= []).push([line.line, line.ranges]);
  }
  return out;
}

const expressions: [string, RegExp][] = [
  ["Kelvin", /Kelvin/g],
  ["(?i)kelvin", /kelvin/giu],
  ["(?i)mask", /mask/giu],
  ["(?i)mask\\b", /mask\b/gi],
  ["alpha.*omega", /alpha.*omega/g],
  ["function\\(\\w,\\w\\)\\{return", /function\(\w,\w\)\{return/g],
  ["import \\w+ from ['\"]", /import \w+ from ['"]/g],
  ["[a-z]-{3}", /[a-z]-{3}/g],
  ["omega-*$", /omega-*$/g],
  ["^short|^var", /^short|^var/g],
];

test.each(expressions)("finds %s in lines that go on for many blocks", async (pattern, expression) => {
  // JavaScript's \b is not RE2's where letters beyond ASCII are; that expression is compared where there are none.
  const wanted = expected(expression);
  const ours = await found(pattern, false);
  if (pattern.endsWith("\\b")) {
    delete wanted["sign.txt"];
    delete ours["sign.txt"];
  }
  expect(ours).toEqual(wanted);
  const firsts = await found(pattern, true);
  for (const [path, lines] of Object.entries(wanted))
    expect(firsts[path]).toEqual(lines.map(([line, ranges]) => [line, ranges.slice(0, 1)]));
});

test("finds a substring wherever it lies in a text that is looked at in parts, and of a line of megabytes the first", async () => {
  const bytes = 20_000_000;
  const content = Buffer.alloc(bytes, "-");
  // Across the ends of the parts, whatever these are: at every power of two and around it.
  const places = Array.from({ length: 4 }, (_, i) => 2 ** (21 + i) - 3 + i);
  for (const at of places) content.write("needle", at);
  const large = openEngine({ memoryBytes: 128 * 1024 * 1024, workers: 1 }, { clock: new SystemClock() });
  try {
    const one = await large.build([{ path: "large.txt", oid: "0".repeat(40), branches: ["main"], content }], {
      branches: ["main"],
      documentBytesMax: 2 * bytes,
    });
    const query = { kind: "substring", text: "needle", caseSensitive: true, scope: "content" } as const;
    const { counts } = await one.search(query, { filesShownMax: 0 });
    expect(counts).toMatchObject({ files: 1, lines: 1, matches: places.length });
    const pieces: string[] = [];
    for await (const piece of one.searchLines(query, { firstOfLine: true }))
      pieces.push(Buffer.from(piece).toString());
    const [line] = pieces.join("").split("\n");
    expect(JSON.parse(line!)).toMatchObject({ line: 1, ranges: [[places[0]!, places[0]! + 6]] });
  } finally {
    await large.close();
  }
}, 30_000);
