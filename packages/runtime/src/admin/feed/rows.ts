/** Rows of the table as the columns of a frame. */
import { STATE_LETTERS, type FeedRows, type FeedWeights } from "./frames.ts";
import type { ReplicaTable } from "./replica-table.ts";

/** Numbers of rows that are gone are left out. */
export function rowsOf(table: ReplicaTable, indices: Iterable<number>): FeedRows {
  const i: number[] = [];
  const holder: number[] = [];
  const target: number[] = [];
  const era: number[] = [];
  const revision: number[] = [];
  const since: number[] = [];
  const strikes: number[] = [];
  let state = "";
  for (const index of indices) {
    const row = table.row(index);
    if (!row) continue;
    i.push(index);
    holder.push(row.holder);
    target.push(row.target);
    era.push(row.era);
    revision.push(row.revision);
    since.push(row.sinceSeconds);
    strikes.push(row.strikes);
    state += STATE_LETTERS[row.state];
  }
  return { i, holder, target, state, era, revision, since, strikes };
}

/** Only of rows whose weight is known. */
export function weightsOf(table: ReplicaTable, indices: Iterable<number>): FeedWeights {
  const i: number[] = [];
  const load: number[] = [];
  const bytes: number[] = [];
  for (const index of indices) {
    const row = table.row(index);
    if (!row || (row.load < 0 && row.bytes < 0)) continue;
    i.push(index);
    load.push(brief(row.load));
    bytes.push(Math.round(row.bytes));
  }
  return { i, load, bytes };
}

/** Three digits are enough to draw. */
function brief(load: number): number {
  return Number(load.toPrecision(3));
}
