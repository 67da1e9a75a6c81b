/** Prefixes and pages as etcd's ranges of bytes: `end` is the first key that is not in the range. */

export interface KeyRange {
  readonly key: Buffer;
  readonly end: Buffer;
}

/** In etcd's words: from the first key there is, and up to the last. */
const FIRST = Buffer.from([0]);
const OPEN_END = Buffer.from([0]);

export function prefixRange(prefix: string): KeyRange {
  if (prefix === "") return { key: FIRST, end: OPEN_END };
  const key = Buffer.from(prefix);
  return { key, end: firstAfterPrefix(key) };
}

/** The part of the range above one key; undefined when there is none. Keys compare by their bytes, not as text. */
export function above(range: KeyRange, after: string): KeyRange | undefined {
  const next = Buffer.from(`${after}\0`);
  if (next.compare(range.key) <= 0) return range;
  if (range.end !== OPEN_END && next.compare(range.end) >= 0) return undefined;
  return { key: next, end: range.end };
}

/** UTF-8 has no byte 255, so the last byte can always be raised. */
function firstAfterPrefix(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  const last = end.length - 1;
  end[last] = (end[last] as number) + 1;
  return end;
}
