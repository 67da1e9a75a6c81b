/**
 * Letters that are the same without case, by Unicode's simple folding: `k` is also `K` and the Kelvin sign, `s` also the long s. The orbits come from the
 * engine that runs us, which folds in the same way for expressions with the flags `iu`.
 */
import { normalize, textOf } from "./char-set.ts";

/** Where letters with case are; the last of them are Adlam's. */
const CASED: readonly number[] = [0, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x1e943];
const CHANGES = /\p{Changes_When_Casemapped}/gu;

let orbits: Map<number, readonly number[]> | undefined;
let members: readonly number[] | undefined;
/** Named sets are the same arrays every time. */
const folded = new WeakMap<readonly number[], number[]>();

/** The set with everything that folds to the same as one of its members. The first time takes long; `checkpoint` is called meanwhile, and may throw to stop: the next one goes on from there. */
export function foldSet(ranges: readonly number[], checkpoint: () => void = () => undefined): number[] {
  const last = ranges.at(-1);
  if (last === undefined) return [];
  const pairs = [...ranges];
  if (last < 128) {
    for (let i = 0; i < ranges.length; i += 2) {
      for (let at = ranges[i]!; at <= ranges[i + 1]!; at += 1) {
        const lower = at | 0x20;
        if (lower < 0x61 || lower > 0x7a || (at !== lower && at !== lower - 0x20)) continue;
        pairs.push(lower, lower, lower - 0x20, lower - 0x20);
        if (lower === 0x6b) pairs.push(0x212a, 0x212a);
        if (lower === 0x73) pairs.push(0x17f, 0x17f);
      }
    }
    return normalize(pairs);
  }
  const known = folded.get(ranges);
  if (known !== undefined) return known;
  orbits ??= allOrbits(checkpoint);
  members ??= Array.from(orbits.keys()).sort((a, b) => a - b);
  let next = 0;
  for (let i = 0; i < ranges.length; i += 2) {
    if (ranges[i] === ranges[i + 1]) {
      for (const other of orbits.get(ranges[i]!) ?? []) pairs.push(other, other);
      continue;
    }
    // Ranges are in order, and so are members.
    while (next < members.length && members[next]! < ranges[i]!) next += 1;
    for (; next < members.length && members[next]! <= ranges[i + 1]!; next += 1)
      for (const other of orbits.get(members[next]!)!) pairs.push(other, other);
  }
  const out = normalize(pairs);
  folded.set(ranges, out);
  return out;
}

let finding: ReturnType<typeof findOrbits> | undefined;
/** Characters between two looks at whether to stop. */
const STEP = 64;

function allOrbits(checkpoint: () => void): Map<number, readonly number[]> {
  finding ??= findOrbits();
  for (;;) {
    checkpoint();
    const { done, value } = finding.next();
    if (done !== true) continue;
    finding = undefined;
    return value;
  }
}

function* findOrbits(): Generator<undefined, Map<number, readonly number[]>> {
  const groups = new Map<string, Set<number>>();
  const join = (key: string, member: number): void => {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, new Set([member]));
    else group.add(member);
  };
  let count = 0;
  for (const char of casedCharacters()) {
    if (++count % STEP === 0) yield;
    const at = char.codePointAt(0)!;
    const lower = char.toLowerCase();
    const key = char.toUpperCase().toLowerCase();
    join(key, at);
    // What lower case alone joins, such as a capital that has a lower case of its own but shares its upper case.
    if (lower !== key) join(lower, at);
  }
  const result = new Map<number, readonly number[]>();
  for (const group of groups.values()) {
    if (++count % STEP === 0) yield;
    const isPair = areTwo(group);
    for (const member of group) {
      const others = [...group].filter((other) => other !== member);
      const orbit = isPair ? others : others.filter((other) => foldAlike(member, other));
      if (orbit.length > 0) result.set(member, [...new Set([...(result.get(member) ?? []), ...orbit])]);
    }
  }
  return result;
}

/** Every character that is another one in upper or lower case. */
function* casedCharacters(): Iterable<string> {
  for (let i = 0; i < CASED.length; i += 2)
    for (const [char] of textOf(CASED[i]!, CASED[i + 1]! - CASED[i]! + 1).matchAll(CHANGES)) yield char;
}

/** One capital and its small letter, and nothing else: there is no question that these fold alike. */
function areTwo(group: ReadonlySet<number>): boolean {
  if (group.size !== 2) return false;
  const [a = "", b = ""] = Array.from(group, (member) => String.fromCodePoint(member));
  return (a.toLowerCase() === b && b.toUpperCase() === a) || (b.toLowerCase() === a && a.toUpperCase() === b);
}

function foldAlike(a: number, b: number): boolean {
  return new RegExp(`^\\u{${a.toString(16)}}$`, "iu").test(String.fromCodePoint(b));
}
