/**
 * The 64 classes of bytes that grams are made of. Letters lose their case, so one index answers both kinds of search; blanks are one class, line breaks another,
 * every byte of a character beyond ASCII a third. Punctuation that is rare in source shares classes. A class says too little, never something wrong: what it finds is checked.
 */

const singles = Array.from("abcdefghijklmnopqrstuvwxyz0123456789_(){}[];,.=:\"'/*-+<>#&");
const BLANK = singles.length;
const LINE_BREAK = BLANK + 1;
const BEYOND_ASCII = BLANK + 2;
const shared = ["$@", "!|"];
const REST = BEYOND_ASCII + shared.length + 1;

export const byteClasses: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte >= 128) return BEYOND_ASCII;
  if (byte === 10 || byte === 13) return LINE_BREAK;
  if (byte === 9 || byte === 32) return BLANK;
  const char = String.fromCharCode(byte).toLowerCase();
  const single = singles.indexOf(char);
  if (single !== -1) return single;
  const pair = shared.findIndex((each) => each.includes(char));
  return pair === -1 ? REST : BEYOND_ASCII + 1 + pair;
});
