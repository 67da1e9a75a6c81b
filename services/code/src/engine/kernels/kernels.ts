/**
 * The kernels of assembly/ on one memory. Addresses are bytes from the start of that memory; what comes back as an address may be negative when it is above
 * 2 GiB, so callers write `>>> 0`. The first 64 KiB of every memory are the kernels' own: their constants and the tables below.
 */
import { byteClasses } from "./byte-classes.ts";
import { kernelsBase64 } from "./module.generated.ts";
import { compileModule, instantiate, type WasmMemory } from "./wasm.ts";

export interface Kernels {
  find(
    from: number,
    to: number,
    needle: number,
    mask: number,
    n: number,
    rareA: number,
    rareB: number,
    rareC: number,
  ): number;
  findAll(
    from: number,
    to: number,
    needle: number,
    mask: number,
    n: number,
    rareA: number,
    rareB: number,
    rareC: number,
    out: number,
    outEnd: number,
    resumeAt: number,
    firstOfLine: number,
    blocks: number,
  ): number;
  lineStartAt(blocks: number, from: number, at: number): number;
  lineEndAt(blocks: number, at: number, end: number): number;
  count(from: number, to: number, byte: number): number;
  hash(from: number, to: number): bigint;
  extract(
    text: number,
    end: number,
    blockShift: number,
    overlap: number,
    classes: number,
    seen: number,
    counts: number,
    grams: number,
    perBlock: number,
  ): number;
  scatter(grams: number, perBlock: number, blocks: number, counts: number, ids: number): void;
  encode(counts: number, ids: number, blocks: number, directory: number, data: number): number;
  literalBlocks(
    directory: number,
    data: number,
    blocks: number,
    grams: number,
    n: number,
    scratch: number,
    out: number,
  ): number;
  and(into: number, other: number): number;
  or(into: number, other: number): void;
  spread(bitmap: number, joined: number, blocks: number): void;
  spreadLines(bitmap: number, joined: number, unbroken: number, blocks: number): void;
  markUnbroken(text: number, end: number, blockShift: number, bitmap: number): void;
  nextBit(bitmap: number, from: number): number;
  nextClear(bitmap: number, from: number): number;
  countLines(text: number, end: number, blockShift: number, linesBefore: number): void;
  locate(matches: number, n: number, docStart: number, docEnd: number, out: number, blocks: number): number;
  jsonLines(
    located: number,
    n: number,
    docStart: number,
    prefix: number,
    prefixBytes: number,
    outAt: number,
    outEnd: number,
    firstOfLine: number,
  ): number;
  scan(context: number): number;
  skimStart(context: number, pieces: number, from: number, to: number): void;
  skim(context: number, pieces: number): number;
}

/** What the kernels keep for themselves at the start of each memory. */
export const RESERVED_BYTES = 65_536;
/** The class of each byte, for grams. */
export const CLASSES_AT = 4096;
/** The kind of each byte, for assertions such as `\b`: 1 a line break, 2 a word character, 3 any other. */
export const KINDS_AT = 4352;

let compiled: object | undefined;

/** The kernels on this memory; every thread makes its own. */
export function openKernels(memory: WasmMemory): Kernels {
  compiled ??= compileModule(Buffer.from(kernelsBase64, "base64"));
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(byteClasses, CLASSES_AT);
  bytes.set(byteKinds(), KINDS_AT);
  return instantiate(compiled, memory) as Kernels;
}

function byteKinds(): Uint8Array {
  const word = /\w/;
  return Uint8Array.from({ length: 256 }, (_, byte) => {
    if (byte === 10) return 1;
    return byte < 128 && word.test(String.fromCharCode(byte)) ? 2 : 3;
  });
}
