/**
 * What becomes of runs that came while nobody could start them: the shard was down, or the machine slept. Pure: last run and now go in, the runs to start
 * and the next one come out.
 */
import type { CronExpression } from "./expression.ts";
import { nextRun } from "./next-run.ts";

/** `skip` starts none that is late, `once` starts one for all that were missed, `all` starts each, up to a limit, the newest ones. */
export type MissedRuns = "skip" | "once" | "all";

export interface DueRuns {
  /** The times that they were meant for, in order. */
  readonly runs: readonly number[];
  readonly nextMs: number | undefined;
  /** Were due and are not started. */
  readonly dropped: number;
}

export interface DueTerms {
  readonly missed: MissedRuns;
  /** A run is late, and so missed, after this long. */
  readonly lateMs: number;
  readonly runsMax: number;
}

export const DUE_DEFAULTS: DueTerms = { missed: "once", lateMs: 60_000, runsMax: 1_000 };

/** More runs than this were missed: no need to count each. */
const COUNTED_MAX = 100_000;

/** All runs after `lastMs` that are due at `nowMs`. */
export function dueRuns(
  cron: CronExpression,
  zone: string,
  lastMs: number,
  nowMs: number,
  terms: DueTerms = DUE_DEFAULTS,
): DueRuns {
  const due: number[] = [];
  let counted = 0;
  let next = nextRun(cron, zone, lastMs);
  while (next !== undefined && next <= nowMs) {
    counted += 1;
    due.push(next);
    if (due.length > terms.runsMax) due.shift();
    // Far behind: what is older than this would be dropped in any case.
    next = nextRun(cron, zone, counted < COUNTED_MAX ? next : Math.max(next, nowMs - terms.lateMs));
  }
  const runs = choose(due, nowMs, terms);
  return { runs, nextMs: next, dropped: counted - runs.length };
}

function choose(due: readonly number[], nowMs: number, { missed, lateMs }: DueTerms): readonly number[] {
  const punctual = due.filter((atMs) => nowMs - atMs <= lateMs);
  if (missed === "all") return due;
  if (missed === "skip" || punctual.length > 0) return punctual;
  return due.slice(-1);
}
