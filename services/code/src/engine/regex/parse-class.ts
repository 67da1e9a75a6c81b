/** The parts of RE2's syntax that name sets of characters: escapes, Perl's and POSIX's classes, Unicode's, and brackets. */
import { foldSet } from "./case-fold.ts";
import { CODE_POINT_MAX, hasUnicodeSet, negate, normalize, unicodeSet } from "./char-set.ts";

/** Where a parser is in its pattern, as code points. */
export interface Cursor {
  readonly chars: readonly string[];
  /** Whether only the syntax matters: then sets that are costly to make stay out. */
  readonly syntaxOnly: boolean;
  /** Called between parts; may throw to stop. */
  readonly checkpoint: () => void;
  at: number;
  eat(text: string): boolean;
  fail(message: string, at?: number): never;
}

const DIGIT = [0x30, 0x39];
const WORD = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
const SPACE = [0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x20];

const perl: ReadonlyMap<string, readonly number[]> = new Map([
  ["d", DIGIT],
  ["w", WORD],
  ["s", SPACE],
]);

const posix: ReadonlyMap<string, readonly number[]> = new Map([
  ["alnum", [0x30, 0x39, 0x41, 0x5a, 0x61, 0x7a]],
  ["alpha", [0x41, 0x5a, 0x61, 0x7a]],
  ["ascii", [0, 0x7f]],
  ["blank", [0x09, 0x09, 0x20, 0x20]],
  ["cntrl", [0, 0x1f, 0x7f, 0x7f]],
  ["digit", DIGIT],
  ["graph", [0x21, 0x7e]],
  ["lower", [0x61, 0x7a]],
  ["print", [0x20, 0x7e]],
  ["punct", [0x21, 0x2f, 0x3a, 0x40, 0x5b, 0x60, 0x7b, 0x7e]],
  ["space", [0x09, 0x0d, 0x20, 0x20]],
  ["upper", [0x41, 0x5a]],
  ["word", WORD],
  ["xdigit", [0x30, 0x39, 0x41, 0x46, 0x61, 0x66]],
]);

const simple: ReadonlyMap<string, number> = new Map([
  ["a", 7],
  ["f", 12],
  ["t", 9],
  ["n", 10],
  ["r", 13],
  ["v", 11],
]);

/** Named sets are the same arrays every time, and so is what they are not. */
const negations = new WeakMap<readonly number[], readonly number[]>();

/** Case goes first, then negation: `(?i)\\W` is everything but what folds to a word character. */
function complete(
  ranges: readonly number[],
  negated: boolean,
  fold: boolean,
  checkpoint?: () => void,
): readonly number[] {
  const folded = fold ? foldSet(ranges, checkpoint) : ranges;
  if (!negated) return folded;
  let rest = negations.get(folded);
  if (rest === undefined) negations.set(folded, (rest = negate(folded)));
  return rest;
}

export function perlClass(letter: string, fold: boolean): readonly number[] | undefined {
  const ranges = perl.get(letter.toLowerCase());
  return ranges && complete(ranges, letter !== letter.toLowerCase(), fold);
}

/** `\pL`, `\p{Greek}`, `\P…`, `\p{^…}`. */
export function readUnicodeClass(cursor: Cursor, fold: boolean): readonly number[] {
  const start = cursor.at;
  let negated = cursor.chars[start + 1] === "P";
  cursor.at += 2;
  let name = cursor.chars[cursor.at] ?? "";
  cursor.at += 1;
  if (name === "{") {
    const close = cursor.chars.indexOf("}", cursor.at);
    if (close === -1) cursor.fail("missing } after \\p{", start);
    name = cursor.chars.slice(cursor.at, close).join("");
    cursor.at = close + 1;
    if (name.startsWith("^")) {
      negated = !negated;
      name = name.slice(1);
    }
  }
  const ranges = cursor.syntaxOnly
    ? hasUnicodeSet(name)
      ? DIGIT
      : undefined
    : unicodeSet(name, cursor.checkpoint);
  if (ranges === undefined) return cursor.fail(`no Unicode class is called ${JSON.stringify(name)}`, start);
  return complete(ranges, negated, fold, cursor.checkpoint);
}

