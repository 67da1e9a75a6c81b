/**
 * The files of an answer as bytes, on their way from a holder to whoever asked. As objects they would be written and read between nodes in one go, and an answer of megabytes would hold up both
 * event loops for a tenth of a second. Here both sides take turns with others.
 *
 * A part is two u32 (the length of the JSON, then of the bytes, little-endian), the JSON, and the bytes that it names by their lengths, in order: the file's content, then for each line its text and
 * what is before and after it. A file with many matches is several parts, of which only the first says what file it is; so is a line. What is unknown at the end of an array is left alone.
 */
import {
  Turns,
  type FileMatch,
  type LineMatch,
  type MatchRange,
  type Position,
  type SymbolInfo,
} from "../engine/index.ts";

type PackedFile = Omit<FileMatch, "lines" | "content"> & { readonly contentBytes?: number };

/** Start and end, each as offset, line and column, and the symbol when there is one. */
type PackedRange = readonly [number, number, number, number, number, number, SymbolInfo?];

/** Number, start, end, score, lengths of text (-1: more ranges of the line before), before and after (-1: there is none), ranges, how it came by its score. */
type PackedLine = readonly [
  number,
  number,
  number,
  number,
  number,
  number,
  number,
  readonly PackedRange[],
  string?,
];

interface Part {
  readonly file?: PackedFile;
  readonly lines: readonly PackedLine[];
}

/** Ranges in one part: a few milliseconds' worth. */
const RANGES_MAX = 2_000;
const HEAD_BYTES = 8;

/** Grows by this at least. */
const GROWTH_BYTES = 65_536;

/** Packs one file after the other into one run of bytes: nothing of a file is kept but these. */
export class FilePacker {
  readonly #turns = new Turns();
  readonly #bytesMax: number;
  #bytes: Buffer;
  #used = 0;
  /** Where the last file begins. */
  #last = 0;

  /** Writes into this while it is large enough, and never more than `bytesMax`. */
  constructor(bytes: Buffer = Buffer.alloc(0), bytesMax: number = Number.MAX_SAFE_INTEGER) {
    this.#bytes = bytes;
    this.#bytesMax = bytesMax;
  }

  /** What it has written into, with room for more. */
  get buffer(): Buffer {
    return this.#bytes;
  }

  get packed(): Uint8Array {
    return this.#bytes.subarray(0, this.#used);
  }

  /** False when it is too large: then nothing of it is there. */
  add({ lines, content, ...file }: FileMatch): Promise<boolean> {
    this.#last = this.#used;
    if (content === undefined) return this.#add({ file, lines: [] }, [], lines);
    return this.#add({ file: { ...file, contentBytes: content.length }, lines: [] }, [content], lines);
  }

  /** More lines of the last file. False when it is too large with them: then nothing of it is there. */
  more(lines: readonly LineMatch[]): Promise<boolean> {
    return this.#add({ lines: [] }, [], lines);
  }

