/** Writes zoekt's JSON in pieces, taking turns with others on the event loop: as one text, an answer of many megabytes would hold it up for as long as it takes to write. */
import { JsonText } from "@keelson/runtime";
import { Turns, type LineMatch, type MatchRange } from "../engine/index.ts";
import type { FleetAnswer, FoundFile } from "./gather.ts";
import { chunksOf } from "./zoekt-chunks.ts";
import { fileHead, fragment, lineHead, pathMatch, zoektTotals, type ZoektOptions } from "./zoekt.ts";

const PIECE_CHARACTERS = 65_536;
/** Fragments of a line that are written between two looks at the time. */
const FRAGMENTS_PER_STEP = 500;

class Writer {
  readonly #pieces: Uint8Array[] = [];
  readonly #turns = new Turns();
  #text = "";

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE_CHARACTERS) this.#cut();
  }

  /** An array, item by item. */
  async list<T>(items: Iterable<T>, write: (item: T) => void | Promise<void>): Promise<void> {
    let first = true;
    this.add("[");
    for (const item of items) {
      if (!first) this.add(",");
      first = false;
      const written = write(item);
      if (written !== undefined) await written;
      if (this.#turns.due) await this.#turns.give();
    }
    this.add("]");
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
  out.add(`,${JSON.stringify(zoektTotals(answer, durationMs())).slice(1)}}`);
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
  const head = JSON.stringify(fileHead(found)).slice(0, -1);
  if (options.ChunkMatches === true) {
    out.add(`${head},"LineMatches":null,"ChunkMatches":`);
    await out.list(chunksOf(file), (chunk) => out.add(JSON.stringify(chunk)));
  } else {
    out.add(`${head},"ChunkMatches":null,"LineMatches":`);
    if (file.lines.length === 0 && file.pathRanges.length > 0)
      out.add(`[${JSON.stringify(pathMatch(file))}]`);
    else await out.list(file.lines, (line) => writeLine(out, line));
  }
  out.add("}");
}

async function writeLine(out: Writer, line: LineMatch): Promise<void> {
  const write = (ranges: readonly MatchRange[]): void =>
    out.add(ranges.map((range) => JSON.stringify(fragment(range, line.start))).join());
  out.add(`${JSON.stringify(lineHead(line)).slice(0, -1)},"LineFragments":`);
  await out.list(steps(line.ranges), write);
  out.add("}");
}

function* steps<T>(items: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < items.length; at += FRAGMENTS_PER_STEP)
    yield items.slice(at, at + FRAGMENTS_PER_STEP);
}
