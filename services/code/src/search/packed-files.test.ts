import { expect, test } from "vitest";
import type { FileMatch, LineMatch } from "../engine/index.ts";
import { FilePacker, unpackFiles } from "./packed-files.ts";

function line(number: number, ranges: number, change: Partial<LineMatch> = {}): LineMatch {
  return {
    line: number,
    start: number * 10,
    end: number * 10 + 9,
    score: number % 7,
    text: Buffer.from(`ligne ${number}: é\u0000`),
    ranges: Array.from({ length: ranges }, (_, i) => ({
      start: { offset: number * 10 + i, line: number, column: i + 1 },
      end: { offset: number * 10 + i + 1, line: number, column: i + 2 },
      ...(i % 3 === 0 ? { symbol: { name: `s${i}`, kind: "func", parent: "", parentKind: "" } } : {}),
    })),
    ...change,
  };
}

function file(path: string, change: Partial<FileMatch> = {}): FileMatch {
  return {
    document: 3,
    path,
    oid: "00ff",
    language: "Go",
    branches: ["main"],
    score: 1.5,
    matchCount: 9,
    pathRanges: [{ start: 0, end: 2 }],
    lines: [],
    ...change,
  };
}

async function packFiles(files: readonly FileMatch[]): Promise<Uint8Array> {
  const packer = new FilePacker();
  for (const file of files) await packer.add(file);
  return packer.packed;
}

test("what is packed is unpacked as it was", async () => {
  const files = [
    file("only its name", { pathScore: 7_500, debug: "because é" }),
    file("with context", {
      lines: [
        line(1, 2, { before: Buffer.from("a\nb"), after: Buffer.alloc(0) }),
        line(5, 1, { after: Buffer.from("z") }),
        line(6, 0, { debug: "because" }),
      ],
    }),
    file("whole", { content: Buffer.from([0, 255, 10]), lines: [line(2, 1)] }),
    file("whole and empty", { content: Buffer.alloc(0) }),
  ];
  expect(await unpackFiles(await packFiles(files))).toEqual(files);
  expect(await unpackFiles(await packFiles([]))).toEqual([]);
});

test("a file with many lines and a line with many matches keep all of them", async () => {
  const files = [
    file("many lines", { lines: Array.from({ length: 2_100 }, (_, i) => line(i, 1)) }),
    file("a long line", { lines: [line(1, 4_100), line(2, 1), line(3, 1_898), line(4, 2_001)] }),
    file("after it"),
  ];
  expect(await unpackFiles(await packFiles(files))).toEqual(files);
});

test("others have their turn while a large answer is packed and unpacked", async () => {
  const files = Array.from({ length: 40 }, (_, i) =>
    file(`f${i}`, { lines: Array.from({ length: 500 }, (__, at) => line(at, 3)) }),
  );
  let turns = 0;
  const count = setInterval(() => turns++, 0);
  try {
    const packed = await packFiles(files);
    const afterPacking = turns;
    await unpackFiles(packed);
    expect([afterPacking > 2, turns - afterPacking > 2]).toEqual([true, true]);
  } finally {
    clearInterval(count);
  }
});

test("of a file that goes beyond the bytes that there are nothing is packed", async () => {
  const packer = new FilePacker(Buffer.alloc(0), 200_000);
  expect(await packer.add(file("first"))).toBe(true);
  // Symbols are not part of what files are counted as: their names can be any length.
  const symbol = { name: "n".repeat(1_000), kind: "func", parent: "", parentKind: "" };
  const { ranges } = line(1, 5_000);
  const long = line(1, 0, { ranges: ranges.map((range) => ({ ...range, symbol })) });
  expect(await packer.add(file("too large", { lines: [long] }))).toBe(false);
  expect(await packer.add(file("last"))).toBe(true);
  expect((await unpackFiles(packer.packed)).map(({ path }) => path)).toEqual(["first", "last"]);
});
