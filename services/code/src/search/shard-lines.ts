/**
 * Every line of one index that a query finds, as the engine writes them: JSON, one to a line of text, in pieces. Nothing is ranked and nothing is left out; a reader that is slow makes the search
 * wait, which is why a node runs few of these at once.
 */
import type { CodeIndex, PartialReason, SearchCounts } from "../engine/index.ts";
import type { RepositoryFacts, TextMatcher } from "../query/index.ts";
import { asksForSymbols, settle } from "./settle.ts";
import type { LinesRequest } from "./search-request.ts";
import { translate } from "./translate.ts";

export interface LinesEnd {
  readonly counts: Pick<SearchCounts, "files" | "lines" | "matches">;
  readonly partial?: PartialReason | "symbols";
}

/** As many of these may wait between a node and its reader as a stream lets be ahead, together below what a stream may keep. */
const partBytesMax = 49_152;
const NEWLINE = 10;

/** Parts of whole lines, each with its line break, and what was counted at the end. */
export async function* linesOfShard(
  index: CodeIndex,
  facts: RepositoryFacts,
  { query, timeCapMs }: LinesRequest,
  matcher: TextMatcher,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array | LinesEnd> {
  const { settled, ...unsure } = await settle(index, facts, query, { matcher, timeCapMs, signal });
  const symbolsLack = asksForSymbols(settled) && !index.stats.symbols;
  let last: Buffer = Buffer.alloc(0);
  for await (const piece of index.searchLines(translate(settled), { timeCapMs, signal })) {
    yield* parts(last);
    // What comes lies in memory that is used again.
    last = Buffer.from(piece);
  }
  // The engine's last line says what it counted.
  const end = last.lastIndexOf(NEWLINE, -2) + 1;
  yield* parts(last.subarray(0, end));
  const { files, lines, matches, partial } = JSON.parse(last.toString("utf8", end)) as SearchCounts &
    LinesEnd;
  const why = partial ?? unsure.partial ?? (symbolsLack ? "symbols" : undefined);
  yield { counts: { files, lines, matches }, ...(why === undefined ? {} : { partial: why }) };
}

function* parts(lines: Buffer): Generator<Uint8Array> {
  for (let from = 0; from < lines.length;) {
    const cut = lines.lastIndexOf(NEWLINE, from + partBytesMax - 1) + 1;
    // A line that is longer is a part of its own.
    const to = cut > from ? cut : lines.indexOf(NEWLINE, from) + 1;
    yield lines.subarray(from, to);
    from = to;
  }
}
