/**
 * Lines as zoekt shows them when it shows lines: each by itself. What matched over several lines is a part on each of them, without the line break; a line has the parts of all
 * matches that touch it.
 */
import type { LineMatch, SymbolInfo } from "../engine/index.ts";

/** A place in a line, in bytes from the start of the file. */
export interface Place {
  readonly start: { readonly offset: number };
  readonly end: { readonly offset: number };
  readonly symbol?: SymbolInfo;
}

export type LineApart = Omit<LineMatch, "ranges"> & { readonly ranges: readonly Place[] };

/** Lines that are looked at between two looks at the time. */
const STEP_LINES = 500;

/**
 * In the order of the file; now and then there is none: then it is others' turn. `contextLines` is how many lines stand before and after each. Requires matches in order that do not overlap: of the
 * lines of one, the next can touch only the last.
 */
export function* linesApart(
  lines: readonly LineMatch[],
  contextLines: number,
): Generator<LineApart | undefined> {
  let last: LineApart | undefined;
  for (const match of lines) {
    for (const each of isOne(match) ? [match] : apart(match, contextLines)) {
      if (each === undefined) yield undefined;
      else if (last?.line === each.line) last = joined(last, each);
      else {
        if (last !== undefined) yield last;
        last = each;
      }
    }
  }
  if (last !== undefined) yield last;
}

/** Most matches end before the line break. */
function isOne({ text, start, ranges }: LineMatch): boolean {
  const broken = text.indexOf(10);
  if (broken === -1) return true;
  return broken === text.length - 1 && ranges.every(({ end }) => end.offset <= start + broken);
}

function* apart(match: LineMatch, contextLines: number): Generator<LineApart | undefined> {
  const { before, after, text, ranges } = match;
  let { start, line } = match;
  const shown = Buffer.concat([before ?? NOTHING, text, after ?? NOTHING]);
  const shownFrom = start - (before?.length ?? 0);
  let some = false;
  let first = 0;
  let count = 0;
  for (const end = match.end; start < end; line += 1) {
    if (++count % STEP_LINES === 0) yield undefined;
    const broken = text.indexOf(10, start - match.start);
    const next = broken === -1 ? end : match.start + broken + 1;
    const textEnd = broken === -1 ? end : next - 1;
    while (first < ranges.length && ranges[first]!.end.offset < start) first += 1;
    const parts = partsOf(ranges, first, start, textEnd);
    // What is nothing but line breaks is shown all the same.
    const places: readonly Place[] =
      parts.length > 0 || some || next < end ? parts : [emptyAt(match, start, textEnd)];
    if (places.length > 0)
      yield {
        ...match,
        line,
        start,
        end: next,
        text: text.subarray(start - match.start, next - match.start),
        ranges: places,
        ...(before === undefined ? {} : { before: linesBefore(shown, start - shownFrom, contextLines) }),
        ...(after === undefined ? {} : { after: linesAfter(shown, next - shownFrom, contextLines) }),
      };
    some ||= places.length > 0;
    start = next;
  }
}

/** Of the matches from `first` on, what lies in a line; a match that only ends where it begins has nothing in it. */
function partsOf(ranges: LineMatch["ranges"], first: number, lineStart: number, lineEnd: number): Place[] {
  const parts: Place[] = [];
  for (let i = first; i < ranges.length && ranges[i]!.start.offset <= lineEnd; i += 1) {
    const range = ranges[i]!;
    const from = Math.max(lineStart, range.start.offset);
    const to = Math.min(lineEnd, range.end.offset);
    if (from < to || range.start.offset === range.end.offset)
      parts.push({ ...range, start: { offset: from }, end: { offset: to } });
  }
  return parts;
}

const NOTHING = Buffer.alloc(0);

function emptyAt({ ranges }: LineMatch, lineStart: number, lineEnd: number): Place {
  const offset = Math.max(lineStart, Math.min(ranges[0]?.start.offset ?? lineEnd, lineEnd));
  return { start: { offset }, end: { offset } };
}

function linesBefore(bytes: Buffer, to: number, count: number): Buffer {
  let from = to;
  for (let i = 0; i < count && from > 0; i += 1) from = from === 1 ? 0 : bytes.lastIndexOf(10, from - 2) + 1;
  return bytes.subarray(from, to);
}

function linesAfter(bytes: Buffer, from: number, count: number): Buffer {
  let to = from;
  for (let i = 0; i < count && to < bytes.length; i += 1) {
    const broken = bytes.indexOf(10, to);
    to = broken === -1 ? bytes.length : broken + 1;
  }
  return bytes.subarray(from, to);
}

/** A line that is in both has the places of both. */
function joined(one: LineApart, other: LineApart): LineApart {
  return { ...one, score: Math.max(one.score, other.score), ranges: [...one.ranges, ...other.ranges] };
}
