/**
 * A set of whole numbers as short text, so that the shards of a service that numbers them fit into one view: a hundred thousand take some 17 KB, however many are left
 * out in between. It is no general compression: numbers that lie far apart take some four characters each.
 *
 * The text is chunks of 4,096 numbers, with commas between them: the chunk's number in base 36, a colon, and the shortest of `*` for all of them, ranges of offsets in base 36 with dots between
 * them (`0-1f.2a`), or `!` and a bitmap, six numbers a character, the first in the lowest bit.
 */
const CHUNK = 4_096;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Numbers in any order, each once; throws RangeError for what is no whole number from 0 up. */
export function encodeNumbers(numbers: Iterable<number>): string {
  const chunks = new Map<number, number[]>();
  for (const number of numbers) {
    if (!Number.isSafeInteger(number) || number < 0)
      throw new RangeError(`${number} is no whole number from 0 up`);
    const chunk = Math.floor(number / CHUNK);
    const offsets = chunks.get(chunk);
    if (offsets) offsets.push(number % CHUNK);
    else chunks.set(chunk, [number % CHUNK]);
  }
  return [...chunks]
    .sort(([a], [b]) => a - b)
    .map(([chunk, offsets]) => `${chunk.toString(36)}:${encodeChunk(offsets.sort((a, b) => a - b))}`)
    .join(",");
}

/** In rising order. Throws RangeError for text that `encodeNumbers` has not made. */
export function decodeNumbers(text: string): number[] {
  const numbers: number[] = [];
  if (text === "") return numbers;
  for (const part of text.split(",")) {
    const colon = part.indexOf(":");
    const base = Number.parseInt(part.slice(0, colon), 36) * CHUNK;
    if (colon < 1 || !Number.isSafeInteger(base))
      throw new RangeError(`no chunk of numbers: ${part.slice(0, 40)}`);
    decodeChunk(part.slice(colon + 1), base, numbers);
  }
  return numbers;
}

function encodeChunk(offsets: readonly number[]): string {
  if (offsets.length === CHUNK) return "*";
  const ranges: string[] = [];
  for (let at = 0; at < offsets.length;) {
    const first = offsets[at]!;
    let last = first;
    while (++at < offsets.length && offsets[at] === last + 1) last++;
    ranges.push(first === last ? first.toString(36) : `${first.toString(36)}-${last.toString(36)}`);
  }
  const listed = ranges.join(".");
  const mapped = bitmap(offsets);
  return listed.length <= mapped.length ? listed : mapped;
}

function bitmap(offsets: readonly number[]): string {
  const sixes = new Uint8Array(Math.floor(offsets.at(-1)! / 6) + 1);
  for (const offset of offsets) sixes[Math.floor(offset / 6)]! |= 1 << (offset % 6);
  let text = "!";
  for (const six of sixes) text += ALPHABET[six]!;
  return text;
}

function decodeChunk(text: string, base: number, into: number[]): void {
  if (text === "*") for (let offset = 0; offset < CHUNK; offset++) into.push(base + offset);
  else if (text.startsWith("!")) {
    for (let at = 1; at < text.length; at++) {
      const six = ALPHABET.indexOf(text[at]!);
      if (six < 0) throw new RangeError(`no bitmap of numbers: ${text.slice(0, 40)}`);
      for (let bit = 0; bit < 6; bit++) if (six & (1 << bit)) into.push(base + (at - 1) * 6 + bit);
    }
  } else
    for (const range of text.split(".")) {
      const [first, last = first] = range.split("-").map((each) => Number.parseInt(each, 36));
      if (first === undefined || last === undefined || !(first <= last) || last >= CHUNK)
        throw new RangeError(`no range of numbers: ${range.slice(0, 40)}`);
      for (let offset = first; offset <= last; offset++) into.push(base + offset);
    }
}
