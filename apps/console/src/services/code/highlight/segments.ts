/** Puts colours and matches of a line together: pieces that follow each other, each with at most one colour and marked or not. */
import type { Range } from "../text-bytes.ts";
import type { Token, TokenKind } from "./tokens.ts";

export interface Segment {
  readonly text: string;
  readonly kind: TokenKind | undefined;
  readonly marked: boolean;
}

/** Of the part of the line from `from` to `to`. Requires tokens and ranges in order and apart. */
export function segments(
  line: string,
  tokens: readonly Token[],
  ranges: readonly Range[],
  { from, to }: Range = { from: 0, to: line.length },
): readonly Segment[] {
  const cuts = new Set([from, to]);
  for (const part of [...tokens, ...ranges])
    for (const place of [part.from, part.to]) if (place > from && place < to) cuts.add(place);
  const places = [...cuts].sort((a, b) => a - b);
  const found: Segment[] = [];
  let token = 0;
  let range = 0;
  for (let n = 0; n + 1 < places.length; n++) {
    const start = places[n] ?? from;
    while ((tokens[token]?.to ?? Infinity) <= start) token++;
    while ((ranges[range]?.to ?? Infinity) <= start) range++;
    found.push({
      text: line.slice(start, places[n + 1]),
      kind: (tokens[token]?.from ?? Infinity) <= start ? tokens[token]?.kind : undefined,
      marked: (ranges[range]?.from ?? Infinity) <= start,
    });
  }
  return found;
}

/** What of a long line is shown: so many characters, with the first match in sight. */
export function windowOf(line: string, ranges: readonly Range[], charsMax: number): Range {
  if (line.length <= charsMax) return { from: 0, to: line.length };
  const first = ranges[0]?.from ?? 0;
  const from = Math.max(0, Math.min(first - Math.floor(charsMax / 4), line.length - charsMax));
  return { from, to: from + charsMax };
}
