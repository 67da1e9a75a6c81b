/**
 * The substring that every match of an expression contains, if there is one worth looking for, as bytes that may or may not care about ASCII case.
 * An expression that is nothing but such a substring needs no automaton.
 */
import type { Node } from "./syntax.ts";
import { bytesMax, contains, isNullable } from "./syntax.ts";

export interface Literal {
  readonly bytes: Uint8Array;
  /** 0x20 where a letter's case does not count, 0 elsewhere; `bytes` are in lower case there. */
  readonly mask: Uint8Array;
  /** Has a `k` or an `s` without case, which are also the Kelvin sign and the long s: looking for these bytes may then miss a match. */
  readonly folds: boolean;
}

export interface RequiredLiteral {
  readonly literal: Literal | undefined;
  /** The expression is this literal and nothing else. */
  readonly whole: boolean;
  /** How many bytes of a match can lie before and after one place where it has the literal; Infinity when there is no limit. */
  readonly before: number;
  readonly after: number;
}

interface Length {
  readonly bytes: number;
  readonly unlimited: number;
}

interface Unit {
  readonly byte: number;
  readonly mask: number;
  readonly folds: boolean;
}

/** Longer runs say nothing more. */
const UNITS_MAX = 256;

export function requiredLiteral(node: Node): RequiredLiteral {
  const search = new Search();
  const whole = search.walk(node);
  search.cut();
  const literal = search.best.length === 0 ? undefined : toLiteral(search.best);
  return {
    literal,
    whole: whole && literal !== undefined && search.runs === 1,
    before: search.bestBefore.unlimited > 0 ? Infinity : search.bestBefore.bytes,
    after:
      search.length.unlimited > search.bestBefore.unlimited
        ? Infinity
        : search.length.bytes - search.bestBefore.bytes - search.best.length,
  };
}

class Search {
  best: readonly Unit[] = [];
  bestBefore: Length = { bytes: 0, unlimited: 0 };
  runs = 0;
  /** The most bytes that what was walked so far can match: those of its limited parts, and how many parts have no limit. */
  length: Length = { bytes: 0, unlimited: 0 };
  #run: Unit[] = [];
  #runBefore: Length = this.length;

  /** Whether all of it went into runs, with nothing around them. */
  walk(node: Node): boolean {
    switch (node.kind) {
      case "empty":
        return true;
      case "chars": {
        const units = unitsOf(node.ranges);
        if (units === undefined || this.#run.length + units.length > UNITS_MAX) {
          this.cut();
          this.#add(node);
          return false;
        }
        if (this.#run.length === 0) this.#runBefore = this.length;
        this.#run.push(...units);
        this.#add(node);
        return true;
      }
      case "concat": {
        let whole = true;
        for (const each of node.of) whole = this.walk(each) && whole;
        return whole;
      }
      case "repeat": {
        if (node.min === node.max && node.min <= 8) {
          let whole = true;
          for (let i = 0; i < node.min; i += 1) whole = this.walk(node.of) && whole;
          return whole;
        }
        this.cut();
        const before = this.length;
        // Of several times, the first is one that every match has.
        if (node.min > 0 && !isNullable(node.of)) this.walk(node.of);
        this.cut();
        this.length = before;
        this.#add(node);
        return false;
      }
      case "assert":
        return false;
      case "either":
        this.cut();
        this.#add(node);
        return false;
    }
  }

  #add(node: Node): void {
    const more = bytesMax(node);
    const { bytes, unlimited } = this.length;
    this.length =
      more === Infinity ? { bytes, unlimited: unlimited + 1 } : { bytes: bytes + more, unlimited };
  }

  cut(): void {
    if (this.#run.length === 0) return;
    this.runs += 1;
    if (this.#run.length > this.best.length) {
      this.best = this.#run;
      this.bestBefore = this.#runBefore;
    }
    this.#run = [];
  }
}

/** The bytes of a set that is one character, or one ASCII letter in both cases. */
function unitsOf(ranges: readonly number[]): Unit[] | undefined {
  const [first, last] = ranges;
  if (first === undefined || last === undefined) return undefined;
  if (ranges.length === 2 && first === last)
    return Array.from(Buffer.from(String.fromCodePoint(first)), (byte) => ({ byte, mask: 0, folds: false }));
  const lower = first + 0x20;
  if (first < 0x41 || first > 0x5a || last !== first || !contains(ranges, lower)) return undefined;
  const more =
    ranges.length === 6 && (ranges[4] === 0x212a || ranges[4] === 0x17f) && ranges[4] === ranges[5];
  if (ranges[2] !== lower || ranges[3] !== lower || (ranges.length !== 4 && !more)) return undefined;
  return [{ byte: lower, mask: 0x20, folds: more }];
}

function toLiteral(units: readonly Unit[]): Literal {
  return {
    bytes: Uint8Array.from(units, (unit) => unit.byte),
    mask: Uint8Array.from(units, (unit) => unit.mask),
    folds: units.some((unit) => unit.folds),
  };
}

/** A substring as it is, or without case when that stays within ASCII; undefined when folding needs an automaton. */
export function plainLiteral(text: string): Literal {
  const bytes = Uint8Array.from(Buffer.from(text));
  return { bytes, mask: new Uint8Array(bytes.length), folds: false };
}
