/** Sets of code points as sorted, disjoint pairs [first, last, first, last, …]. */

export const CODE_POINT_MAX = 0x10ffff;

export function normalize(pairs: readonly number[]): number[] {
  const ranges: [number, number][] = [];
  for (let i = 0; i < pairs.length; i += 2) ranges.push([pairs[i]!, pairs[i + 1]!]);
  ranges.sort((a, b) => a[0] - b[0]);
  const out: number[] = [];
  for (const [first, last] of ranges) {
    const end = out.length - 1;
    if (out.length > 0 && first <= out[end]! + 1) out[end] = Math.max(out[end]!, last);
    else out.push(first, last);
  }
  return out;
}

export function negate(ranges: readonly number[]): number[] {
  const out: number[] = [];
  let next = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i]! > next) out.push(next, ranges[i]! - 1);
    next = ranges[i + 1]! + 1;
  }
  if (next <= CODE_POINT_MAX) out.push(next, CODE_POINT_MAX);
  return out;
}

/** The set without one code point. */
export function without(ranges: readonly number[], codePoint: number): number[] {
  const out: number[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    const first = ranges[i]!;
    const last = ranges[i + 1]!;
    if (codePoint < first || codePoint > last) out.push(first, last);
    else {
      if (first < codePoint) out.push(first, codePoint - 1);
      if (last > codePoint) out.push(codePoint + 1, last);
    }
  }
  return out;
}

export function size(ranges: readonly number[]): number {
  let total = 0;
  for (let i = 0; i < ranges.length; i += 2) total += ranges[i + 1]! - ranges[i]! + 1;
  return total;
}

/** Named sets of Unicode, from the engine that runs us: `L`, `Lu`, `Greek`. Undefined when there is no such name. A set takes some tens of milliseconds to make the first time, and is kept; `checkpoint` is called meanwhile, and may throw to stop. What was made by then is kept too, so that who stops for others goes on where it was. */
const named = new Map<string, readonly number[]>();
const begun = new Map<string, Generator<undefined, number[]>>();
/** What each name is for JavaScript. There are some hundreds of names; others are not kept. */
const properties = new Map<string, string>([
  // In RE2 what nobody has made a character yet is not in it; in JavaScript it is.
  ["C", "[\\p{Cc}\\p{Cf}\\p{Co}]"],
  ["Other", "[\\p{Cc}\\p{Cf}\\p{Co}]"],
]);

export function unicodeSet(
  name: string,
  checkpoint: () => void = () => undefined,
): readonly number[] | undefined {
  if (name === "Any") return ANYTHING;
  const known = named.get(name);
  if (known !== undefined) return known;
  const property = propertyOf(name);
  if (property === undefined) return undefined;
  const steps = begun.get(name) ?? collect(property);
  begun.set(name, steps);
  for (;;) {
    checkpoint();
    const { done, value } = steps.next();
    if (done !== true) continue;
    begun.delete(name);
    named.set(name, value);
    return value;
  }
}

export function hasUnicodeSet(name: string): boolean {
  return name === "Any" || propertyOf(name) !== undefined;
}

const ANYTHING: readonly number[] = [0, CODE_POINT_MAX];

function propertyOf(name: string): string | undefined {
  const known = properties.get(name);
  if (known !== undefined) return known;
  if (!/^[A-Za-z_]{1,64}$/.test(name)) return undefined;
  const found = [`\\p{General_Category=${name}}`, `\\p{Script=${name}}`].find((property) => {
    try {
      return new RegExp(property, "u").unicode;
    } catch {
      // JavaScript knows no such category or script; the other kind may.
      return false;
    }
  });
  if (found !== undefined) properties.set(name, found);
  return found;
}

/** Where characters are. Lone surrogates are not characters of any text we can meet. */
const ASSIGNED: readonly number[] = [
  0, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x3ffff, 0xdffff, 0xf0000, 0xffffd, 0x100000,
];
/** Planes that no character was ever put in, and planes for private use: each is all in or all out, but for what lies between them. */
const UNIFORM: readonly number[] = [0x40000, 0xdfffe, 0xf0001, 0xffffc, 0x100001, 0x10fffd];
/** The last two are no characters. */
const REST: readonly number[] = [0x10fffe, CODE_POINT_MAX];
const CHUNK = 16_384;

function* collect(property: string): Generator<undefined, number[]> {
  const pairs: number[] = [];
  const one = new RegExp(property, "u");
  for (let i = 0; i < UNIFORM.length; i += 2)
    if (one.test(String.fromCodePoint(UNIFORM[i]!))) pairs.push(UNIFORM[i]!, UNIFORM[i + 1]!);
  const runs = new RegExp(`${property}+`, "gu");
  for (const spans of [ASSIGNED, REST])
    for (let i = 0; i < spans.length; i += 2)
      for (let base = spans[i]!; base <= spans[i + 1]!; base += CHUNK) {
        yield;
        collectRuns(runs, base, Math.min(CHUNK, spans[i + 1]! - base + 1), pairs);
      }
  return normalize(pairs);
}

function collectRuns(runs: RegExp, base: number, length: number, pairs: number[]): void {
  // Beyond the first plane a character is two units; no chunk has both kinds.
  const units = base > 0xffff ? 2 : 1;
  for (const { 0: run, index } of textOf(base, length).matchAll(runs)) {
    const first = base + index / units;
    pairs.push(first, first + run.length / units - 1);
  }
}

const decoder = new TextDecoder("utf-16le", { ignoreBOM: true });

/** So many characters from `base` on, none of them a surrogate. */
export function textOf(base: number, length: number): string {
  const units = new Uint16Array(base <= 0xffff ? length : length * 2);
  if (base <= 0xffff) {
    for (let i = 0; i < length; i += 1) units[i] = base + i;
    return decoder.decode(units);
  }
  for (let i = 0; i < length; i += 1) {
    const above = base + i - 0x10000;
    units[i * 2] = 0xd800 + (above >>> 10);
    units[i * 2 + 1] = 0xdc00 + (above & 0x3ff);
  }
  return decoder.decode(units);
}
