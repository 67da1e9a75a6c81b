/** Collects what was found as scored hits, for an answer that shows the best files. */
import { TermCounts } from "../rank/bm25.ts";
import { isLess } from "../rank/category.ts";
import { fileScore, pathScore, symbolScore, wordScore } from "../rank/score.ts";
import { firstCharacter, kindWorth } from "../rank/symbol-kind.ts";
import type { SymbolTable } from "../segment/symbols.ts";
import type { Found, Sink } from "./executor.ts";
import { RANGE_BYTES } from "../shown-bytes.ts";
import { BestHits, RECORD_WORDS, type Hit } from "./hit.ts";
import type { MatchList } from "./match-list.ts";
import type { RecordRoom } from "./record-room.ts";
import type { TextAtom } from "./text-atom.ts";

const LOCATED_WORDS = 5;
const NOTHING = new Uint32Array(0);

export class HitSink implements Sink {
  readonly #best: BestHits;
  #records: Uint32Array[] = [];
  readonly #bytesMax: number;
  #bestMatch = 0;
  /** What those of this document take in an answer, and the line of the last. */
  #shownBytes = 0;
  #line = 0;
  /** Matches of this document before the part that is looked at. */
  #seen = 0;
  /** With BM25: how long documents of this index are on average, and what this one has. */
  readonly #averageBytes: number | undefined;
  readonly #terms = new TermCounts();

  /** Of more than `bytesMax` an answer shows nothing. With `averageBytes` documents are ranked by BM25. */
  constructor(filesMax: number, bytesMax: number, averageBytes?: number) {
    this.#bytesMax = bytesMax;
    this.#averageBytes = averageBytes;
    this.#best = new BestHits(filesMax, bytesMax);
  }

  located(found: Found, located: number, count: number): void {
    const { arena, segment, symbols } = found.open;
    const { bytes, words } = arena;
    const from = segment.start(found.document);
    const to = from + segment.contentBytes(found.document);
    const { room } = this.#best;
    const out = this.#shownBytes > this.#bytesMax ? NOTHING : room.take(count * RECORD_WORDS);
    const byTerms = this.#averageBytes !== undefined;
    let best = this.#bestMatch;
    let at = located >>> 2;
    let kept = 0;
    for (let i = 0; i < count * RECORD_WORDS; i += RECORD_WORDS) {
      const start = words[at]!;
      const end = words[at + 1]!;
      const symbol = symbols === undefined ? -1 : symbols.touched(found.document, start, end);
      let score: number;
      if (!byTerms) {
        score = wordScore(bytes, from, to, from + start, from + end);
        if (symbols !== undefined && symbol !== -1)
          score += definitionScore(found, symbols, symbol, start, end);
        if (score > best) best = score;
      } else {
        // Of a line it is known what it is worth only when all of it is: until then its terms are kept.
        score = termOf(found.content, found.contentAtoms, this.#seen + i / RECORD_WORDS);
        this.#terms.add(score, symbol !== -1);
      }
      if (this.#shownBytes <= this.#bytesMax) {
        for (let word = 0; word < LOCATED_WORDS; word += 1) out[i + word] = words[at + word]!;
        out[i + 5] = score;
        out[i + 6] = symbol + 1;
        kept = i + RECORD_WORDS;
        const line = words[at + 2]!;
        const lineEnd = words[at + 4]!;
        // A line is shown with its line break, and with all lines that the match goes on over.
        this.#shownBytes +=
          RANGE_BYTES + (line === this.#line ? 0 : lineEnd - words[at + 3]! + 1) + Math.max(0, end - lineEnd);
        this.#line = line;
      }
      at += LOCATED_WORDS;
    }
    // The match that goes beyond is the last: by it whoever shows them sees that there are more.
    if (kept > 0) this.#records.push(room.shorten(out, kept));
    this.#seen += count;
    this.#bestMatch = best;
  }

  end(found: Found): void {
    const { open, document, path, content, segmentNumber } = found;
    const { segment } = open;
    const name = segment.path(document);
    const pathFrom = segment.nameStart(document);
    const pathTo = pathFrom + segment.nameBytes(document);
    const base = pathTo - Buffer.byteLength(name.slice(name.lastIndexOf("/") + 1));
    const pathRanges: number[] = [];
    const inPath = (start: number, end: number, term: number): void => {
      if (this.#averageBytes !== undefined) this.#terms.add(term, true);
      else
        this.#bestMatch = Math.max(
          this.#bestMatch,
          pathScore(open.arena.bytes, pathFrom, pathTo, base, start, end),
        );
    };
    for (let i = 0; i < path.count; i += 1) {
      const start = path.pairs[i * 2]!;
      const end = path.pairs[i * 2 + 1]!;
      pathRanges.push(start - pathFrom, end - pathFrom);
      inPath(start, end, termOf(path, found.pathAtoms, i));
    }
    // Where no text was looked for, the whole name is what was found. It says nothing of how well.
    if (path.count === 0 && content.count === 0 && this.#averageBytes !== undefined) this.#terms.add(0, true);
    const atoms = found.contentAtoms.length + found.pathAtoms.length;
    const hit: Hit = {
      segment: segmentNumber,
      document,
      path: name,
      score:
        this.#averageBytes === undefined
          ? fileScore(this.#bestMatch, atoms, segment.categoryNumber(document), found.boost)
          : this.#terms.score(
              segment.contentBytes(document) / Math.max(1, this.#averageBytes),
              isLess(segment.category(document)),
            ) * Math.max(1, found.boost),
      atoms,
      matchCount: content.count > 0 ? content.count : Math.max(1, path.count),
      records: this.#records.length === 1 ? this.#records[0]! : joined(this.#records, this.#best.room),
      pathRanges,
      shownBytes: this.#shownBytes,
    };
    this.#best.add(hit);
    this.#records = [];
    this.#bestMatch = 0;
    this.#shownBytes = 0;
    this.#line = 0;
    this.#seen = 0;
    this.#terms.clear();
  }

  /** Valid until it is released. */
  sorted(): Hit[] {
    return this.#best.sorted();
  }

  release(): void {
    this.#best.release();
  }
}

function termOf(list: MatchList, atoms: readonly TextAtom[], match: number): number {
  return atoms[atoms.length > 1 ? list.sources[match]! : 0]!.term;
}

/** For a match at [start, end) of the document that touches a symbol's name. */
function definitionScore(
  { open: { segment, arena }, document }: Found,
  symbols: SymbolTable,
  symbol: number,
  start: number,
  end: number,
): number {
  const from = symbols.start(symbol);
  const to = symbols.end(symbol);
  const name = segment.start(document) + from;
  return (
    symbolScore(start, end, from, to) +
    kindWorth(segment.language(document), symbols.kind(symbol), firstCharacter(arena.bytes, name), () =>
      segment.path(document),
    )
  );
}

function joined(parts: readonly Uint32Array[], room: RecordRoom): Uint32Array {
  const out = room.take(parts.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const each of parts) {
    out.set(each, at);
    at += each.length;
  }
  return out;
}
