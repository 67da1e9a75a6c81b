/** Where matches are in their lines, and lines as JSON. */
import { Blocks, lineEndAt, lineStartAt, linesUpTo } from "./blocks";
import { count } from "./bytes";

/** Bytes of a located match: start, end, line, line start, line end, each a u32 counted from the start of the document; lines from 1. */
const LOCATED: usize = 20;
/** Of a longer line only a part is written, from a little before its first match. */
const LINE_BYTES_MAX: usize = 1024;
const LEAD_BYTES: usize = 256;
/** Up to here counting line breaks is quicker than asking what was counted before. */
const NEAR_BYTES: usize = 16384;

/** Reads `n` matches (pairs of addresses) of one document and writes them located. Returns how many different lines they start on. */
export function locate(
  matches: usize,
  n: u32,
  docStart: usize,
  docEnd: usize,
  out: usize,
  blocks: usize,
): u32 {
  const b = changetype<Blocks>(blocks);
  const linesHere = n == 0 ? 0 : linesUpTo(b, docStart);
  let line: u32 = 1;
  let counted = docStart;
  let lineStart = docStart;
  let lineEnd = docStart;
  let lines: u32 = 0;
  for (let i: u32 = 0; i < n; i += 1) {
    const start: usize = load<u32>(matches);
    const end: usize = load<u32>(matches, 4);
    matches += 8;
    if (i == 0 || start > lineEnd) {
      lineStart = lineStartAt(blocks, counted, start);
      if (lineStart - counted > NEAR_BYTES) line = linesUpTo(b, lineStart) - linesHere + 1;
      else line += count(counted, lineStart, 10);
      counted = lineStart;
      lineEnd = lineEndAt(blocks, start, docEnd);
      lines += 1;
    }
    store<u32>(out, (start - docStart) as u32);
    store<u32>(out, (end - docStart) as u32, 4);
    store<u32>(out, line, 8);
    store<u32>(out, (lineStart - docStart) as u32, 12);
    store<u32>(out, (lineEnd - docStart) as u32, 16);
    out += LOCATED;
  }
  return lines;
}

/**
 * Writes the lines of located matches as JSON, one object with a line break each: `prefix` (up to and with `"line":`), the number, the text, and the ranges
 * as byte offsets in the line, or only the first; of a long line a part, and `from`, where in the line it starts. Stops before a line that may not fit. Returns how many matches were written; `outAt` (a u32) is where the output is and then ends.
 */
export function jsonLines(
  located: usize,
  n: u32,
  docStart: usize,
  prefix: usize,
  prefixBytes: u32,
  outAt: usize,
  outEnd: usize,
  firstOfLine: u32,
): u32 {
  let out: usize = load<u32>(outAt);
  let i: u32 = 0;
  while (i < n) {
    const first = located + (i as usize) * LOCATED;
    const line = load<u32>(first, 8);
    const lineStart: usize = load<u32>(first, 12);
    const lineEnd: usize = load<u32>(first, 16);
    let stop = i + 1;
    while (stop < n && load<u32>(located + (stop as usize) * LOCATED, 8) == line) stop += 1;
    let textFrom = lineStart;
    let textTo = lineEnd;
    if (lineEnd - lineStart > LINE_BYTES_MAX) {
      textFrom = max(lineStart, max(load<u32>(first) as usize, LEAD_BYTES) - LEAD_BYTES);
      // Not in the middle of a character.
      while (textFrom > lineStart && (load<u8>(docStart + textFrom) & 0xc0) == 0x80) textFrom -= 1;
      textTo = min(lineEnd, textFrom + LINE_BYTES_MAX);
      while (textTo > textFrom && textTo < lineEnd && (load<u8>(docStart + textTo) & 0xc0) == 0x80)
        textTo -= 1;
    }
    const rangesEnd = firstOfLine != 0 ? i + 1 : stop;
    const room = (textTo - textFrom) * 6 + prefixBytes + (rangesEnd - i) * 24 + 64;
    if (out + room > outEnd) break;
    memory.copy(out, prefix, prefixBytes);
    out = number(out + prefixBytes, line);
    if (textTo - textFrom != lineEnd - lineStart) {
      out = text(out, ',"from":', 8);
      out = number(out, (textFrom - lineStart) as u32);
    }
    out = text(out, ',"text":"', 9);
    out = escape(docStart + textFrom, docStart + textTo, out);
    out = text(out, '","ranges":[', 12);
    for (let each = i; each < rangesEnd; each += 1) {
      const match = located + (each as usize) * LOCATED;
      if (each != i) {
        store<u8>(out, 44);
        out += 1;
      }
      store<u8>(out, 91);
      out = number(out + 1, load<u32>(match) - (lineStart as u32));
      store<u8>(out, 44);
      out = number(out + 1, load<u32>(match, 4) - (lineStart as u32));
      store<u8>(out, 93);
      out += 1;
    }
    store<u8>(out, 93);
    store<u8>(out, 125, 1);
    store<u8>(out, 10, 2);
    out += 3;
    i = stop;
  }
  store<u32>(outAt, out as u32);
  return i;
}

