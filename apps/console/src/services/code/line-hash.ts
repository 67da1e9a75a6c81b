/** Lines in an address: `#L10`, `#L10-L20`. */

export interface Lines {
  readonly first: number;
  readonly last: number;
}

/** Undefined when the address names none. */
export function linesOf(hash: string): Lines | undefined {
  const [, from, to] = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash) ?? [];
  if (from === undefined) return undefined;
  const one = Number(from);
  const other = to === undefined ? one : Number(to);
  return one < 1 ? undefined : { first: Math.min(one, other), last: Math.max(one, other) };
}

export function hashOf({ first, last }: Lines): string {
  return first === last ? `#L${first}` : `#L${first}-L${last}`;
}
