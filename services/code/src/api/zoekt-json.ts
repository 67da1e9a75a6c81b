/** Writes zoekt's JSON in pieces, taking turns with others on the event loop: as one text, an answer of many megabytes would hold it up for as long as it takes to write. */
import { JsonText } from "@keelson/runtime";
import { Turns, type FileMatch, type LineMatch, type MatchRange, type Position } from "../engine/index.ts";
import { bestFirst, type Ranked } from "./best-first.ts";
import type { FleetAnswer, FoundFile } from "./gather.ts";
import { linesApart, type LineApart } from "./lines-apart.ts";
import { fileHead, fragment, lineHead, pathMatch, symbolInfo, zoektTotals } from "./zoekt.ts";
import { chunksOf, contentOf, pathChunk, type Chunk } from "./zoekt-chunks.ts";
import type { ZoektOptions } from "./zoekt-request.ts";

const PIECE_CHARACTERS = 65_536;
/** Matches that are written between two looks at the time. */
const RANGES_PER_STEP = 500;
/** Bytes that become base64 in one go; three of them are four characters, so what follows goes on without padding. */
const BASE64_STEP_BYTES = 3 * 16_384;

class Writer {
  readonly #pieces: Uint8Array[] = [];
  readonly #turns = new Turns();
  #text = "";
  #waiting: Buffer | undefined;

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE_CHARACTERS) this.#cut();
  }

  /** An array, item by item; an item that is undefined is left out. */
  async list<T>(items: Iterable<T | undefined>, write: (item: T) => void | Promise<void>): Promise<void> {
    let first = true;
    this.add("[");
    for (const item of items) {
      if (item !== undefined) {
        if (!first) this.add(",");
        first = false;
        const written = write(item);
        if (written !== undefined) await written;
      }
      if (this.#turns.due) await this.#turns.give();
    }
    this.add("]");
  }

  /** Bytes as a string of base64. */
  async bytes(pieces: Iterable<Uint8Array>): Promise<void> {
    const waiting = (this.#waiting ??= Buffer.allocUnsafeSlow(BASE64_STEP_BYTES));
    let used = 0;
    this.add('"');
    for (const piece of pieces) {
      for (let at = 0; at < piece.length;) {
        const taken = Math.min(piece.length - at, BASE64_STEP_BYTES - used);
        waiting.set(piece.subarray(at, at + taken), used);
        used += taken;
        at += taken;
        if (used < BASE64_STEP_BYTES) continue;
        this.add(waiting.toString("base64"));
        used = 0;
        if (this.#turns.due) await this.#turns.give();
      }
    }
    this.add(`${waiting.toString("base64", 0, used)}"`);
  }

  done(): JsonText {
    this.#cut();
    return new JsonText(this.#pieces);
  }

  #cut(): void {
    if (this.#text !== "") this.#pieces.push(Buffer.from(this.#text));
    this.#text = "";
  }
}

/** The whole answer. */
export async function zoektAnswer(
  answer: FleetAnswer,
  options: ZoektOptions,
  durationMs: () => number,
): Promise<JsonText> {
  const out = new Writer();
  out.add('{"Result":{"Files":');
  await out.list(answer.files, (found) => writeFile(out, found, options));
  out.add(`,${JSON.stringify(zoektTotals(answer, options, durationMs())).slice(1)}}`);
  return out.done();
}

/** An item of a stream: `item` with its files. */
export async function zoektItem(
  item: Readonly<Record<string, unknown>>,
  files: readonly FoundFile[],
  options: ZoektOptions,
): Promise<JsonText> {
  const out = new Writer();
  out.add(`${JSON.stringify(item).slice(0, -1)},"Files":`);
  await out.list(files, (found) => writeFile(out, found, options));
  out.add("}");
  return out.done();
}

async function writeFile(out: Writer, found: FoundFile, options: ZoektOptions): Promise<void> {
  const { file } = found;
  out.add(JSON.stringify(fileHead(found, options)).slice(0, -1));
  if (file.content !== undefined) {
    out.add(',"Content":');
    await out.bytes([file.content]);
  }
  if (options.ChunkMatches === true) await writeChunks(out, file, options);
  else await writeLines(out, file, options);
  out.add("}");
}

async function writeLines(out: Writer, file: FileMatch, options: ZoektOptions): Promise<void> {
  out.add(',"LineMatches":');
  if (file.lines.length === 0 && file.pathRanges.length > 0) out.add(`[${JSON.stringify(pathMatch(file))}]`);
  else {
    const apart = linesApart(file.lines, options.NumContextLines ?? 0);
    const ranked = bestFirst(apart, ({ score }) => score, options.UseBM25Scoring !== true);
    await out.list(ranked, (line) => writeLine(out, line));
  }
}

async function writeLine(out: Writer, { item: line, score }: Ranked<LineApart>): Promise<void> {
  const { text, before, after, ranges, start } = line;
  out.add(`${JSON.stringify(lineHead(line, score)).slice(0, -1)},"Line":`);
  await out.bytes([text]);
  for (const [name, context] of [
    ["Before", before],
    ["After", after],
  ] as const) {
    out.add(`,"${name}":`);
    if (context === undefined) out.add("null");
    else await out.bytes([context]);
  }
  out.add(',"LineFragments":');
  await out.list(steps(ranges), (some) =>
    out.add(some.map((range) => JSON.stringify(fragment(range, start))).join()),
  );
  out.add("}");
}

async function writeChunks(out: Writer, file: FileMatch, options: ZoektOptions): Promise<void> {
  out.add(',"ChunkMatches":');
  if (file.lines.length === 0 && file.pathRanges.length > 0) out.add(`[${JSON.stringify(pathChunk(file))}]`);
  else {
    const ranked = bestFirst(chunksOf(file.lines), ({ best }) => best.score, options.UseBM25Scoring !== true);
    await out.list(ranked, (chunk) => writeChunk(out, chunk));
  }
}

async function writeChunk(out: Writer, { item: chunk, score }: Ranked<Chunk>): Promise<void> {
  const { matches, best, firstLine, start } = chunk;
  const head = {
    ContentStart: location({ offset: start, line: firstLine, column: 1 }),
    FileName: false,
    Score: score,
    DebugScore: best.debug ?? "",
    BestLineMatch: best.line,
  };
  out.add(`${JSON.stringify(head).slice(0, -1)},"Content":`);
  await out.bytes(contentOf(chunk));
  out.add(',"Ranges":');
  await out.list(rangeSteps(matches), (some) =>
    out.add(
      some.map((range) => JSON.stringify({ Start: location(range.start), End: location(range.end) })).join(),
    ),
  );
  out.add(',"SymbolInfo":');
  if (!matches.some(({ ranges }) => ranges.some(({ symbol }) => symbol !== undefined))) out.add("null");
  else
    await out.list(rangeSteps(matches), (some) =>
      out.add(some.map(({ symbol }) => JSON.stringify(symbolInfo(symbol))).join()),
    );
  out.add("}");
}

function location({ offset, line, column }: Position): unknown {
  return { ByteOffset: offset, LineNumber: line, Column: column };
}

function* steps<T>(items: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < items.length; at += RANGES_PER_STEP) yield items.slice(at, at + RANGES_PER_STEP);
}

/** Of many lines with few matches each, or of few with many. */
function* rangeSteps(lines: readonly LineMatch[]): Iterable<readonly MatchRange[]> {
  let some: MatchRange[] = [];
  for (const { ranges } of lines)
    for (const part of steps(ranges)) {
      some.push(...part);
      if (some.length < RANGES_PER_STEP) continue;
      yield some;
      some = [];
    }
  if (some.length > 0) yield some;
}
