/** Turns hits into what an answer shows: lines cut out of the text, columns counted in characters, context around them. */
import { bestLines } from "../rank/best-lines.ts";
import { TermCounts, lineRatio } from "../rank/bm25.ts";
import { explainFile, explainMatch } from "../rank/explain.ts";
import { pathScore } from "../rank/score.ts";
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
  readonly explain: boolean;
  /** Of documents, where they are ranked by BM25. */
  readonly averageBytes: number | undefined;
  /** Where there are more, those of the best lines. */
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
    ...(hit.records.length > 0
      ? {}
      : { pathScore: terms.averageBytes === undefined ? bestInPath(hit, segment) : 0 }),
    ...(terms.explain ? { debug: explained(hit, segment, terms) } : {}),
    ...(terms.whole ? { content: segment.content(document) } : {}),
  });
  const steps = lines(hit, text, shown, terms);
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

/** The best place in the path. */
function bestInPath({ document, path, pathRanges }: Hit, segment: Segment): number {
  const from = segment.nameStart(document);
  const to = from + segment.nameBytes(document);
  const base = to - Buffer.byteLength(path.slice(path.lastIndexOf("/") + 1));
  let best = 0;
  for (let i = 0; i < pathRanges.length; i += 2)
    best = Math.max(
      best,
      pathScore(segment.bytes, from, to, base, from + pathRanges[i]!, from + pathRanges[i + 1]!),
    );
  return best;
}

function explained({ document, score, atoms, matchCount }: Hit, segment: Segment, terms: ShowTerms): string {
  const category = segment.category(document);
  if (terms.averageBytes === undefined)
    return explainFile(score, atoms, category, segment.categoryNumber(document));
  const ratio = segment.contentBytes(document) / Math.max(1, terms.averageBytes);
  return `bm25: ${score.toFixed(2)} <- matches: ${matchCount}, length: ${ratio.toFixed(2)} of the average, ${category}`;
}

function* lines(
  hit: Hit,
  text: Uint8Array,
  { segment, symbols }: Pick<Shown, "segment" | "symbols">,
  terms: ShowTerms,
): Generator<LineMatch[] | undefined, LineMatch[]> {
  const { records } = hit;
  let out: LineMatch[] = [];
  const count = records.length / RECORD_WORDS;
  const wanted = count > terms.matchesMax ? yield* choice(records, terms) : undefined;
  let bytes = 0;
  let number = 0;
  for (let i = 0; i < count && bytes <= terms.bytesMax;) {
    const next = afterLine(records, i);
    const shownTo = wanted === undefined ? next : i + wanted[number]!;
    const score = scoreOfLine(records, i, next, terms);
    number += 1;
    if (shownTo === i) {
      i = next;
      continue;
    }
    const at = i * RECORD_WORDS;
    const line = records[at + 2]!;
    const lineStart = records[at + 3]!;
    const lineEnd = records[at + 4]!;
    const columns = new Columns(text, lineStart, line);
    const ranges: MatchRange[] = [];
    let end = Math.min(lineEnd + 1, text.length);
    const best = terms.explain ? bestOfLine(records, i, next) : 0;
    for (; i < shownTo; i += 1) {
      const each = i * RECORD_WORDS;
      if (i % STEP_MATCHES === 0) yield undefined;
      const from = records[each]!;
      const to = records[each + 1]!;
      const symbol = records[each + 6]! - 1;
      const start = columns.position(from);
      const stop =
        to <= lineEnd || to === from ? columns.position(to) : new Columns(text, lineStart, line).end(to);
      if (to > end) end = lineEndAt(text, to - 1);
      ranges.push(
        symbols === undefined || symbol < 0
          ? { start, end: stop }
          : { start, end: stop, symbol: symbols.info(symbol, nameOf(symbols, symbol, text)) },
      );
    }
    i = next;
    const made: LineMatch = {
      line,
      start: lineStart,
      end,
      text: copy(text, lineStart, end),
      ranges,
      score,
      ...(terms.explain
        ? {
            debug:
              terms.averageBytes === undefined
                ? explainMatch(
                    text,
                    [records[best]!, records[best + 1]!],
                    symbols === undefined || records[best + 6] === 0
                      ? undefined
                      : symbols.span(records[best + 6]! - 1),
                    { language: segment.language(hit.document), path: hit.path },
                  )
                : `bm25: ${score.toFixed(2)} <- matches: ${ranges.length}, bytes: ${end - lineStart}`,
          }
        : {}),
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

/** The number of the first match on another line. */
function afterLine(records: Uint32Array, first: number): number {
  const line = records[first * RECORD_WORDS + 2];
  let next = first + 1;
  while (next * RECORD_WORDS < records.length && records[next * RECORD_WORDS + 2] === line) next += 1;
  return next;
}

/** Of the matches from `first` up to `next`, which are all those of a line. */
function scoreOfLine(records: Uint32Array, first: number, next: number, terms: ShowTerms): number {
  if (terms.averageBytes === undefined) return records[bestOfLine(records, first, next) + 5]!;
  const counts = new TermCounts();
  for (let at = first * RECORD_WORDS; at < next * RECORD_WORDS; at += RECORD_WORDS)
    counts.add(records[at + 5]!, records[at + 6]! > 0);
  const at = first * RECORD_WORDS;
  return counts.score(lineRatio(records[at + 4]! + 1 - records[at + 3]!), false);
}

/** Where the record of its best match begins. */
function bestOfLine(records: Uint32Array, first: number, next: number): number {
  let best = first * RECORD_WORDS;
  for (let at = best; at < next * RECORD_WORDS; at += RECORD_WORDS)
    if (records[at + 5]! > records[best + 5]!) best = at;
  return best;
}

/** How many matches of each line are shown where not all can be. */
function* choice(records: Uint32Array, terms: ShowTerms): Generator<undefined, readonly number[]> {
  const scores: number[] = [];
  const matches: number[] = [];
  const count = records.length / RECORD_WORDS;
  for (let i = 0; i < count;) {
    const next = afterLine(records, i);
    scores.push(scoreOfLine(records, i, next, terms));
    matches.push(next - i);
    if (scores.length % STEP_LINES === 0) yield undefined;
    i = next;
  }
  return bestLines(scores, matches, terms.matchesMax);
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

  /** Of what ends there: after its last character, which may be a line break. */
  end(offset: number): Position {
    const { line, column } = this.position(offset - 1);
    return { offset, line, column: (this.#text[offset - 1]! & 0xc0) === 0x80 ? column : column + 1 };
  }
}
