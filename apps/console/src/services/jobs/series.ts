/**
 * The queue's history as lines: one value for each step of the time that is shown, also for steps in which nothing happened. The step that is not over is left out: it
 * would always look like a fall.
 */
import type { History, Point } from "./jobs-api.ts";

export interface Series {
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly points: readonly (Point | undefined)[];
}

export function seriesOf({ stepMs, points }: History, nowMs: number, seconds: number): Series {
  const last = (Math.floor(nowMs / stepMs) - 1) * stepMs;
  const steps = Math.floor((seconds * 1_000) / stepMs);
  const byTime = new Map(points.map((point) => [point.atMs, point]));
  const times = Array.from({ length: steps }, (_, n) => last - (steps - 1 - n) * stepMs);
  return { times: times.map((at) => at / 1_000), points: times.map((at) => byTime.get(at)) };
}

/** Jobs a second. */
export function rates(
  { points }: Series,
  stepMs: number,
  name: "succeeded" | "failed" | "running",
): readonly number[] {
  return points.map((point) => ((point?.[name] ?? 0) * 1_000) / stepMs);
}

export function times(
  { points }: Series,
  name: "waitMsP50" | "waitMsP99" | "runMsP50" | "runMsP99",
): readonly (number | null)[] {
  return points.map((point) => point?.[name] ?? null);
}
