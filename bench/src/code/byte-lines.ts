/** Reading large answers line by line as bytes: there are millions of lines, and most of each is not looked at. */

/** Calls `take` for each line, without its line break; the bytes are valid only during the call. */
export async function eachLine(
  pieces: AsyncIterable<Uint8Array>,
  take: (line: Buffer) => void,
): Promise<void> {
  let rest = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let at = 0;
    let end = bytes.indexOf(10);
    if (rest.length > 0 && end !== -1) {
      take(Buffer.concat([rest, bytes.subarray(0, end)]));
      rest = Buffer.alloc(0);
      at = end + 1;
      end = bytes.indexOf(10, at);
    }
    for (; end !== -1; end = bytes.indexOf(10, at)) {
      take(bytes.subarray(at, end));
      at = end + 1;
    }
    if (at < bytes.length) rest = Buffer.concat([rest, bytes.subarray(at)]);
  }
  if (rest.length > 0) take(rest);
}

/** The decimal number that starts at `at`. */
export function readNumber(line: Uint8Array, at: number): number {
  let value = 0;
  for (let digit = line[at]! - 48; digit >= 0 && digit <= 9; digit = line[++at]! - 48)
    value = value * 10 + digit;
  return value;
}
