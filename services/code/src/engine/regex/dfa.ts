/**
 * A deterministic automaton, made while it runs: each state is an ordered list of places in the program, each transition is computed when it is first needed and
 * written into the table that the kernels read. When the table is full it is emptied and filled again, so any expression runs in the same room.
 *
 * A forward automaton prefers as the expression does: what comes after a match in the list is dropped. A backward one wants the longest.
 *
 * A state that almost every byte leads back to is left by few: its row says by which, and the kernel looks for these instead of reading byte by byte.
 */
import { frequencyOf } from "./byte-frequency.ts";
import type { Assertion } from "./syntax.ts";
import type { Program } from "./program.ts";

const ROW_BYTES = 1088;
/** All lists of all states together; beyond it the table is emptied, whatever room it has. */
const PLACES_MAX = 2_000_000;
const END_OF_TEXT = 256;
const MATCH = 1;
const DEAD = 2;
const UNKNOWN = 4;
/** On an entry: the row that it leads to says which bytes leave it. */
const SKIPS = 8;
/** In such a row: whether what leads back matches, whether bytes beyond ASCII leave it, whether nothing has begun to match, and for each half of a byte, as bits of the other, those that leave. */
const SKIP_AT = 1028;
/** A state that is left more often is not worth it; nor is finding it out for one of many places, or in a program that tells many bytes apart. */
const LEAVING_MAX = 1 / 16;
const SKIP_PLACES_MAX = 64;
const SKIP_CLASSES_MAX = 64;

/** What lies beside a place: the edge of the text, a line break, a word character, or something else. */
type Kind = 0 | 1 | 2 | 3;

interface DfaState {
  readonly row: number;
  readonly places: Int32Array;
  readonly kind: Kind;
  /** Undefined until some byte leads back to it. */
  skips: boolean | undefined;
}

export class Dfa {
  readonly #program: Program;
  readonly #backward: boolean;
  readonly #table: Uint32Array;
  readonly #rowsFrom: number;
  readonly #rowsMax: number;
  readonly #members: readonly (readonly number[])[];
  #states: DfaState[] = [];
  #known = new Map<number, DfaState[]>();
  readonly #seen: Uint32Array;
  #stamp = 0;
  #places = 0;
  /** How often the table was emptied. */
  flushes = 0;
  /** The state in which nothing has begun to match is one that is skipped: then reading several places side by side is no quicker. */
  rests = false;

  /** The rows lie in [rowsFrom, rowsTo) of `memory`; `rowsFrom` is divisible by 64. */
  constructor(
    program: Program,
    backward: boolean,
    memory: SharedArrayBuffer,
    rowsFrom: number,
    rowsTo: number,
  ) {
    this.#program = program;
    this.#backward = backward;
    this.#table = new Uint32Array(memory);
    this.#rowsFrom = rowsFrom;
    this.#rowsMax = Math.floor((rowsTo - rowsFrom) / ROW_BYTES);
    this.#seen = new Uint32Array(program.states.length);
    const members: number[][] = [];
    for (const [byte, group] of program.classes.entries()) (members[group] ??= []).push(byte);
    this.#members = members;
  }

  /** The row to start in, with this beside the place where reading starts. */
  start(kind: Kind): number {
    return this.#state(Int32Array.of(this.#program.start), this.#kind(kind)).row;
  }

  /**
   * Computes the entry of `row` for a byte, or for the end of the text. Returns the row to go on from: another one when the table had to be emptied,
   * in which case every other row is void, start rows included.
   */
  step(row: number, symbol: number): number {
    const state = this.#states[(row - this.#rowsFrom) / ROW_BYTES]!;
    const nextKind: Kind = symbol === END_OF_TEXT ? 0 : kindOf(symbol);
    const { matched, readers } = this.#close(state, nextKind);
    const flags = matched ? MATCH : 0;
    if (symbol === END_OF_TEXT) {
      this.#table[(row >>> 2) + END_OF_TEXT] = flags | DEAD;
      return row;
    }
    const places = this.#read(readers, symbol);
    let current = state;
    let target: DfaState | undefined;
    if (places.length > 0) {
      if (this.#states.length + 2 > this.#rowsMax || this.#places > PLACES_MAX) {
        this.#flush();
        current = this.#state(state.places, state.kind);
      }
      target = this.#state(places, this.#kind(nextKind));
    }
    if (target === current && current.skips === undefined) this.#findSkip(current, matched);
    const entry =
      target === undefined ? flags | DEAD : target.row | flags | (target.skips === true ? SKIPS : 0);
    const at = current.row >>> 2;
    for (const byte of this.#members[this.#program.classes[symbol]!]!) this.#table[at + byte] = entry >>> 0;
    return current.row;
  }

  /** Of what lies beside a place, what matters to this program. */
  #kind(kind: Kind): Kind {
    const { assertsLines, assertsWords } = this.#program;
    return (kind === 2 ? assertsWords : assertsLines) ? kind : 3;
  }