function text(out: usize, value: string, n: usize): usize {
  for (let i: usize = 0; i < n; i += 1) store<u8>(out + i, load<u8>(changetype<usize>(value) + (i << 1)));
  return out + n;
}

function number(out: usize, value: u32): usize {
  let digits: usize = 1;
  for (let rest = value; rest >= 10; rest /= 10) digits += 1;
  for (let at = out + digits; at > out; value /= 10) {
    at -= 1;
    store<u8>(at, 48 + (value % 10));
  }
  return out + digits;
}

/** A JSON string's inside: what is not UTF-8 becomes U+FFFD, byte by byte. */
function escape(from: usize, to: usize, out: usize): usize {
  const space = i8x16.splat(32);
  const quote = i8x16.splat(34);
  const backslash = i8x16.splat(92);
  let at = from;
  while (at < to) {
    // Signed comparison: bytes of 128 and above are below a space too.
    while (at + 16 <= to) {
      const bytes = v128.load(at);
      const special = v128.or(
        i8x16.lt_s(bytes, space),
        v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)),
      );
      v128.store(out, bytes);
      if (v128.any_true(special)) {
        const plain = ctz(i8x16.bitmask(special)) as usize;
        at += plain;
        out += plain;
        break;
      }
      at += 16;
      out += 16;
    }
    if (at >= to) break;
    const byte: u32 = load<u8>(at);
    if (byte >= 128) {
      const length = sequence(at, to);
      if (length == 0) {
        store<u8>(out, 0xef);
        store<u8>(out, 0xbf, 1);
        store<u8>(out, 0xbd, 2);
        out += 3;
        at += 1;
      } else {
        memory.copy(out, at, length);
        out += length;
        at += length;
      }
    } else {
      if (byte == 34 || byte == 92) {
        store<u8>(out, 92);
        store<u8>(out, byte, 1);
        out += 2;
      } else if (byte == 9) {
        store<u8>(out, 92);
        store<u8>(out, 116, 1);
        out += 2;
      } else if (byte < 32) {
        store<u32>(out, 0x3030755c);
        store<u8>(out, 48 + (byte >> 4), 4);
        const low = byte & 15;
        store<u8>(out, low < 10 ? 48 + low : 87 + low, 5);
        out += 6;
      } else {
        store<u8>(out, byte);
        out += 1;
      }
      at += 1;
    }
  }
  return out;
}

/** The length of the valid UTF-8 sequence of two to four bytes that starts here, or 0. */
function sequence(at: usize, to: usize): usize {
  const first: u32 = load<u8>(at);
  let length: usize = 0;
  let low: u32 = 0x80;
  let high: u32 = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) length = 2;
  else if (first >= 0xe0 && first <= 0xef) {
    length = 3;
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
  }
  if (length == 0 || at + length > to) return 0;
  const second: u32 = load<u8>(at, 1);
  if (second < low || second > high) return 0;
  for (let i: usize = 2; i < length; i += 1) {
    if ((load<u8>(at + i) & 0xc0) != 0x80) return 0;
  }
  return length;
}
