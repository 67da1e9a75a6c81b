/**
 * What grams are made of. A byte of ASCII is one of 60 classes: letters lose their case, so one index answers both kinds of search; blanks are one class, line breaks another;
 * punctuation and digits that are rare in source share classes. A byte beyond ASCII stands for itself. Three of these are one of 262144 grams: six bits each when all are ASCII, else the rest is
 * a hash, in numbers that ASCII leaves free. A gram says too little, never something wrong: what it finds is checked.
 */

const singles = Array.from("abcdefghijklmnopqrstuvwxyz0123_(){}[];,.=:\"'/*-+<>#&");
const shared = ["45", "67", "89", "$@", "!|"];
const BLANK = singles.length;
const LINE_BREAK = BLANK + 1;
const SHARED = BLANK + 2;
const REST = SHARED + shared.length;

/** The class of each byte, below 60, or the byte itself when it is beyond ASCII. */
export const byteClasses: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 128) return byte;
  if (byte === 10 || byte === 13) return LINE_BREAK;
  if (byte === 9 || byte === 32) return BLANK;
  const char = String.fromCharCode(byte).toLowerCase();
  const single = singles.indexOf(char);
  if (single !== -1) return single;
  const pair = shared.findIndex((each) => each.includes(char));
  return pair === -1 ? REST : SHARED + pair;
});

/** The gram of three of these, as the kernels number it. */
export function gramOf(x: number, y: number, z: number): number {
  if (x >= 128) return 0x3c000 | hash((x << 16) | (y << 8) | z, 14);
  if (y >= 128) return (x << 12) | 0xf00 | hash((y << 8) | z, 8);
  if (z >= 128) return (x << 12) | (y << 6) | 0x3c | (z & 3);
  return (x << 12) | (y << 6) | z;
}

function hash(value: number, bits: number): number {
  return Math.imul(value, 0x9e37_79b1) >>> (32 - bits);
}