  /** Whether few bytes leave a state that some byte leads back to; if so, writes which. */
  #findSkip(state: DfaState, matches: boolean): void {
    state.skips = false;
    if (this.#backward || state.places.length > SKIP_PLACES_MAX || this.#members.length > SKIP_CLASSES_MAX)
      return;
    const leaving: number[] = [];
    const staying: number[] = [];
    for (const bytes of this.#members) {
      const byte = bytes[0]!;
      const kind = kindOf(byte);
      const { matched, readers } = this.#close(state, kind);
      const stays =
        matched === matches &&
        this.#kind(kind) === state.kind &&
        equal(this.#read(readers, byte), state.places);
      (stays ? staying : leaving).push(...bytes);
    }
    if (frequencyOf(leaving) > LEAVING_MAX) return;
    state.skips = true;
    const { start } = this.#program;
    const rests = !matches && state.places.length === 1 && state.places[0] === start;
    if (rests) this.rests = true;
    const entry = (state.row | SKIPS | (matches ? MATCH : 0)) >>> 0;
    for (const byte of staying) this.#table[(state.row >>> 2) + byte] = entry;
    const skip = new Uint8Array(this.#table.buffer, state.row + SKIP_AT, 36);
    skip.fill(0);
    skip[0] = matches ? 1 : 0;
    skip[2] = rests ? 1 : 0;
    for (const byte of leaving) {
      if (byte >= 0x80) skip[1] = 0x80;
      else skip[4 + (byte & 15)]! |= 1 << (byte >>> 4);
    }
    for (let half = 0; half < 8; half += 1) skip[20 + half] = 1 << half;
  }

  #flush(): void {
    this.rests = false;
    this.#states = [];
    this.#known = new Map();
    this.#places = 0;
    this.flushes += 1;
  }

  #state(places: Int32Array, kind: Kind): DfaState {
    let hash = kind;
    for (const place of places) hash = (Math.imul(hash, 0x01000193) ^ place) >>> 0;
    const bucket = this.#known.get(hash);
    const known = bucket?.find((each) => each.kind === kind && equal(each.places, places));
    if (known !== undefined) return known;
    const row = this.#rowsFrom + this.#states.length * ROW_BYTES;
    const state = { row, places, kind, skips: undefined };
    this.#states.push(state);
    this.#places += places.length;
    if (bucket === undefined) this.#known.set(hash, [state]);
    else bucket.push(state);
    this.#table.fill(UNKNOWN, row >>> 2, (row >>> 2) + ROW_BYTES / 4);
    return state;
  }

  /** What can be reached without reading, in order of preference; stops at a match unless the longest is wanted. */
  #close(state: DfaState, nextKind: Kind): { matched: boolean; readers: number[] } {
    const { states } = this.#program;
    const stamp = ++this.#stamp;
    const readers: number[] = [];
    let matched = false;
    const stack: number[] = [];
    for (const place of state.places) {
      stack.push(place);
      while (stack.length > 0) {
        const at = stack.pop()!;
        if (this.#seen[at] === stamp) continue;
        this.#seen[at] = stamp;
        const each = states[at]!;
        switch (each.kind) {
          case "bytes":
            readers.push(at);
            break;
          case "split":
            for (let i = each.next.length - 1; i >= 0; i -= 1) stack.push(each.next[i]!);
            break;
          case "assert":
            if (this.#holds(each.assertion, state.kind, nextKind)) stack.push(each.next);
            break;
          case "match":
            matched = true;
            if (!this.#backward) return { matched, readers };
            break;
        }
      }
    }
    return { matched, readers };
  }

  #read(readers: readonly number[], byte: number): Int32Array {
    const { states } = this.#program;
    const stamp = ++this.#stamp;
    const places: number[] = [];
    for (const reader of readers) {
      const state = states[reader]!;
      if (state.kind !== "bytes") continue;
      for (const { from, to, next } of state.ranges) {
        if (byte < from || byte > to || this.#seen[next] === stamp) continue;
        this.#seen[next] = stamp;
        places.push(next);
      }
    }
    return Int32Array.from(places);
  }

  #holds(assertion: Assertion, readKind: Kind, nextKind: Kind): boolean {
    const before = this.#backward ? nextKind : readKind;
    const after = this.#backward ? readKind : nextKind;
    switch (assertion) {
      case "text-start":
        return before === 0;
      case "text-end":
        return after === 0;
      case "line-start":
        return before <= 1;
      case "line-end":
        return after <= 1;
      case "word-edge":
        return (before === 2) !== (after === 2);
      case "no-word-edge":
        return (before === 2) === (after === 2);
    }
  }
}

function kindOf(byte: number): Kind {
  if (byte === 10) return 1;
  const word =
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    byte === 0x5f ||
    (byte >= 0x61 && byte <= 0x7a);
  return word ? 2 : 3;
}

function equal(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
