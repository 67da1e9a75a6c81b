/**
 * How well a match fits what was asked: whole words before parts of words, definitions before uses, names of files before text inside. A file is as good as
 * its best line. Files that people rarely look for (tests, vendored, generated) come after all others, whatever is in them.
 */

const WHOLE_WORD = 500;
const WORD_EDGE = 50;
const EXACT = 7000;
const EDGE = 5500;
const INSIDE = 4000;
const SEVERAL_ATOMS = 400;
/** More than any match can have. */
const CATEGORY_STEP = 20_000;
const CATEGORIES = 5;

/** How much a definition of this kind is worth, by ctags' names. */
const kinds: ReadonlyMap<string, number> = new Map([
  ["class", 1000],
  ["struct", 950],
  ["enum", 900],
  ["interface", 800],
  ["trait", 800],
  ["type", 800],
  ["typedef", 800],
  ["func", 700],
  ["function", 700],
  ["method", 700],
  ["macro", 600],
  ["field", 550],
  ["member", 550],
  ["property", 550],
  ["const", 500],
  ["constant", 500],
  ["enumerator", 500],
  ["var", 400],
  ["variable", 400],
]);

const OTHER_KIND = 100;

export function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x5f ||
    byte >= 128
  );
}

/** For a match [start, end) in the text [from, to) of `bytes`. */
export function wordScore(bytes: Uint8Array, from: number, to: number, start: number, end: number): number {
  const before = start === from || !isWordByte(bytes[start - 1]!);
  const after = end === to || !isWordByte(bytes[end]!);
  if (before && after) return WHOLE_WORD;
  return before || after ? WORD_EDGE : 0;
}

/** For a match that touches a symbol's name. */
export function symbolScore(
  start: number,
  end: number,
  symbolStart: number,
  symbolEnd: number,
  kind: string,
): number {
  return overlap(start, end, symbolStart, symbolEnd) + (kinds.get(kind.toLowerCase()) ?? OTHER_KIND);
}

/** For a match in a path; `baseStart` is where the file's name begins in it. */
export function pathScore(start: number, end: number, baseStart: number, pathEnd: number): number {
  if (end <= baseStart) return INSIDE;
  return overlap(start, end, baseStart, pathEnd);
}

function overlap(start: number, end: number, from: number, to: number): number {
  if (start === from && end === to) return EXACT;
  return start === from || end === to ? EDGE : INSIDE;
}

export function fileScore(best: number, atoms: number, category: number, boost: number): number {
  const several = atoms > 1 ? SEVERAL_ATOMS * (1 - 1 / atoms) : 0;
  return Math.round((best + several) * boost) + (CATEGORIES - 1 - category) * CATEGORY_STEP;
}