  async #add(
    part: { file?: PackedFile; lines: PackedLine[] },
    pieces: Uint8Array[],
    lines: readonly LineMatch[],
  ): Promise<boolean> {
    let room = RANGES_MAX;
    for (const line of lines) {
      let from = 0;
      do {
        if (room <= 0) {
          if (!this.#push(part, pieces)) return this.#forget();
          [part, pieces, room] = [{ lines: [] }, [], RANGES_MAX];
          if (this.#turns.due) await this.#turns.give();
        }
        const ranges = line.ranges.slice(from, from + room).map(packRange);
        part.lines.push(
          from === 0 ? packLine(line, ranges, pieces) : [line.line, 0, 0, 0, -1, -1, -1, ranges],
        );
        from += ranges.length;
        room -= Math.max(1, ranges.length);
      } while (from < line.ranges.length);
    }
    if (!this.#push(part, pieces)) return this.#forget();
    if (this.#turns.due) await this.#turns.give();
    return true;
  }

  /** Nothing of the last file is kept. */
  forgetLast(): void {
    this.#used = this.#last;
  }

  #forget(): false {
    this.forgetLast();
    return false;
  }

  #push(part: Part, pieces: readonly Uint8Array[]): boolean {
    const json = JSON.stringify(part);
    const jsonBytes = Buffer.byteLength(json);
    const bodyBytes = pieces.reduce((sum, each) => sum + each.length, 0);
    const needed = this.#used + HEAD_BYTES + jsonBytes + bodyBytes;
    if (needed > this.#bytesMax) return false;
    this.#grow(needed);
    const bytes = this.#bytes;
    let at = bytes.writeUInt32LE(jsonBytes, this.#used);
    at = bytes.writeUInt32LE(bodyBytes, at);
    at += bytes.write(json, at);
    for (const piece of pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    this.#used = at;
    return true;
  }

  #grow(bytes: number): void {
    if (bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(bytes, this.#bytes.length * 1.5, GROWTH_BYTES) | 0);
    grown.set(this.packed);
    this.#bytes = grown;
  }
}

function packLine(
  { line, start, end, score, text, before, after, debug }: LineMatch,
  ranges: readonly PackedRange[],
  pieces: Uint8Array[],
): PackedLine {
  pieces.push(text);
  if (before !== undefined) pieces.push(before);
  if (after !== undefined) pieces.push(after);
  const packed = [
    line,
    start,
    end,
    score,
    text.length,
    before?.length ?? -1,
    after?.length ?? -1,
    ranges,
  ] as const;
  return debug === undefined ? packed : [...packed, debug];
}

function packRange({ start, end, symbol }: MatchRange): PackedRange {
  const places = [start.offset, start.line, start.column, end.offset, end.line, end.column] as const;
  return symbol === undefined ? places : [...places, symbol];
}

export async function unpackFiles(packed: Uint8Array): Promise<FileMatch[]> {
  const turns = new Turns();
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const files: OpenFile[] = [];
  for (let at = 0; at < bytes.length;) {
    const json = at + HEAD_BYTES;
    const body = json + bytes.readUInt32LE(at);
    const end = body + bytes.readUInt32LE(at + 4);
    const part = JSON.parse(bytes.toString("utf8", json, body)) as Part;
    const cut = cutter(bytes.subarray(body, end));
    if (part.file !== undefined) {
      const { contentBytes, ...file } = part.file;
      const content = contentBytes === undefined ? {} : { content: cut(contentBytes) };
      files.push({ ...file, ...content, lines: [] });
    }
    const lines = files.at(-1)?.lines ?? [];
    for (const line of part.lines) {
      const ranges = line[7].map(unpackRange);
      if (line[4] < 0) lines.at(-1)?.ranges.push(...ranges);
      else lines.push(unpackLine(line, ranges, cut));
    }
    at = end;
    if (turns.due) await turns.give();
  }
  return files;
}

/** To which more may be added. */
type OpenLine = Omit<LineMatch, "ranges"> & { readonly ranges: MatchRange[] };
type OpenFile = Omit<FileMatch, "lines"> & { readonly lines: OpenLine[] };

function cutter(bytes: Buffer): (length: number) => Buffer {
  let at = 0;
  return (length) => bytes.subarray(at, (at += length));
}

function unpackLine(
  [line, start, end, score, textBytes, beforeBytes, afterBytes, , debug]: PackedLine,
  ranges: MatchRange[],
  cut: (length: number) => Buffer,
): OpenLine {
  return {
    line,
    start,
    end,
    score,
    ...(debug === undefined ? {} : { debug }),
    text: cut(textBytes),
    ...(beforeBytes < 0 ? {} : { before: cut(beforeBytes) }),
    ...(afterBytes < 0 ? {} : { after: cut(afterBytes) }),
    ranges,
  };
}

function unpackRange([a, b, c, d, e, f, symbol]: PackedRange): MatchRange {
  const start: Position = { offset: a, line: b, column: c };
  const end: Position = { offset: d, line: e, column: f };
  return symbol === undefined ? { start, end } : { start, end, symbol };
}
