/**
 * Runs one pattern over bytes of one memory, in a thread's scratch of it. It drives the kernels: literals go straight through, expressions come back here
 * whenever a transition is missing.
 */
import { KINDS_AT, type Kernels } from "../kernels/kernels.ts";
import { CONTEXT_STRIDE, MATCHES_MAX, NEEDLE_BYTES_MAX, scratchLayout } from "../memory/scratch.ts";
import { Dfa } from "../regex/dfa.ts";
import type { MatchList } from "./match-list.ts";
import type { Pattern } from "./pattern.ts";
import { rarest } from "./rare-bytes.ts";

/** The fields of `Context` in assembly/scan.ts, in order. */
const field = {
  phase: 0,
  at: 1,
  state: 2,
  symbol: 3,
  scanEnd: 7,
  regionEnd: 8,
  docStart: 9,
  docEnd: 10,
  out: 11,
  outEnd: 12,
  previousEnd: 13,
  kinds: 14,
  needleLength: 15,
  needle: 16,
  mask: 17,
  rareA: 18,
  rareB: 19,
  forward: 20,
  backward: 24,
  before: 28,
  after: 29,
  seekFrom: 31,
  firstOfLine: 33,
  fuel: 34,
  blocks: 35,
  rareC: 36,
  longest: 37,
} as const;

const DONE = 0;
const NEED = 1;
const PAUSE = 3;
const BACKWARD = 3;
/** Behind the context's fields, in its room. */
const PIECES_OFFSET = 192;
/** Below this, looking twice costs more than it saves. */
const SKIM_BYTES_MIN = 64;
/** Bytes that an automaton reads between two checkpoints: about a millisecond's worth, and a few when its table does not fit the processor's caches. */
const FUEL_BYTES = 262_144;
/** Bytes that a substring is looked for in between two checkpoints: one or two milliseconds' worth. */
const WINDOW_BYTES = 8_388_608;
const REACH_BYTES_MAX = 1_048_576;
const UNBOUNDED = 0xffff_ffff;

/** What of a text is looked at for one run of candidate blocks. */
interface Region {
  /** Where a match may start at the earliest. */
  readonly at: number;
  /** From where on the substring is looked for, if there is one to look for. */
  readonly seekFrom: number;
  readonly end: number;
  readonly needle: boolean;
}

/** Where a matcher may work. */
export interface MatcherPlace {
  readonly kernels: Kernels;
  readonly memory: SharedArrayBuffer;
  /** The thread's scratch. */
  readonly scratch: number;
  /** Which of the scratch's contexts and needles. */
  readonly slot: number;
  /** Room for automata. */
  readonly rowsFrom: number;
  readonly rowsTo: number;
  /** Throws when the search should stop. */
  readonly checkpoint: () => void;
  /** Of each line only the first match is wanted, where matches stay within lines. */
  readonly firstOfLine: boolean;
}

export class Matcher {
  readonly #pattern: Pattern;
  readonly #place: MatcherPlace;
  readonly #words: Uint32Array;
  readonly #context: number;
  readonly #needle: number;
  readonly #mask: number;
  /** What says where the blocks of the segment are that is searched. */
  readonly #blocks: number;
  readonly #rare: readonly [number, number, number];
  #forward: Dfa | undefined;
  #backward: Dfa | undefined;

