/**
 * How well a match fits what was asked: whole words before parts of words, definitions before uses, names of files before text inside. A file is as good as
 * its best match. Files that people rarely look for (tests, vendored, generated) come after all others, whatever is in them.
 */

const WHOLE_WORD = 500;
/** Both ends are ends of something, one of them only within a word: `Name` in `fileName`, `utf` in `utf8`. */
const PART_OF_NAME = 450;
const WORD_EDGE = 50;
const EXACT = 7000;
const EDGE = 5500;
const INSIDE = 4000;
const SEVERAL_ATOMS = 400;
/** More than any match can have. */
const CATEGORY_STEP = 20_000;
const CATEGORIES = 5;

export function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x5f ||
    byte >= 128
  );
}

/** What of words a byte belongs to: 0 is none of it, and where two of a kind stand together nothing ends. */
const kindOfByte = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (!isWordByte(byte)) return 0;
  if (byte >= 0x61 && byte <= 0x7a) return 1;
  if (byte >= 0x41 && byte <= 0x5a) return 2;
  if (byte >= 0x30 && byte <= 0x39) return 3;
  return byte === 0x5f ? 4 : 5;
});

/** For a match [start, end) in the text [from, to) of `bytes`. */
export function wordScore(bytes: Uint8Array, from: number, to: number, start: number, end: number): number {
  // Next to what is no part of a word a word begins or ends, whatever the match itself begins or ends with.
  const before = start === from ? 0 : kindOfByte[bytes[start - 1]!]!;
  const after = end === to ? 0 : kindOfByte[bytes[end]!]!;
  if (before === 0 && after === 0) return WHOLE_WORD;
  const first = before === 0 || (start < to && kindOfByte[bytes[start]!] !== before);
  const last = after === 0 || (end > from && kindOfByte[bytes[end - 1]!] !== after);
  if (first && last) return PART_OF_NAME;
  return first || last ? WORD_EDGE : 0;
}

/** For a match that touches a symbol's name, besides what the kind of the symbol is worth. */
export function symbolScore(start: number, end: number, symbolStart: number, symbolEnd: number): number {
  return overlap(start, end, symbolStart, symbolEnd);
}

/** For a match [start, end) in a path that lies at [from, to) of `bytes`; the file's own name begins at `base`. In the name of a folder only the word counts. */
export function pathScore(
  bytes: Uint8Array,
  from: number,
  to: number,
  base: number,
  start: number,
  end: number,
): number {
  const word = wordScore(bytes, from, to, start, end);
  if (start < base && end !== to) return word;
  return word + overlap(start, end, base, to);
}

function overlap(start: number, end: number, from: number, to: number): number {
  if (start === from && end === to) return EXACT;
  return start === from || end === to ? EDGE : INSIDE;
}

/** What it adds to a file that several atoms were found in it; one that is both in its path and in its text counts twice. */
export function atomsScore(atoms: number): number {
  return atoms > 1 ? SEVERAL_ATOMS * (1 - 1 / atoms) : 0;
}

export function fileScore(best: number, atoms: number, category: number, boost: number): number {
  return Math.trunc((best + atomsScore(atoms)) * boost) + categoryScore(category);
}

export function categoryScore(category: number): number {
  return (CATEGORIES - 1 - category) * CATEGORY_STEP;
}
