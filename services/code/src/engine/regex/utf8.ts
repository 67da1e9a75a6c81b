/** Sets of characters as sequences of UTF-8 byte ranges. */

export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const LENGTH_ENDS = [0x7f, 0x7ff, 0xffff, 0x10ffff];

/** Every sequence matches the encodings of some of the characters, all of them together exactly the set; surrogates have no encoding. */
export function utf8Sequences(ranges: readonly number[]): ByteRange[][] {
  const out: ByteRange[][] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    const first = ranges[i]!;
    const last = ranges[i + 1]!;
    if (first < 0xd800 && last >= 0xd800) split(first, 0xd7ff, out);
    else if (last < 0xd800) split(first, last, out);
    if (last > 0xdfff) split(Math.max(first, 0xe000), last, out);
  }
  return out;
}

function split(first: number, last: number, out: ByteRange[][]): void {
  for (const end of LENGTH_ENDS) {
    if (first <= end && last > end) {
      split(first, end, out);
      split(end + 1, last, out);
      return;
    }
  }
  if (last < 0x80) {
    out.push([{ from: first, to: last }]);
    return;
  }
  // Continuation bytes must run over their whole range below the first byte that differs.
  for (let bits = 6; bits <= 18; bits += 6) {
    const low = (1 << bits) - 1;
    if ((first & ~low) === (last & ~low)) continue;
    if ((first & low) !== 0) {
      split(first, first | low, out);
      split((first | low) + 1, last, out);
      return;
    }
    if ((last & low) !== low) {
      split(first, (last & ~low) - 1, out);
      split(last & ~low, last, out);
      return;
    }
  }
  const from = Buffer.from(String.fromCodePoint(first));
  const to = Buffer.from(String.fromCodePoint(last));
  out.push(Array.from(from, (byte, index) => ({ from: byte, to: to[index]! })));
}