/** The one character that an escape stands for. */
export function readEscape(cursor: Cursor): number {
  const start = cursor.at;
  cursor.at += 1;
  const char = cursor.chars[cursor.at++];
  if (char === undefined) return cursor.fail("a \\ with nothing after it", start);
  const known = simple.get(char);
  if (known !== undefined) return known;
  if (char === "x") return readHex(cursor, start);
  if (char >= "0" && char <= "7") {
    let digits = char;
    while (digits.length < 3 && /^[0-7]$/.test(cursor.chars[cursor.at] ?? ""))
      digits += cursor.chars[cursor.at++];
    // A single digit other than zero would be a back-reference.
    if (digits.length > 1 || char === "0") return Number.parseInt(digits, 8);
    return cursor.fail(`back-references such as \\${char} are not supported`, start);
  }
  if (/^[A-Za-z0-9]$/.test(char) || char > "\u007f")
    return cursor.fail(`there is no escape \\${char}`, start);
  return char.codePointAt(0)!;
}

function readHex(cursor: Cursor, start: number): number {
  let digits: string;
  if (cursor.eat("{")) {
    const close = cursor.chars.indexOf("}", cursor.at);
    digits = close === -1 ? "" : cursor.chars.slice(cursor.at, close).join("");
    cursor.at = close + 1;
    if (!/^[0-9a-fA-F]{1,8}$/.test(digits)) return cursor.fail("\\x{…} takes hexadecimal digits", start);
  } else {
    digits = cursor.chars.slice(cursor.at, cursor.at + 2).join("");
    cursor.at += 2;
    if (!/^[0-9a-fA-F]{2}$/.test(digits)) return cursor.fail("\\x takes two hexadecimal digits", start);
  }
  const value = Number.parseInt(digits, 16);
  return value <= CODE_POINT_MAX ? value : cursor.fail("there is no such character", start);
}

/** `[…]` with all that may be in it. */
export function readBracket(cursor: Cursor, fold: boolean): number[] {
  const start = cursor.at;
  cursor.at += 1;
  const negated = cursor.eat("^");
  const pairs: number[] = [];
  /** Each once: a set has hundreds of ranges, and an expression room for hundreds of names. */
  const seen = new Set<readonly number[]>();
  for (let first = true; ; first = false) {
    const char = cursor.chars[cursor.at];
    if (char === undefined) return cursor.fail("missing ]", start);
    if (char === "]" && !first) break;
    const named = readNamed(cursor, fold);
    if (named !== undefined) {
      if (!seen.has(named)) for (const each of named) pairs.push(each);
      seen.add(named);
      continue;
    }
    const from = readChar(cursor, start);
    const range = cursor.chars[cursor.at] === "-" && (cursor.chars[cursor.at + 1] ?? "]") !== "]";
    if (!range) {
      pairs.push(...complete([from, from], false, fold, cursor.checkpoint));
      continue;
    }
    const dash = cursor.at;
    cursor.at += 1;
    const to = readChar(cursor, start);
    if (to < from) cursor.fail("a range must go from low to high", dash);
    pairs.push(...complete([from, to], false, fold, cursor.checkpoint));
  }
  cursor.at += 1;
  const set = normalize(pairs);
  return negated ? negate(set) : set;
}

function readChar(cursor: Cursor, start: number): number {
  const char = cursor.chars[cursor.at];
  if (char === undefined) return cursor.fail("missing ]", start);
  if (char === "\\") return readEscape(cursor);
  cursor.at += 1;
  return char.codePointAt(0)!;
}

function readNamed(cursor: Cursor, fold: boolean): readonly number[] | undefined {
  if (cursor.chars[cursor.at] === "[" && cursor.chars[cursor.at + 1] === ":") {
    const rest = cursor.chars.slice(cursor.at + 2, cursor.at + 20).join("");
    const found = /^(?<not>\^?)(?<name>[a-z]+):\]/.exec(rest);
    if (found === null) return undefined;
    const ranges = posix.get(found.groups?.["name"] ?? "");
    if (ranges === undefined) return cursor.fail(`no class is called [:${found.groups?.["name"]}:]`);
    cursor.at += 2 + found[0].length;
    return complete(ranges, found.groups?.["not"] === "^", fold);
  }
  if (cursor.chars[cursor.at] !== "\\") return undefined;
  const next = cursor.chars[cursor.at + 1] ?? "";
  if (next === "p" || next === "P") return readUnicodeClass(cursor, fold);
  const ranges = perlClass(next, fold);
  if (ranges !== undefined) cursor.at += 2;
  return ranges;
}
