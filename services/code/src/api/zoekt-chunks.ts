/** Matches as zoekt's chunks: neighbouring lines, context included, in one piece. */
import type { FileMatch, LineMatch } from "../engine/index.ts";
import { base64, symbolInfo } from "./zoekt-values.ts";

interface Line {
  readonly text: Uint8Array;
  readonly start: number;
}

export function chunksOf(file: FileMatch): Record<string, unknown>[] {
  if (file.lines.length === 0 && file.pathRanges.length > 0) return [pathChunk(file)];
  const lines = new Map<number, Line>();
  for (const match of file.lines) for (const [number, line] of linesAround(match)) lines.set(number, line);
  const numbers = [...lines.keys()].sort((a, b) => a - b);
  const chunks: number[][] = [];
  for (const number of numbers) {
    const last = chunks.at(-1);
    if (last && last.at(-1) === number - 1) last.push(number);
    else chunks.push([number]);
  }
  return chunks.map((chunk) => chunkOf(file, chunk, lines));
}

function chunkOf(
  file: FileMatch,
  numbers: readonly number[],
  lines: ReadonlyMap<number, Line>,
): Record<string, unknown> {
  const first = numbers[0]!;
  const last = numbers.at(-1)!;
  const inside = file.lines.filter(({ line }) => line >= first && line <= last);
  const ranges = inside.flatMap((match) => match.ranges);
  const best = inside.reduce((one, other) => (other.score > one.score ? other : one));
  const pieces = numbers.map((number) => lines.get(number)!.text);
  const symbols = ranges.map(({ symbol }) => symbolInfo(symbol));
  return {
    Content: base64(Buffer.concat(pieces.flatMap((piece, i) => (i === 0 ? [piece] : [NEWLINE, piece])))),
    ContentStart: { ByteOffset: lines.get(first)!.start, LineNumber: first, Column: 1 },
    FileName: false,
    Ranges: ranges.map(({ start, end }) => ({ Start: location(start), End: location(end) })),
    SymbolInfo: symbols.some((symbol) => symbol !== null) ? symbols : null,
    Score: best.score,
    DebugScore: "",
    BestLineMatch: best.line,
  };
}

const NEWLINE = Buffer.from("\n");

/** The line of a match with its context, by number. */
function linesAround(match: LineMatch): [number, Line][] {
  const before = split(match.before);
  const after = split(match.after);
  const found: [number, Line][] = [];
  let end = match.start;
  for (const [i, text] of [...before.entries()].reverse()) {
    end -= text.length + 1;
    found.push([match.line - before.length + i, { text, start: end }]);
  }
  found.push([match.line, { text: match.text, start: match.start }]);
  let start = match.end + 1;
  for (const [i, text] of after.entries()) {
    found.push([match.line + 1 + i, { text, start }]);
    start += text.length + 1;
  }
  return found;
}

function split(bytes: Uint8Array | undefined): Uint8Array[] {
  if (!bytes || bytes.length === 0) return [];
  const lines: Uint8Array[] = [];
  let from = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
    lines.push(bytes.subarray(from, at));
    from = at + 1;
  }
  if (from < bytes.length) lines.push(bytes.subarray(from));
  return lines;
}

function pathChunk({ path, pathRanges, score }: FileMatch): Record<string, unknown> {
  const at = (offset: number): unknown => ({ ByteOffset: offset, LineNumber: 1, Column: offset + 1 });
  return {
    Content: Buffer.from(path).toString("base64"),
    ContentStart: at(0),
    FileName: true,
    Ranges: pathRanges.map(({ start, end }) => ({ Start: at(start), End: at(end) })),
    SymbolInfo: null,
    Score: score,
    DebugScore: "",
    BestLineMatch: 1,
  };
}

function location({ offset, line, column }: { offset: number; line: number; column: number }): unknown {
  return { ByteOffset: offset, LineNumber: line, Column: column };
}
