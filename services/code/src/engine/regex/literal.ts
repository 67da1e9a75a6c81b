/**
 * The substring that every match of an expression contains, if there is one worth looking for, as bytes that may or may not care about ASCII case. Where the expression has a
 * class of ASCII characters, any byte may stand in it: `f\(\w,\w\)` is looked for as `f(?,?)`, which is far rarer than its pieces.
 * An expression that is nothing but such a substring, without classes, needs no automaton.
 */
import type { Node } from "./syntax.ts";
import { bytesMax, contains, isNullable } from "./syntax.ts";

export interface Literal {
  readonly bytes: Uint8Array;
  /** 0x20 where a letter's case does not count (`bytes` are in lower case there), 0xff where any byte may stand (`bytes` are 0xff too), 0 elsewhere. */
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
}

/** A run of units, and what can lie before it. */
interface Run {
  readonly units: readonly Unit[];
  readonly before: Length;
}

/** In a mask, and in the bytes below it: whatever stands here. */
export const ANY_BYTE = 0xff;

/** A part of a run that is as long as this and folds nowhere is worth more than the whole. */
const PLAIN_MIN = 3;

/** Longer runs say nothing more. */
const UNITS_MAX = 256;

export function requiredLiteral(node: Node): RequiredLiteral {
  const search = new Search();
  const all = search.walk(node);
  search.cut();
  const whole = all && search.best.units.length > 0 && search.runs === 1;
  const folds = search.best.units.some((unit) => unit.folds);
  // What folds nowhere can be looked for in any text.
  const { units, before } =
    !whole && folds && certain(search.plain.units) >= PLAIN_MIN ? search.plain : search.best;
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
const ANY: Unit = { byte: ANY_BYTE, mask: ANY_BYTE, folds: false, most: 1 };

/** How many of its bytes are known. */
function certain(units: readonly Unit[]): number {
  return units.reduce((sum, unit) => sum + (unit === ANY ? 0 : 1), 0);
}

/** From its first to its last byte that is known. */
function trimmed({ units, before }: Run): Run {
  const first = units.findIndex((unit) => unit !== ANY);
  if (first === -1) return NO_RUN;
  const last = units.findLastIndex((unit) => unit !== ANY);
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
        return units[0] !== ANY;
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
        if (node.min > 0 && !isNullable(node.of)) {
          // Of several times, the first is one that every match has. The others come after it.
          this.walk(node.of);
          this.cut();
          this.#add({ ...node, min: node.min - 1, max: node.max === undefined ? undefined : node.max - 1 });
        } else this.#add(node);
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
    if (certain(units) > certain(this.best.units)) this.best = run;
    let { bytes } = run.before;
    for (let from = 0; from < units.length;) {
      const found = units.findIndex((unit, at) => at >= from && unit.folds);
      const to = found === -1 ? units.length : found;
      const part = trimmed({ units: units.slice(from, to), before: { ...run.before, bytes } });
      if (certain(part.units) > certain(this.plain.units)) this.plain = part;
      bytes += to - from + (units[to]?.most ?? 0);
      from = to + 1;
    }
    this.#run = [];
  }
}

/** The bytes of a set that is one character, one ASCII letter in both cases, or several characters of one byte each. */
function unitsOf(ranges: readonly number[]): Unit[] | undefined {
  const [first, last] = ranges;
  if (first === undefined || last === undefined) return undefined;
  if (ranges.length === 2 && first === last)
    return Array.from(Buffer.from(String.fromCodePoint(first)), (byte) => ({
      byte,
      mask: 0,
      folds: false,
      most: 1,
    }));
  return foldedUnit(ranges, first, last) ?? (ranges.at(-1)! < 128 ? [ANY] : undefined);
}

function foldedUnit(ranges: readonly number[], first: number, last: number): Unit[] | undefined {
  const lower = first + 0x20;
  if (first < 0x41 || first > 0x5a || last !== first || !contains(ranges, lower)) return undefined;
  const more =
    ranges.length === 6 && (ranges[4] === 0x212a || ranges[4] === 0x17f) && ranges[4] === ranges[5];
  if (ranges[2] !== lower || ranges[3] !== lower || (ranges.length !== 4 && !more)) return undefined;
  const most = more ? (ranges[4] === 0x212a ? 3 : 2) : 1;
  return [{ byte: lower, mask: 0x20, folds: more, most }];
}

function toLiteral(units: readonly Unit[]): Literal {
  return {
    bytes: Uint8Array.from(units, (unit) => unit.byte),
    mask: Uint8Array.from(units, (unit) => unit.mask),
    folds: units.some((unit) => unit.folds),
  };
}

/** How many of its bytes are not just any. */
export function knownBytes({ mask }: Literal): number {
  return mask.reduce((sum, each) => sum + (each === ANY_BYTE ? 0 : 1), 0);
}

/** A substring as it is, or without case when that stays within ASCII; undefined when folding needs an automaton. */
export function plainLiteral(text: string): Literal {
  const bytes = Uint8Array.from(Buffer.from(text));
  return { bytes, mask: new Uint8Array(bytes.length), folds: false };
}
