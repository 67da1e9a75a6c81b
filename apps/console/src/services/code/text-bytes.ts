/** Text that comes as base64 of bytes, with places counted in bytes; a page counts characters. */

const decoder = new TextDecoder();

export function bytesOf(base64: string): Uint8Array {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** The bytes of the first line, without its line break: a match over several lines comes with all of them. */
export function firstLineOf(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(10);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

export function textOf(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** From and to, in characters of a line. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Ranges of bytes as ranges of characters, in order and apart from each other. */
export function rangesOf(
  bytes: Uint8Array,
  text: string,
  parts: readonly { readonly LineOffset: number; readonly MatchLength: number }[],
): readonly Range[] {
  const places = placesOf(
    bytes,
    parts.flatMap(({ LineOffset, MatchLength }) => [LineOffset, LineOffset + MatchLength]),
  );
  const place = (offset: number): number =>
    bytes.length === text.length ? offset : (places.get(offset) ?? text.length);
  const found = parts
    .map(({ LineOffset, MatchLength }) => ({
      from: place(LineOffset),
      to: Math.min(text.length, place(LineOffset + MatchLength)),
    }))
    .sort((a, b) => a.from - b.from);
  const apart: Range[] = [];
  for (const range of found) {
    const last = apart.at(-1);
    if (last && range.from <= last.to)
      apart[apart.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
    else if (range.to > range.from) apart.push(range);
  }
  return apart;
}

/** How many characters lie before each of these bytes. The bytes are gone through once: a line of megabytes can have thousands of ranges. */
function placesOf(bytes: Uint8Array, offsets: readonly number[]): ReadonlyMap<number, number> {
  const stream = new TextDecoder();
  const places = new Map<number, number>();
  let [read, chars] = [0, 0];
  for (const offset of [...offsets].sort((a, b) => a - b)) {
    chars += stream.decode(bytes.subarray(read, offset), { stream: true }).length;
    read = Math.max(read, offset);
    places.set(offset, chars);
  }
  return places;
}
