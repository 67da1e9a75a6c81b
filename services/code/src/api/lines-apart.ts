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

/** In the order of the file. `contextLines` is how many lines stand before and after each. */
export function* linesApart(lines: readonly LineMatch[], contextLines: number): Generator<LineApart> {
  let open: LineApart[] = [];
  for (const match of lines) {
    while (open.length > 0 && open[0]!.line < match.line) yield open.shift()!;
    if (open.length === 0 && isOne(match)) yield match;
    else open = joined(open, [...apart(match, contextLines)]);
  }
  yield* open;
}

/** Most matches end before the line break. */
function isOne({ text, start, ranges }: LineMatch): boolean {
  const broken = text.indexOf(10);
  if (broken === -1) return true;
  return broken === text.length - 1 && ranges.every(({ end }) => end.offset <= start + broken);
}

function* apart(match: LineMatch, contextLines: number): Generator<LineApart> {
  const { before, after, text, ranges } = match;
  let { start, line } = match;
  const shown = Buffer.concat([before ?? NOTHING, text, after ?? NOTHING]);
  const shownFrom = start - (before?.length ?? 0);
  let some = false;
  for (const end = match.end; start < end; line += 1) {
    const broken = text.indexOf(10, start - match.start);
    const next = broken === -1 ? end : match.start + broken + 1;
    const textEnd = broken === -1 ? end : next - 1;
    const parts = ranges.flatMap((range) => {
      const from = Math.max(start, range.start.offset);
      const to = Math.min(textEnd, range.end.offset);
      if (from > to || (from === to && range.start.offset !== range.end.offset)) return [];
      return [{ ...range, start: { offset: from }, end: { offset: to } }];
    });
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
function joined(open: readonly LineApart[], more: readonly LineApart[]): LineApart[] {
  const lines = new Map(open.map((each) => [each.line, each]));
  for (const each of more) {
    const known = lines.get(each.line);
    lines.set(
      each.line,
      known === undefined
        ? each
        : { ...known, score: Math.max(known.score, each.score), ranges: [...known.ranges, ...each.ranges] },
    );
  }
  return [...lines.values()].sort((a, b) => a.line - b.line);
}
