/** A text or expression of a query, at work in one segment after another: first which documents may have it, then where in each. */
import { ATOMS_MAX, scratchLayout } from "../memory/scratch.ts";
import type { RegexQuery, Scope, SubstringQuery } from "../query.ts";
import { DocumentSet } from "./document-set.ts";
import { filterBlocks } from "./gram-filter.ts";
import { MatchList } from "./match-list.ts";
import { Matcher } from "./matcher.ts";
import { bitmapAt, type OpenSegment } from "./open-segment.ts";
import { patternOf } from "./pattern-cache.ts";
import type { Pattern } from "./pattern.ts";

export interface AtomTerms {
  readonly slot: number;
  /** How many atoms share the room for automata. */
  readonly atoms: number;
  readonly checkpoint: () => void;
  /** Only inside symbols, each a text of its own. */
  readonly inSymbols: boolean;
  /** It decides, but of what it finds only places in the path are shown. */
  readonly namesOnly: boolean;
  /** The same for atoms that look for the same. */
  readonly term: number;
  /** Of each line only the first match, where matches stay within lines. */
  readonly firstOfLine: boolean;
}

export class TextAtom {
  readonly content: MatchList = new MatchList();
  readonly path: MatchList = new MatchList();
  readonly pattern: Pattern;
  readonly #scope: Scope;
  readonly #terms: AtomTerms;
  readonly #matchers: Matcher[] = [];
  readonly #set = new DocumentSet();
  #open!: OpenSegment;
  #any = false;
  /** Whether these bytes may hold a character that folds to an ASCII letter. */
  readonly #folding = (from: number, to: number): boolean => {
    const { segment, arena } = this.#open;
    if (segment.folding === 0) return false;
    const blockOf = (address: number): number =>
      Math.floor((address - segment.text) / 2 ** segment.blockShift);
    return arena.kernels.nextBit(segment.folding, blockOf(from)) <= blockOf(to);
  };
  /** Bytes looked at. */
  scannedBytes = 0;

  constructor(query: SubstringQuery | RegexQuery, terms: AtomTerms) {
    this.pattern = patternOf(query, terms.checkpoint);
    this.#scope = terms.inSymbols ? "content" : query.scope;
    this.#terms = terms;
  }

  get namesOnly(): boolean {
    return this.#terms.namesOnly;
  }

  get term(): number {
    return this.#terms.term;
  }

  /** A lower number is cheaper to run first. */
  get cost(): number {
    if (this.#scope === "path") return 1;
    return this.pattern.whole ? 2 : 3;
  }

  /** Turns to another segment; the documents that may have a match. */
  enter(open: OpenSegment): DocumentSet {
    this.#open = open;
    const { segment, arena } = open;
    this.#any = filterBlocks(open, this.pattern, this.#terms.slot, this.#terms.checkpoint);
    if (!this.#any || (this.#terms.inSymbols && open.symbols === undefined)) return this.#set.empty();
    const set = this.#set.reset(segment.documents);
    const bitmap = bitmapAt(arena, this.#terms.slot);
    const { kernels } = arena;
    for (let block = kernels.nextBit(bitmap, 0); block < segment.blocks;) {
      const stop = Math.min(segment.blocks, kernels.nextClear(bitmap, block));
      const from = segment.text + block * 2 ** segment.blockShift;
      const to = segment.text + stop * 2 ** segment.blockShift;
      if (this.#scope !== "path" && from < segment.namesFrom)
        set.addRange(segment.documentAt(from), segment.documentAt(Math.min(to, segment.namesFrom) - 1));
      if (this.#scope !== "content" && to > segment.namesFrom)
        set.addRange(
          segment.documentAt(Math.max(from, segment.namesFrom)),
          segment.documentAt(Math.min(to, segment.textEnd) - 1),
        );
      block = kernels.nextBit(bitmap, stop);
    }
    return set;
  }

  /** Whether the document has it; `content` and `path` then say where, as addresses. */
  run(document: number): boolean {
    this.content.clear();
    this.path.clear();
    if (!this.#any) return false;
    const matcher = this.#matcher();
    const { segment } = this.#open;
    if (this.#scope !== "content") {
      const start = segment.nameStart(document);
      const end = start + segment.nameBytes(document);
      matcher.collect(start, end, start, end, this.#folding, this.path);
    }
    if (this.#scope !== "path") {
      const start = segment.start(document);
      const end = start + segment.contentBytes(document);
      if (this.#terms.inSymbols) this.#runSymbols(document, start, matcher);
      else this.#runContent(start, end, matcher);
    }
    return this.content.count > 0 || this.path.count > 0;
  }

  #runContent(start: number, end: number, matcher: Matcher): void {
    const { segment, arena } = this.#open;
    const { kernels } = arena;
    const bitmap = bitmapAt(arena, this.#terms.slot);
    const blockOf = (address: number): number =>
      Math.floor((address - segment.text) / 2 ** segment.blockShift);
    const last = blockOf(end);
    for (let block = kernels.nextBit(bitmap, blockOf(start)); block <= last;) {
      const stop = kernels.nextClear(bitmap, block);
      const from = Math.max(start, segment.text + block * 2 ** segment.blockShift);
      const to = Math.min(end, segment.text + stop * 2 ** segment.blockShift);
      matcher.collect(start, end, from, to, this.#folding, this.content);
      this.scannedBytes += to - from;
      // What may cross lines was looked for in the whole document.
      if (stop > last || (!this.pattern.whole && !this.pattern.lineBound)) break;
      block = kernels.nextBit(bitmap, stop);
    }
    if (this.pattern.withinLines) this.#dropPhantom(start, end);
  }

  #runSymbols(document: number, start: number, matcher: Matcher): void {
    const symbols = this.#open.symbols!;
    const [first, stop] = symbols.range(document);
    for (let symbol = first; symbol < stop; symbol += 1) {
      const from = start + symbols.start(symbol);
      const to = start + symbols.end(symbol);
      this.content.scannedTo = 0;
      matcher.collect(from, to, from, to, this.#folding, this.content);
    }
  }

  /** After the last line break there is no line, so nothing matches there. */
  #dropPhantom(start: number, end: number): void {
    const { count, pairs } = this.content;
    if (count === 0 || pairs[count * 2 - 2] !== end) return;
    if (start === end || this.#open.arena.bytes[end - 1] === 10) this.content.count -= 1;
  }

  #matcher(): Matcher {
    const { arena, arenaNumber } = this.#open;
    const { slot, atoms, checkpoint, firstOfLine } = this.#terms;
    const room = Math.floor((scratchLayout.rowsEnd - scratchLayout.rows) / Math.min(atoms, ATOMS_MAX)) & ~63;
    const rowsFrom = arena.scratch + scratchLayout.rows + slot * room;
    return (this.#matchers[arenaNumber] ??= new Matcher(this.pattern, {
      kernels: arena.kernels,
      memory: arena.memory,
      scratch: arena.scratch,
      slot,
      rowsFrom,
      rowsTo: rowsFrom + room,
      checkpoint,
      firstOfLine,
    }));
  }
}
