import { SystemClock } from "@keelson/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SourceDocument, SymbolSpan } from "./document.ts";
import type { CodeEngine } from "./engine.ts";
import { MemoryIndex } from "./local/memory-index.ts";
import { openEngine } from "./local/open-engine.ts";
import { header } from "./segment/format.ts";

let engine: CodeEngine;

beforeAll(() => {
  engine = openEngine({ memoryBytes: 64 * 1024 * 1024, workers: 1 }, { clock: new SystemClock() });
});

afterAll(() => engine.close());

const needle = { kind: "substring", text: "needle", caseSensitive: true, scope: "content" } as const;
/** Every word is a symbol. */
const words = {
  read: (_: string, content: Buffer): Promise<readonly SymbolSpan[]> =>
    Promise.resolve(
      Array.from(content.toString("latin1").matchAll(/\w+/g), ({ 0: { length }, index }) => ({
        start: index,
        end: index + length,
        kind: "function",
        parent: "",
        parentKind: "",
      })),
    ),
  close: () => undefined,
};

function files(from: number, to: number): SourceDocument[] {
  return Array.from({ length: to - from }, (_, i) => ({
    path: `folder/file${from + i}.go`,
    oid: (from + i).toString(16).padStart(40, "0"),
    branches: ["main"],
    content: Buffer.from(`first line\nneedle ${from + i}\n`.repeat(20)),
  }));
}

async function indexOf(documents: SourceDocument[], previous?: MemoryIndex): Promise<MemoryIndex> {
  const index = await engine.build(documents, { branches: ["main"], ...(previous && { previous }) });
  expect(index).toBeInstanceOf(MemoryIndex);
  return index as MemoryIndex;
}

async function withSymbols(index: MemoryIndex): Promise<MemoryIndex> {
  const all = await engine.addSymbols(index, words);
  index.release();
  expect(all).toBeInstanceOf(MemoryIndex);
  return all as MemoryIndex;
}

test("notices a flipped bit in every part of an index", async () => {
  const index = await withSymbols(await indexOf(files(0, 40)));
  const { arenas } = index.ports;
  const [part] = index.parts;
  const segment = arenas.bytes(part!.segment.place);
  const at = (field: number): number =>
    new DataView(segment.buffer, segment.byteOffset).getUint32(field * 4, true);
  const symbols = arenas.bytes(part!.symbols!.place);
  const masks = new Uint8Array(index.masks.words.buffer);
  const places: [string, Uint8Array, number][] = [
    ["magic", segment, 0],
    ["length", segment, 4],
    ["checksum", segment, 9],
    ["header", segment, header.documents * 4],
    ["text", segment, at(header.textOffset) + 12],
    ["names", segment, at(header.textOffset) + at(header.namesStart) + 3],
    ["documents", segment, at(header.documentsOffset) + 5],
    ["object ids", segment, at(header.oidsOffset) + 7],
    ["lines", segment, at(header.linesBeforeOffset) + 4],
    ["directory of grams", segment, at(header.directoryOffset) + 100],
    ["postings", segment, at(header.dataOffset) + 10],
    ["languages", segment, at(header.languagesOffset) + 1],
    ["symbols' header", symbols, 12],
    ["symbols", symbols, 400],
    ["names of kinds", symbols, symbols.length - 3],
    ["branches", masks, 9],
  ];
  const noticed: string[] = [];
  for (const [name, bytes, place] of places) {
    bytes[place]! ^= 16;
    if (!(await index.verify())) noticed.push(name);
    bytes[place]! ^= 16;
  }
  expect(noticed).toEqual(places.map(([name]) => name));
  expect(await index.verify()).toBe(true);
  index.release();
}, 60_000);

test("does not take the rest of memory for a symbol when a bit of it flips", async () => {
  const index = await withSymbols(await indexOf(files(0, 40)));
  const { arenas } = index.ports;
  const symbols = arenas.bytes(index.parts[0]!.symbols!.place);
  const view = new DataView(symbols.buffer, symbols.byteOffset);
  const firstSymbol = (6 + view.getUint32(12, true) + 1) * 4;
  // Where the first one ends.
  symbols[firstSymbol + 7]! ^= 2;
  const [first] = index.symbols(0);
  expect(first!.end - first!.start).toBe(4096);
  symbols[firstSymbol + 7]! ^= 2;
  // How many the first document has.
  symbols[6 * 4 + 7]! ^= 64;
  expect(() => index.symbols(0)).toThrow(expect.objectContaining({ code: "CORRUPT_INDEX" }));
  symbols[6 * 4 + 7]! ^= 64;
  expect(await index.verify()).toBe(true);
  index.release();
}, 60_000);

test("does not copy what memory no longer holds into the next index, where its checksum would be right", async () => {
  const first = await indexOf(files(0, 40));
  const text = first.ports.arenas.bytes(first.parts[0]!.segment.place);
  const at = Buffer.from(text.buffer, text.byteOffset, text.length).indexOf("needle");
  text[at]! ^= 1;
  // So much goes that the rest moves into a new segment.
  const fewer = files(0, 10).map(({ content: _, ...rest }) => rest);
  await expect(indexOf(fewer, first)).rejects.toMatchObject({ code: "CORRUPT_INDEX" });
  text[at]! ^= 1;
  const second = await indexOf(fewer, first);
  expect((await second.search(needle)).counts.files).toBe(10);
  first.release();
  second.release();
  expect(engine.memory.usedBytes).toBe(0);
}, 60_000);
