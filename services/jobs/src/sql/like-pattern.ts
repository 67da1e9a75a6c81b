/** LIKE: `%` is any text, `_` any character, a backslash takes the next one as it is. Matched without backtracking over more than the last `%`, so no pattern is slow. */
type Part = string | typeof ANY;
const ANY = Symbol("any character");

/** Remembers the last pattern: a statement mostly has one. */
export function likePattern(foldsCase: boolean): (text: string, pattern: string) => boolean {
  const fold = (text: string): string => (foldsCase ? text.toLowerCase() : text);
  let last: { readonly pattern: string; readonly pieces: readonly (readonly Part[])[] } | undefined;
  return (text, pattern) => {
    if (last?.pattern !== pattern) last = { pattern, pieces: piecesOf(fold(pattern)) };
    return matches(Array.from(fold(text)), last.pieces);
  };
}

/** What stands between the `%`. */
function piecesOf(pattern: string): readonly (readonly Part[])[] {
  const pieces: Part[][] = [[]];
  const characters = Array.from(pattern);
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === "%") pieces.push([]);
    else if (character === "_") pieces.at(-1)!.push(ANY);
    else if (character === "\\" && at + 1 < characters.length) pieces.at(-1)!.push(characters[++at]!);
    else pieces.at(-1)!.push(character);
  }
  return pieces;
}

function matches(text: readonly string[], pieces: readonly (readonly Part[])[]): boolean {
  const [first, ...rest] = pieces as [readonly Part[], ...(readonly Part[])[]];
  if (!isAt(text, 0, first)) return false;
  if (rest.length === 0) return text.length === first.length;
  const last = rest.pop()!;
  let at = first.length;
  // The first place for each piece is the best: it leaves most for the others.
  for (const piece of rest) {
    while (at + piece.length <= text.length && !isAt(text, at, piece)) at += 1;
    if (at + piece.length > text.length) return false;
    at += piece.length;
  }
  return text.length - last.length >= at && isAt(text, text.length - last.length, last);
}

function isAt(text: readonly string[], at: number, piece: readonly Part[]): boolean {
  return (
    at + piece.length <= text.length &&
    piece.every((part, index) => part === ANY || part === text[at + index])
  );
}
