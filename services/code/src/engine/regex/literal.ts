/**
 * The substring that every match of an expression contains, if there is one worth looking for, as bytes of which some bits may not count. Where the expression has a
 * class, those bits count that all its characters share: `f\(\w,\w\)` is looked for as `f(?,?)`, which is far rarer than its pieces, and a digit as any of sixteen bytes.
 * An expression that is nothing but such a substring, without classes, needs no automaton.
 */
import { frequency } from "./byte-frequency.ts";
import type { Node } from "./syntax.ts";
import { bytesMax, contains, isNullable } from "./syntax.ts";
import { utf8Sequences } from "./utf8.ts";

export interface Literal {
  readonly bytes: Uint8Array;
  /** The bits that do not count, such as 0x20 where a letter's case does not; they are set in `bytes`. */
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
  /** The most bytes that stand for it. */
  readonly most: number;
  /** Whatever looks like it is it. */
  readonly exact: boolean;
}

/** A run of units, and what can lie before it. */
interface Run {
  readonly units: readonly Unit[];
  readonly before: Length;
}

/** A part of a run that says as much as this and folds nowhere is worth more than the whole. About three letters. */
const PLAIN_BITS_MIN = 12;
/** A unit that says less is not worth beginning or ending with. */
const EDGE_BITS_MIN = 1;
/** Longer runs say nothing more. */
const UNITS_MAX = 256;
/** So many of a repetition are looked for. */
const COPIES_MAX = 8;
/** Classes of more ranges have hardly a bit in common. */
const RANGES_MAX = 64;

export function requiredLiteral(node: Node): RequiredLiteral {
  const search = new Search();
  const all = search.walk(node);
  search.cut();
  const whole = all && search.best.units.length > 0 && search.runs === 1;
  const folds = search.best.units.some((unit) => unit.folds);
  // What folds nowhere can be looked for in any text.
  const { units, before } =
    !whole && folds && bits(search.plain.units) >= PLAIN_BITS_MIN ? search.plain : search.best;
  return {
    literal: units.length === 0 ? undefined : toLiteral(units),
    whole,
    before: before.unlimited > 0 ? Infinity : before.bytes,
    after:
      search.length.unlimited > before.unlimited
        ? Infinity
        : search.length.bytes - before.bytes - units.length,
  };
}

const NO_RUN: Run = { units: [], before: { bytes: 0, unlimited: 0 } };

/** How much it says: a place of a text looks like it once in so many powers of two. */
function bits(units: readonly Unit[]): number {
  return units.reduce((sum, { byte, mask }) => sum - Math.log2(Math.min(1, frequency(byte, mask))), 0);
}

/** From its first to its last byte that says something. */
function trimmed({ units, before }: Run): Run {
  const says = (unit: Unit): boolean => bits([unit]) >= EDGE_BITS_MIN;
  const first = units.findIndex(says);
  if (first === -1) return NO_RUN;
  const last = units.findLastIndex(says);
  return { units: units.slice(first, last + 1), before: { ...before, bytes: before.bytes + first } };
}

class Search {
  best: Run = NO_RUN;
  /** The longest without a unit that folds. */
  plain: Run = NO_RUN;
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
        return units.every(({ exact }) => exact);
      }
      case "concat": {
        let whole = true;
        for (const each of node.of) whole = this.walk(each) && whole;
        return whole;
      }
      case "repeat": {
        if (node.min === 0 || isNullable(node.of)) {
          if (node.max === 0) return true;
          this.cut();
          this.#add(node);
          return false;
        }
        // Every match has the first of several times. The others come after them.
        const copies = Math.min(node.min, COPIES_MAX);
        let whole = true;
        for (let i = 0; i < copies; i += 1) whole = this.walk(node.of) && whole;
        if (copies === node.max) return whole;
        this.cut();
        this.#add({
          ...node,
          min: node.min - copies,
          max: node.max === undefined ? undefined : node.max - copies,
        });
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
    const run = trimmed({ units: this.#run, before: this.#runBefore });
    const { units } = run;
    if (bits(units) > bits(this.best.units)) this.best = run;
    let { bytes } = run.before;
    for (let from = 0; from < units.length;) {
      const found = units.findIndex((unit, at) => at >= from && unit.folds);
      const to = found === -1 ? units.length : found;
      const part = trimmed({ units: units.slice(from, to), before: { ...run.before, bytes } });
      if (bits(part.units) > bits(this.plain.units)) this.plain = part;
      bytes += to - from + (units[to]?.most ?? 0);
      from = to + 1;
    }
    this.#run = [];
  }
}

/** The bytes of a set whose characters all have as many. */
function unitsOf(ranges: readonly number[]): Unit[] | undefined {
  const [first, last] = ranges;
  if (first === undefined || last === undefined || ranges.length > RANGES_MAX) return undefined;
  const folded = foldedUnit(ranges, first, last);
  if (folded !== undefined) return folded;
  const sequences = utf8Sequences(ranges);
  const length = sequences[0]?.length ?? 0;
  if (length === 0 || sequences.some((each) => each.length !== length)) return undefined;
  const exact = ranges.length === 2 && first === last;
  return Array.from({ length }, (_, at) => {
    const base = sequences[0]![at]!.from;
    let mask = 0;
    for (const each of sequences) {
      const { from, to } = each[at]!;
      // Between two bytes all bits below the highest in which they differ take either value.
      mask |= (from ^ base) | (from === to ? 0 : (1 << (32 - Math.clz32(from ^ to))) - 1);
    }
    return { byte: base | mask, mask, folds: false, most: 1, exact };
  });
}

function foldedUnit(ranges: readonly number[], first: number, last: number): Unit[] | undefined {
  const lower = first + 0x20;
  if (first < 0x41 || first > 0x5a || last !== first || !contains(ranges, lower)) return undefined;
  const more =
    ranges.length === 6 && (ranges[4] === 0x212a || ranges[4] === 0x17f) && ranges[4] === ranges[5];
  if (ranges[2] !== lower || ranges[3] !== lower || (ranges.length !== 4 && !more)) return undefined;
  const most = more ? (ranges[4] === 0x212a ? 3 : 2) : 1;
  return [{ byte: lower, mask: 0x20, folds: more, most, exact: true }];
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
