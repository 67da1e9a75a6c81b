/**
 * Matches as zoekt's chunks: lines that overlap, context included, in one piece. It says where chunks begin and end and what they hold; `zoekt-json.ts` writes them in steps, because
 * one of them can be a whole file.
 */
import type { FileMatch, LineMatch } from "../engine/index.ts";

/** Lines with matches that share a line, those around them included; lines that only stand next to each other are apart. */
export interface Chunk {
  readonly matches: readonly LineMatch[];
  readonly firstLine: number;
  /** Bytes from the start of the file. */
  readonly start: number;
  readonly best: LineMatch;
}

/** Lines that are looked at between two looks at the time. */
const STEP_LINES = 500;

/** In order. Now and then there is none: then it is others' turn. */
export function* chunksOf(lines: readonly LineMatch[]): Generator<Chunk | undefined> {
  let from = 0;
  let best = lines[0];
  let end = 0;
  for (const [at, match] of lines.entries()) {
    if (at > from && startOf(match) >= end) {
      yield chunk(lines.slice(from, at), best!);
      from = at;
      best = match;
    }
    if (match.score > best!.score) best = match;
    end = Math.max(end, match.end + (match.after?.length ?? 0));
    if (at % STEP_LINES === STEP_LINES - 1) yield undefined;
  }
  if (best !== undefined) yield chunk(lines.slice(from), best);
}

function startOf({ start, before }: LineMatch): number {
  return start - (before?.length ?? 0);
}

function chunk(matches: readonly LineMatch[], best: LineMatch): Chunk {
  const first = matches[0]!;
  return { matches, firstLine: first.line - lineBreaks(first.before), start: startOf(first), best };
}

function lineBreaks(bytes: Uint8Array = NOTHING): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

const NOTHING = new Uint8Array(0);

/** Its bytes, piece by piece: each line once, whichever match it is around. */
export function* contentOf({ matches, start }: Chunk): Generator<Uint8Array> {
  let at = start;
  for (const match of matches) {
    let from = startOf(match);
    for (const piece of [match.before ?? NOTHING, match.text, match.after ?? NOTHING]) {
      const known = Math.min(piece.length, Math.max(0, at - from));
      if (known < piece.length) yield piece.subarray(known);
      from += piece.length;
      at = Math.max(at, from);
    }
  }
}

/** A match in the name of a file is a chunk that is the name. */
export function pathChunk({ path, pathRanges, pathScore = 0 }: FileMatch): Record<string, unknown> {
  const bytes = Buffer.from(path);
  const at = (offset: number): unknown => ({
    ByteOffset: offset,
    LineNumber: 1,
    Column: Array.from(bytes.toString("utf8", 0, offset)).length + 1,
  });
  return {
    Content: bytes.toString("base64"),
    ContentStart: at(0),
    FileName: true,
    Ranges: pathRanges.map(({ start, end }) => ({ Start: at(start), End: at(end) })),
    SymbolInfo: null,
    Score: pathScore,
    DebugScore: "",
    BestLineMatch: 0,
  };
}
