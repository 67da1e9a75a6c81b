/**
 * The symbols of a segment's documents, beside it rather than in it: they come from a slower pass, and are added later without copying text. As bytes: a header, for each
 * document where its symbols begin, the symbols, and the strings they use.
 */
import { crc32 } from "node:zlib";
import type { SymbolSpan } from "../document.ts";
import { EngineError } from "../errors.ts";
import type { SymbolInfo } from "../result.ts";
import { Turns } from "../turns.ts";

const MAGIC = 0x3159_534b;
const HEADER_WORDS = 6;
const SYMBOL_WORDS = 5;
/** Nothing that anybody would call a name is longer. A byte that flipped must not make one of the rest of memory. */
export const NAME_BYTES_MAX = 4_096;

/** Symbols by the number of the document in its segment. */
export async function encodeSymbols(
  documents: number,
  symbols: ReadonlyMap<number, readonly SymbolSpan[]>,
): Promise<Uint8Array> {
  const turns = new Turns();
  const strings = new Map<string, number>([["", 0]]);
  const number = (text: string | undefined): number => {
    const known = strings.get(text ?? "");
    if (known !== undefined) return known;
    strings.set(text ?? "", strings.size);
    return strings.size - 1;
  };
  const index = new Uint32Array(documents + 1);
  let count = 0;
  for (const each of symbols.values()) count += each.length;
  const words = new Uint32Array(count * SYMBOL_WORDS);
  let at = 0;
  for (let document = 0; document < documents; document += 1) {
    index[document] = at / SYMBOL_WORDS;
    for (const { start, end, kind, parent, parentKind } of symbols.get(document) ?? []) {
      words.set([start, end, number(kind), number(parent), number(parentKind)], at);
      at += SYMBOL_WORDS;
    }
    if (turns.due) await turns.give();
  }
  index[documents] = at / SYMBOL_WORDS;
  const text = Buffer.from(JSON.stringify([...strings.keys()]));
  const stringsAt = (HEADER_WORDS + index.length + words.length) * 4;
  const bytes = Buffer.alloc(stringsAt + text.length);
  const view = new Uint32Array(bytes.buffer, bytes.byteOffset, stringsAt / 4);
  view.set([MAGIC, bytes.length, 0, documents, stringsAt, text.length]);
  view.set(index, HEADER_WORDS);
  view.set(words, HEADER_WORDS + index.length);
  text.copy(bytes, stringsAt);
  view[2] = crc32(bytes.subarray(12));
  return bytes;
}

export function areSymbols(bytes: Uint8Array): boolean {
  if (bytes.length < HEADER_WORDS * 4) return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return (
    view.getUint32(0, true) === MAGIC &&
    view.getUint32(4, true) === bytes.length &&
    view.getUint32(8, true) === crc32(Buffer.from(bytes.subarray(12)))
  );
}

export class SymbolTable {
  readonly #words: Uint32Array;
  readonly #symbols: number;
  /** As many as there is room for, or fewer. */
  readonly #count: number;
  readonly #text: Buffer;
  #strings: readonly string[] | undefined;

  /** Requires `areSymbols(bytes)`, at an address divisible by four. */
  constructor(bytes: Uint8Array) {
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
    this.#symbols = HEADER_WORDS + this.#words[3]! + 1;
    this.#count = Math.floor(Math.max(0, this.#words.length - this.#symbols) / SYMBOL_WORDS);
    const stringsAt = this.#words[4]!;
    this.#text = Buffer.from(bytes.buffer as ArrayBuffer, bytes.byteOffset + stringsAt, this.#words[5]);
  }

  /** The numbers of a document's symbols, half-open. */
  range(document: number): readonly [number, number] {
    const first = this.#words[HEADER_WORDS + document]!;
    const stop = this.#words[HEADER_WORDS + document + 1]!;
    if (first > stop || stop > this.#count)
      throw new EngineError("CORRUPT_INDEX", "memory no longer holds the symbols that were found");
    return [first, stop];
  }

  start(symbol: number): number {
    return this.#words[this.#symbols + symbol * SYMBOL_WORDS]!;
  }

  end(symbol: number): number {
    const at = this.#symbols + symbol * SYMBOL_WORDS;
    return Math.min(this.#words[at + 1]!, this.#words[at]! + NAME_BYTES_MAX);
  }

  kind(symbol: number): string {
    return this.#string(symbol, 2);
  }

  span(symbol: number): SymbolSpan {
    return {
      start: this.start(symbol),
      end: this.end(symbol),
      kind: this.kind(symbol),
      parent: this.#string(symbol, 3),
      parentKind: this.#string(symbol, 4),
    };
  }

  info(symbol: number, name: string): SymbolInfo {
    return {
      name,
      kind: this.kind(symbol),
      parent: this.#string(symbol, 3),
      parentKind: this.#string(symbol, 4),
    };
  }

  /** The symbol of the document that [start, end) covers most of, the first of equal ones, or -1. */
  touched(document: number, start: number, end: number): number {
    const [first, stop] = this.range(document);
    let low = first;
    let high = stop;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.end(middle) <= start) low = middle + 1;
      else high = middle;
    }
    if (low >= stop || this.start(low) >= end) return -1;
    // Whatever is touched after the second is so because all of the second is.
    const next = low + 1;
    if (next >= stop || this.start(next) >= end) return low;
    return this.#covered(next, start, end) > this.#covered(low, start, end) ? next : low;
  }

  #covered(symbol: number, start: number, end: number): number {
    const from = this.start(symbol);
    const to = this.end(symbol);
    return (Math.min(to, end) - Math.max(from, start)) / Math.max(1, to - from);
  }

  #string(symbol: number, field: number): string {
    this.#strings ??= this.#readStrings();
    return this.#strings[this.#words[this.#symbols + symbol * SYMBOL_WORDS + field]!] ?? "";
  }

  #readStrings(): string[] {
    try {
      return JSON.parse(this.#text.toString("utf8")) as string[];
    } catch (error) {
      throw new EngineError("CORRUPT_INDEX", `memory no longer holds the names of symbols: ${String(error)}`);
    }
  }
}
