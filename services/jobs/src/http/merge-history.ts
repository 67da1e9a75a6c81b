/** The histories of many shards as one, in longer steps when that is asked for. Steps in which nothing happened are left out. */
import { quantile, type HistoryStep } from "../shard/history.ts";

export interface HistoryPoint {
  readonly atMs: number;
  readonly scheduled: number;
  readonly running: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly waitMsP50?: number;
  readonly waitMsP99?: number;
  readonly runMsP50?: number;
  readonly runMsP99?: number;
}

export function mergeHistory(
  steps: readonly HistoryStep[],
  stepMs: number,
  group: string | undefined,
): HistoryPoint[] {
  const sums = new Map<number, { changes: number[]; waited: number[]; ran: number[] }>();
  for (const step of steps) {
    const atMs = Math.floor(step.atMs / stepMs) * stepMs;
    const sum = sums.get(atMs) ?? { changes: [0, 0, 0, 0, 0], waited: [], ran: [] };
    sums.set(atMs, sum);
    add(sum.changes, (group === undefined ? step.changes : step.groups[group]) ?? []);
    add(sum.waited, step.waited);
    add(sum.ran, step.ran);
  }
  return [...sums]
    .sort(([a], [b]) => a - b)
    .map(([atMs, { changes, waited, ran }]) => {
      const [scheduled = 0, running = 0, succeeded = 0, failed = 0, cancelled = 0] = changes;
      return {
        atMs,
        scheduled,
        running,
        succeeded,
        failed,
        cancelled,
        ...times("waitMs", waited),
        ...times("runMs", ran),
      };
    });
}

function times(name: "waitMs" | "runMs", counts: readonly number[]): Partial<HistoryPoint> {
  const [p50, p99] = [quantile(counts, 0.5), quantile(counts, 0.99)];
  return p50 === undefined || p99 === undefined ? {} : { [`${name}P50`]: p50, [`${name}P99`]: p99 };
}

function add(sum: number[], more: readonly number[]): void {
  for (const [at, each] of more.entries()) sum[at] = (sum[at] ?? 0) + each;
}
