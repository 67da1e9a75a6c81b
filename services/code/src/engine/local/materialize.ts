/** Turns hits into what an answer shows: lines cut out of the text, columns counted in characters, context around them. */
import type { FileMatch, LineMatch, MatchRange, Position } from "../result.ts";
import { RECORD_WORDS, type Hit } from "../search/hit.ts";
import type { BranchMasks } from "../search/open-segment.ts";
import type { Segment } from "../segment/segment.ts";
import type { SymbolTable } from "../segment/symbols.ts";
import { bytesOfLine } from "../shown-bytes.ts";

export interface Shown {
  readonly segment: Segment;
  readonly symbols: SymbolTable | undefined;
  readonly firstDocument: number;
  readonly masks: BranchMasks;
  readonly branches: readonly string[];
}

export interface ShowTerms {
  readonly contextLines: number;
  readonly whole: boolean;
  readonly matchesMax: number;
  /** Of lines and matches; what goes beyond is the last. */
  readonly bytesMax: number;
  readonly inParts: boolean;
}

const STEP_MATCHES = 256;
/** Lines that are given away before the next are made. */
const STEP_LINES = 256;

/**
 * In steps: a file can have a hundred thousand matches, and whoever asks may want to do something else in between. With `inParts` it yields lines when there are some, the first with all else of
 * the file, and returns the rest.
 */
export function* materialize(
  hit: Hit,
  shown: Shown,
  terms: ShowTerms,
): Generator<FileMatch | readonly LineMatch[] | undefined, FileMatch | readonly LineMatch[]> {
  const { segment, firstDocument, masks, branches } = shown;
  const { document } = hit;
  const start = segment.start(document);
  const text = segment.bytes.subarray(start, start + segment.contentBytes(document));
  const pathRanges: { start: number; end: number }[] = [];
  for (let i = 0; i < hit.pathRanges.length; i += 2)
    pathRanges.push({ start: hit.pathRanges[i]!, end: hit.pathRanges[i + 1]! });
  const file = (first: readonly LineMatch[]): FileMatch => ({
    document: firstDocument + document,
    path: hit.path,
    oid: segment.oid(document),
    language: segment.language(document),
    branches: branches.filter((_, branch) => masks.has(firstDocument + document, branch)),
    score: hit.score,
    matchCount: hit.matchCount,
    pathRanges,
    lines: first,
    ...(terms.whole ? { content: segment.content(document) } : {}),
  });
  const steps = lines(hit, text, shown.symbols, terms);
  let begun = false;
  for (;;) {
    const step = steps.next();
    if (step.value === undefined) yield undefined;
    else {
      const part = begun ? step.value : file(step.value);
      if (step.done === true) return part;
      begun = true;
      yield part;
    }
  }
}

function* lines(
  hit: Hit,
  text: Uint8Array,
  symbols: SymbolTable | undefined,
  terms: ShowTerms,
): Generator<LineMatch[] | undefined, LineMatch[]> {
  const { records } = hit;
  let out: LineMatch[] = [];
  const count = Math.min(terms.matchesMax, records.length / RECORD_WORDS);
  let bytes = 0;
  for (let i = 0; i < count && bytes <= terms.bytesMax;) {
    const at = i * RECORD_WORDS;
    const line = records[at + 2]!;
    const lineStart = records[at + 3]!;
    const lineEnd = records[at + 4]!;
    const columns = new Columns(text, lineStart, line);
    const ranges: MatchRange[] = [];
    let score = 0;
    let end = Math.min(lineEnd + 1, text.length);
    for (; i < count && records[i * RECORD_WORDS + 2] === line; i += 1) {
      const each = i * RECORD_WORDS;
      if (i % STEP_MATCHES === 0) yield undefined;
      const from = records[each]!;
      const to = records[each + 1]!;
      const symbol = records[each + 6]! - 1;
      score = Math.max(score, records[each + 5]!);
      const start = columns.position(from);
      const stop = to <= lineEnd ? columns.position(to) : new Columns(text, lineStart, line).position(to);
      if (to > end) end = lineEndAt(text, to - 1);
      ranges.push(
        symbols === undefined || symbol < 0
          ? { start, end: stop }
          : { start, end: stop, symbol: symbols.info(symbol, nameOf(symbols, symbol, text)) },
      );
    }
    const made: LineMatch = {
      line,
      start: lineStart,
      end,
      text: copy(text, lineStart, end),
      ranges,
      score,
      ...(terms.contextLines > 0 ? context(text, lineStart, end, terms.contextLines) : {}),
    };
    bytes += bytesOfLine(made);
    if (terms.inParts && out.length >= STEP_LINES) {
      yield out;
      out = [];
    }
    out.push(made);
  }
  return out;
}

function nameOf(symbols: SymbolTable, symbol: number, text: Uint8Array): string {
  return copy(text, symbols.start(symbol), symbols.end(symbol)).toString("utf8");
}

/** Where the line ends that this byte is in, with its line break. */
function lineEndAt(text: Uint8Array, at: number): number {
  const found = text.indexOf(10, at);
  return found === -1 ? text.length : found + 1;
}

/** With all line breaks, so that an empty line is one too. */
function context(
  text: Uint8Array,
  start: number,
  end: number,
  count: number,
): { before: Buffer; after: Buffer } {
  let from = start;
  for (let i = 0; i < count && from > 0; i += 1) from = from === 1 ? 0 : text.lastIndexOf(10, from - 2) + 1;
  let to = end;
  for (let i = 0; i < count && to < text.length; i += 1) to = lineEndAt(text, to);
  return { before: copy(text, from, start), after: copy(text, end, to) };
}

/** Out of memory that small buffers share: one of its own for each line is more work to collect than all else of it. */
function copy(text: Uint8Array, from: number, to: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, to - from));
  bytes.set(text.subarray(from, Math.max(from, to)));
  return bytes;
}

/** Counts characters from a line's start, going right only, so that many matches in a long line cost one walk. */
class Columns {
  readonly #text: Uint8Array;
  #at: number;
  #line: number;
  #column = 1;

  constructor(text: Uint8Array, lineStart: number, line: number) {
    this.#text = text;
    this.#at = lineStart;
    this.#line = line;
  }

  position(offset: number): Position {
    for (; this.#at < offset; this.#at += 1) {
      const byte = this.#text[this.#at]!;
      if (byte === 10) {
        this.#line += 1;
        this.#column = 1;
      } else if ((byte & 0xc0) !== 0x80) this.#column += 1;
    }
    return { offset, line: this.#line, column: this.#column };
  }
}
