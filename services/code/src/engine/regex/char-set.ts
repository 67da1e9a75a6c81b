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

/** Named sets of Unicode, from the engine that runs us: `L`, `Lu`, `Greek`. Undefined when there is no such name. */
const named = new Map<string, readonly number[]>();

export function unicodeSet(name: string): readonly number[] | undefined {
  if (name === "Any") return [0, CODE_POINT_MAX];
  const known = named.get(name);
  if (known !== undefined) return known;
  const property = propertyOf(name);
  if (property === undefined) return undefined;
  const ranges = collect(
    new RegExp(`^\\p{${property}}$`, "u"),
    new RegExp(`^\\p{${property}}+$`, "u"),
    new RegExp(`^\\P{${property}}+$`, "u"),
  );
  named.set(name, ranges);
  return ranges;
}

export function hasUnicodeSet(name: string): boolean {
  return name === "Any" || named.has(name) || propertyOf(name) !== undefined;
}

function propertyOf(name: string): string | undefined {
  if (!/^[A-Za-z_]+$/.test(name)) return undefined;
  return [`General_Category=${name}`, `Script=${name}`].find((property) => {
    try {
      return new RegExp(`\\p{${property}}`, "u").unicode;
    } catch {
      // JavaScript knows no such category or script; the other kind may.
      return false;
    }
  });
}

const CHUNK = 256;
/** Planes that no character was ever put in, and planes for private use: each is all in or all out. */
const UNIFORM = [0x40000, 0xdffff, 0xf0000, 0xffffd, 0x100000, 0x10fffd];

/** A chunk that is all in or all out is settled by one test. */
function collect(one: RegExp, all: RegExp, none: RegExp): number[] {
  const pairs: number[] = [];
  for (let i = 0; i < UNIFORM.length; i += 2)
    if (one.test(String.fromCodePoint(UNIFORM[i]!))) pairs.push(UNIFORM[i]!, UNIFORM[i + 1]!);
  for (let base = 0; base <= CODE_POINT_MAX; base += CHUNK) {
    // The last chunk of such a plane holds two that are no characters.
    if ((base >= 0x40000 && base < 0xe0000) || (base >= 0xf0000 && (base & 0xff00) !== 0xff00)) continue;
    // Lone surrogates are not characters of any text we can meet.
    if (base >= 0xd800 && base < 0xe000) continue;
    const text = String.fromCodePoint(...Array.from({ length: CHUNK }, (_, i) => base + i));
    if (none.test(text)) continue;
    if (all.test(text)) pairs.push(base, base + CHUNK - 1);
    else {
      for (let at = base; at < base + CHUNK; at += 1)
        if (one.test(String.fromCodePoint(at))) pairs.push(at, at);
    }
  }
  return normalize(pairs);
}
