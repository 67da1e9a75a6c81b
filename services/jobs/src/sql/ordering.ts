/** ORDER BY: collects rows, and only as many as LIMIT can still want. */
import { compareValues, type Compiled, type Row } from "./compile.ts";
import { SqlError } from "./sql-error.ts";
import type { Value } from "./syntax.ts";

const SORTED_BYTES_MAX = 64 * 1024 * 1024;
/** Sorted and cut when there are so many more than wanted. */
const SPARE_ROWS = 10_000;

export interface OrderTerm {
  readonly by: Compiled;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

interface Sorted {
  readonly keys: readonly Value[];
  readonly row: Row;
}

/** The first `wanted` of the rows. `terms` read what `rows` gives. */
export async function inOrder(
  rows: AsyncIterable<Row>,
  terms: readonly OrderTerm[],
  wanted: number,
): Promise<readonly Row[]> {
  let kept: Sorted[] = [];
  let bytes = 0;
  const cut = (): void => {
    kept = kept.sort((a, b) => compareKeys(a.keys, b.keys, terms)).slice(0, wanted);
    bytes = kept.reduce((sum, { row }) => sum + rowBytes(row), 0);
  };
  for await (const row of rows) {
    kept.push({ keys: terms.map(({ by }) => by.read(row)), row });
    bytes += rowBytes(row);
    if (kept.length > wanted + SPARE_ROWS) cut();
    if (bytes > SORTED_BYTES_MAX) {
      cut();
      if (bytes > SORTED_BYTES_MAX)
        throw new SqlError("SQL_TOO_LARGE", `more than ${SORTED_BYTES_MAX} bytes would have to be sorted`);
    }
  }
  cut();
  return kept.map(({ row }) => row);
}

/** Roughly. */
export function rowBytes(row: Row): number {
  let bytes = 16;
  for (const value of row) {
    if (typeof value === "string") bytes += value.length + 8;
    else if (typeof value === "object" && value !== null) bytes += JSON.stringify(value).length + 16;
    else bytes += 8;
  }
  return bytes;
}

function compareKeys(a: readonly Value[], b: readonly Value[], terms: readonly OrderTerm[]): number {
  for (const [at, { descending, nullsFirst }] of terms.entries()) {
    const [x, y] = [a[at] ?? null, b[at] ?? null];
    if (x === null && y === null) continue;
    if (x === null || y === null) return (x === null) === nullsFirst ? -1 : 1;
    const order = compareValues(x, y);
    if (order !== 0) return descending ? -order : order;
  }
  return 0;
}
