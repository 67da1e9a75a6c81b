/** Where the keys with a prefix end. Keys compare by their bytes in UTF-8, which is the order of their characters' code points. */

const LAST = 0x10ffff;

/** The first text after all that begin with the prefix; undefined when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  while (points.at(-1) === LAST) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  // There are no characters from D800 to DFFF.
  const next = last === 0xd7ff ? 0xe000 : last + 1;
  return String.fromCodePoint(...points, next);
}
