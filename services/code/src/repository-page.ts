/** A page of the list of repositories, in the order of their ids: a list of a hundred thousand does not fit into one frame. */
import type { Repository } from "./repository.ts";

export interface PageRequest {
  /** Those with a greater id. */
  readonly after?: number | undefined;
  readonly limit?: number | undefined;
  /** Only repositories whose name contains this. */
  readonly name?: string | undefined;
}

export interface Page<Row> {
  /** Of the whole list. */
  readonly revision: number;
  readonly repositories: readonly Row[];
  /** What the next page comes after; undefined when this is the last. */
  readonly next?: number;
  /** Repositories that there are, whatever was asked for. */
  readonly total: number;
}

/** At some 700 bytes a row with its holders, a page of these is a quarter of a frame. */
export const pageRowsMax = 5_000;
export const pageRowsUsual = 1_000;

/** Requires `rows` in the order of their ids. */
export function pageOf(
  rows: readonly Repository[],
  { after = 0, limit = pageRowsMax, name }: PageRequest,
): { readonly rows: Repository[]; readonly next?: number } {
  const most = Math.min(limit, pageRowsMax);
  const found: Repository[] = [];
  for (let at = firstAfter(rows, after); at < rows.length; at++) {
    const row = rows[at]!;
    if (name !== undefined && !row.name.includes(name)) continue;
    if (found.length === most) return { rows: found, next: found.at(-1)!.id };
    found.push(row);
  }
  return { rows: found };
}

function firstAfter(rows: readonly Repository[], id: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]!.id <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
