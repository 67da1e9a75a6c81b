/**
 * Says whether an expression matches in a short text. A hundred thousand names are looked at for one query, so what was found out for one of them is kept for
 * the others: sets of places in the program become states, made when first needed. Files are not its affair but the engine's.
 */
import type { Program } from "../engine/regex/program.ts";
import type { Assertion } from "../engine/regex/syntax.ts";

interface State {
  readonly places: readonly number[];
  /** A byte that stands for the one before; undefined at the start. */
  readonly before: number | undefined;
  /** By byte, and last for the end of the text: the number of the next state, or one of the constants below. */
  readonly next: Int32Array;
}

/** Beyond this all of them are forgotten: names need few, and each takes a kilobyte. */
const STATES_MAX = 256;
const END_OF_TEXT = 256;
const UNKNOWN = -1;
const MATCH = -2;
const NO_MATCH = -3;

export class NameAutomaton {
  readonly #program: Program;
  #states: State[] = [];
  #numbers = new Map<string, number>();
  /** When a place was last come to, so that it is looked at once. */
  readonly #seen: Uint32Array;
  #stamp = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#seen = new Uint32Array(program.states.length);
  }

  matches(text: Uint8Array): boolean {
    let state = this.#states[this.#numberOf([this.#program.start], undefined)]!;
    for (let at = 0; ; at++) {
      const byte = text[at];
      const symbol = byte ?? END_OF_TEXT;
      if (state.next[symbol] === UNKNOWN) state.next[symbol] = this.#step(state, byte);
      const next = state.next[symbol]!;
      if (next < 0) return next === MATCH;
      state = this.#states[next]!;
    }
  }

  #step({ places, before }: State, byte: number | undefined): number {
    const readers = this.#reach(places, before, byte);
    if (readers === "match") return MATCH;
    if (byte === undefined) return NO_MATCH;
    const stamp = ++this.#stamp;
    const next: number[] = [];
    for (const place of readers) {
      const reader = this.#program.states[place]!;
      if (reader.kind !== "bytes") continue;
      for (const range of reader.ranges) {
        if (byte < range.from || byte > range.to || this.#seen[range.next] === stamp) continue;
        this.#seen[range.next] = stamp;
        next.push(range.next);
      }
    }
    if (next.length === 0) return NO_MATCH;
    return this.#numberOf(
      next.sort((a, b) => a - b),
      standIn(byte),
    );
  }

  #numberOf(places: readonly number[], before: number | undefined): number {
    const key = `${before ?? ""} ${places.join()}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    // Whoever asks holds the state that it comes from, and looks up nothing but what it is given here.
    if (this.#states.length >= STATES_MAX) {
      this.#states = [];
      this.#numbers = new Map();
    }
    const number = this.#states.push({ places, before, next: new Int32Array(257).fill(UNKNOWN) }) - 1;
    this.#numbers.set(key, number);
    return number;
  }

  /** What reads, of everything that is reached without reading. */
  #reach(
    places: readonly number[],
    before: number | undefined,
    after: number | undefined,
  ): readonly number[] | "match" {
    const stamp = ++this.#stamp;
    const readers: number[] = [];
    const waiting = [...places];
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      if (this.#seen[place] === stamp) continue;
      this.#seen[place] = stamp;
      const each = this.#program.states[place]!;
      if (each.kind === "match") return "match";
      if (each.kind === "bytes") readers.push(place);
      else if (each.kind === "split") for (const next of each.next) waiting.push(next);
      else if (holds(each.assertion, before, after)) waiting.push(each.next);
    }
    return readers;
  }
}

/** Of bytes that assertions do not tell apart, one. */
function standIn(byte: number): number {
  return byte === 10 ? 10 : isWord(byte) ? 97 : 32;
}

function holds(assertion: Assertion, before: number | undefined, after: number | undefined): boolean {
  switch (assertion) {
    case "text-start":
      return before === undefined;
    case "text-end":
      return after === undefined;
    case "line-start":
      return before === undefined || before === 10;
    case "line-end":
      return after === undefined || after === 10;
    case "word-edge":
      return isWord(before) !== isWord(after);
    case "no-word-edge":
      return isWord(before) === isWord(after);
  }
}

function isWord(byte: number | undefined): boolean {
  return byte !== undefined && byte < 128 && /\w/.test(String.fromCodePoint(byte));
}
