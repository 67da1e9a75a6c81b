/**
 * The 64 classes of bytes that grams are made of. Letters lose their case, so one index answers both kinds of search; blanks are one class, line breaks another.
 * Bytes of characters beyond ASCII have four: those that begin one of two bytes (Greek, Cyrillic), those that begin a longer one (Chinese), and the even and the odd of those that go on.
 * Punctuation and digits that are rare in source share classes. A class says too little, never something wrong: what it finds is checked.
 */

const singles = Array.from("abcdefghijklmnopqrstuvwxyz0123_(){}[];,.=:\"'/*-+<>#&");
const shared = ["45", "67", "89", "$@", "!|"];
const BLANK = singles.length;
const LINE_BREAK = BLANK + 1;
const GOES_ON = BLANK + 2;
const BEGINS_TWO = BLANK + 4;
const BEGINS_MORE = BLANK + 5;
const SHARED = BLANK + 6;
const REST = SHARED + shared.length;

export const byteClasses: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 128) return byte < 0xc0 ? GOES_ON + (byte & 1) : byte < 0xe0 ? BEGINS_TWO : BEGINS_MORE;
  if (byte === 10 || byte === 13) return LINE_BREAK;
  if (byte === 9 || byte === 32) return BLANK;
  const char = String.fromCharCode(byte).toLowerCase();
  const single = singles.indexOf(char);
  if (single !== -1) return single;
  const pair = shared.findIndex((each) => each.includes(char));
  return pair === -1 ? REST : SHARED + pair;
});