  constructor(pattern: Pattern, place: MatcherPlace) {
    this.#pattern = pattern;
    this.#place = place;
    this.#words = new Uint32Array(place.memory);
    this.#context = place.scratch + scratchLayout.contexts + place.slot * CONTEXT_STRIDE;
    this.#needle = place.scratch + scratchLayout.needles + place.slot * NEEDLE_BYTES_MAX * 2;
    this.#mask = this.#needle + NEEDLE_BYTES_MAX;
    this.#blocks = place.scratch + scratchLayout.blocks;
    const { literal } = pattern;
    this.#rare = literal === undefined ? [0, 0, 0] : rarest(literal);
    if (literal === undefined) return;
    const bytes = new Uint8Array(place.memory);
    bytes.set(literal.bytes, this.#needle);
    bytes.set(literal.mask, this.#mask);
  }

  /**
   * Appends every match in the text [docStart, docEnd) that starts in [from, to), or has the substring that every match has there, or, when matches stay within lines, lies in a line that
   * reaches into it. `folding` says whether a part of the text may hold characters that fold to ASCII letters. Requires that calls for one text go from left to right and do not overlap.
   */
  collect(
    docStart: number,
    docEnd: number,
    from: number,
    to: number,
    folding: (from: number, to: number) => boolean,
    out: MatchList,
  ): void {
    const { literal, whole } = this.#pattern;
    if (whole && literal !== undefined && !(literal.folds && folding(from, to)))
      this.#literals(docEnd, from, Math.min(docEnd, to + literal.bytes.length - 1), out);
    else this.#scan(docStart, docEnd, from, to, folding, out);
  }

  #literals(docEnd: number, from: number, to: number, out: MatchList): void {
    const { kernels, scratch, firstOfLine, checkpoint } = this.#place;
    const { length } = this.#pattern.literal!.bytes;
    const matches = scratch + scratchLayout.matches;
    const resumeAt = scratch + scratchLayout.resumeAt;
    let at = Math.max(from, this.#resume(out, docEnd));
    while (at < to) {
      const stop = Math.min(to, at + WINDOW_BYTES);
      const end =
        kernels.findAll(
          at,
          stop,
          this.#needle,
          this.#mask,
          length,
          ...this.#rare,
          matches,
          matches + MATCHES_MAX * 8,
          resumeAt,
          firstOfLine && this.#pattern.lineBound ? 1 : 0,
          this.#blocks,
        ) >>> 0;
      out.append(this.#words, matches, end);
      at = this.#words[resumeAt >>> 2]!;
      if (at < stop) continue;
      if (stop === to) break;
      // What begins before the end of the window is looked for in the next.
      at = Math.max(stop - length + 1, this.#resume(out, docEnd));
      checkpoint();
    }
  }

  #scan(
    docStart: number,
    docEnd: number,
    from: number,
    to: number,
    folding: (from: number, to: number) => boolean,
    out: MatchList,
  ): void {
    const { kernels, scratch, checkpoint, firstOfLine } = this.#place;
    const { literal, lineBound, near, longest, before, after } = this.#pattern;
    const region = lineBound
      ? near && !(literal!.folds && folding(from, to))
        ? this.#nearNeedle(docStart, docEnd, from, to, out)
        : this.#lines(docStart, docEnd, from, to, folding, out)
      : this.#wholeText(docStart, docEnd, folding);
    if (region === undefined) return;
    const { needle } = region;
    this.#prepare();
    const c = this.#context >>> 2;
    const words = this.#words;
    const matches = scratch + scratchLayout.matches;
    words[c + field.phase] = 0;
    words[c + field.at] = region.at;
    words[c + field.scanEnd] = 0;
    words[c + field.seekFrom] = region.seekFrom;
    words[c + field.longest] = longest;
    words[c + field.before] = reach(before);
    words[c + field.after] = reach(after);
    words[c + field.firstOfLine] = firstOfLine && lineBound ? 1 : 0;
    words[c + field.fuel] = FUEL_BYTES;
    words[c + field.regionEnd] = region.end;
    words[c + field.docStart] = docStart;
    words[c + field.docEnd] = docEnd;
    words[c + field.previousEnd] = out.lastEnd;
    words[c + field.needleLength] = needle && lineBound ? literal!.bytes.length : 0;
    if (lineBound && !needle && !this.#forward!.rests && !this.#skim(c, region.end)) {
      out.scannedTo = region.end;
      return;
    }
    for (;;) {
      words[c + field.out] = matches;
      words[c + field.outEnd] = matches + MATCHES_MAX * 8;
      const status = this.#advance(kernels, c);
      out.append(words, matches, words[c + field.out]!);
      if (status === DONE) break;
      checkpoint();
    }
    if (!needle || !near) out.scannedTo = region.end;
    // It read on to the end of the line, so what comes after in that line is done too.
    else if (words[c + field.at]! >= words[c + field.scanEnd]!) out.scannedTo = words[c + field.at]!;
  }

  /** All of it, unless it has not the substring that every match has. */
  #wholeText(
    docStart: number,
    docEnd: number,
    folding: (from: number, to: number) => boolean,
  ): Region | undefined {
    const { literal } = this.#pattern;
    const needle = literal !== undefined && !(literal.folds && folding(docStart, docEnd));
    if (needle) {
      const { kernels } = this.#place;
      const first =
        kernels.find(docStart, docEnd, this.#needle, this.#mask, literal.bytes.length, ...this.#rare) >>> 0;
      if (first >= docEnd) return undefined;
    }
    return { at: docStart, seekFrom: 0, end: docEnd, needle };
  }

  /** The substring starts in [from, to), and a match not long before it: the line may begin a megabyte earlier. */
  #nearNeedle(
    docStart: number,
    docEnd: number,
    from: number,
    to: number,
    out: MatchList,
  ): Region | undefined {
    const seekFrom = Math.max(from, out.scannedTo);
    const at = Math.max(docStart, this.#resume(out, docEnd));
    if (Math.max(seekFrom, at) >= to) return undefined;
    const end = Math.min(docEnd, to + this.#pattern.literal!.bytes.length - 1);
    return { at, seekFrom, end, needle: true };
  }

  /** Whole lines; of a long one as much as a match with something in [from, to) can reach. */
  #lines(
    docStart: number,
    docEnd: number,
    from: number,
    to: number,
    folding: (from: number, to: number) => boolean,
    out: MatchList,
  ): Region | undefined {
    const { literal, longest } = this.#pattern;
    const end = this.#lineEnd(to, longest === 0 ? docEnd : Math.min(docEnd, to + longest + 1));
    // What lies in lines that the region before reached into is done.
    if (out.scannedTo >= end) return undefined;
    const lowest = Math.max(docStart, out.scannedTo, longest === 0 ? 0 : from - longest);
    const start = this.#lineStart(lowest, Math.max(from, out.scannedTo));
    const needle = literal !== undefined && !(literal.folds && folding(start, end));
    return { at: Math.max(start, this.#resume(out, docEnd)), seekFrom: 0, end, needle };
  }

  /** Whether the lines of the region may have a match. */
  #skim(c: number, regionEnd: number): boolean {
    const { kernels, checkpoint } = this.#place;
    const words = this.#words;
    const at = words[c + field.at]!;
    if (regionEnd - at < SKIM_BYTES_MIN) return true;
    const pieces = this.#context + PIECES_OFFSET;
    kernels.skimStart(this.#context, pieces, at, regionEnd);
    for (;;) {
      const status = kernels.skim(this.#context, pieces);
      if (status === DONE) return false;
      checkpoint();
      if (status === PAUSE) continue;
      if (status !== NEED) {
        // Up to where the first part came there is nothing.
        const came = words[pieces >>> 2]!;
        const { longest } = this.#pattern;
        words[c + field.at] = this.#lineStart(longest === 0 ? at : Math.max(at, came - longest), came);
        return true;
      }
      const dfa = this.#forward!;
      const { flushes } = dfa;
      dfa.step(words[c + field.state]!, words[c + field.symbol]!);
      if (dfa.flushes === flushes) continue;
      // The states of the other pieces are void now.
      this.#writeStarts();
      return true;
    }
  }

  /** Runs until the end or until the output is full, making transitions on the way. */
  #advance(kernels: Kernels, c: number): number {
    const words = this.#words;
    for (;;) {
      const status = kernels.scan(this.#context);
      if (status !== NEED && status !== PAUSE) return status;
      this.#place.checkpoint();
      words[c + field.fuel] = FUEL_BYTES;
      if (status === PAUSE) continue;
      const dfa = words[c + field.phase] === BACKWARD ? this.#backward! : this.#forward!;
      const flushes = dfa.flushes;
      words[c + field.state] = dfa.step(words[c + field.state]!, words[c + field.symbol]!);
      if (dfa.flushes !== flushes) this.#writeStarts();
    }
  }

  #prepare(): void {
    if (this.#forward !== undefined) return;
    const { memory, rowsFrom, rowsTo } = this.#place;
    const { forward, backward } = this.#pattern.programs(this.#place.checkpoint);
    const middle = (rowsFrom + Math.floor((rowsTo - rowsFrom) / 2)) & ~63;
    this.#forward = new Dfa(forward, false, memory, rowsFrom, middle);
    this.#backward = new Dfa(backward, true, memory, middle, rowsTo);
    const c = this.#context >>> 2;
    const words = this.#words;
    words[c + field.kinds] = KINDS_AT;
    words[c + field.blocks] = this.#blocks;
    words[c + field.needle] = this.#needle;
    words[c + field.mask] = this.#mask;
    [words[c + field.rareA], words[c + field.rareB], words[c + field.rareC]] = this.#rare;
    this.#writeStarts();
  }

  #writeStarts(): void {
    const c = this.#context >>> 2;
    for (const kind of [0, 1, 2, 3] as const) {
      this.#words[c + field.forward + kind] = this.#forward!.start(kind);
      this.#words[c + field.backward + kind] = this.#backward!.start(kind);
    }
  }

  /** From where to go on after the matches there are: the end of the last, or of its line. */
  #resume(out: MatchList, docEnd: number): number {
    const { firstOfLine, kernels } = this.#place;
    if (!firstOfLine || !this.#pattern.lineBound) return out.lastEnd;
    return out.afterLastLine((lastEnd) =>
      Math.min(docEnd, (kernels.lineEndAt(this.#blocks, lastEnd, docEnd) >>> 0) + 1),
    );
  }

  /** The start of the line that `at` is in, or `from`. */
  #lineStart(from: number, at: number): number {
    return this.#place.kernels.lineStartAt(this.#blocks, from, at) >>> 0;
  }

  /** After the line break of the line that `at - 1` is in. */
  #lineEnd(at: number, docEnd: number): number {
    if (at >= docEnd) return docEnd;
    const found = this.#place.kernels.lineEndAt(this.#blocks, at - 1, docEnd) >>> 0;
    return found === docEnd ? docEnd : found + 1;
  }
}

function reach(bytes: number): number {
  return bytes > REACH_BYTES_MAX ? UNBOUNDED : bytes;
}
