/** Cron as the engine wants it: expressions as text, parsed once and remembered. */
import type { CronAlgorithm } from "../engine/model/ports.ts";
import { parseCron, type CronExpression } from "./expression.ts";
import { nextRun } from "./next-run.ts";
import { timeZoneProblem } from "./time-zone.ts";

const PARSED_MAX = 10_000;
const parsed = new Map<string, CronExpression>();

export const cronAlgorithm: CronAlgorithm = {
  problem(cron, timeZone) {
    const result = parseCron(cron);
    return "problem" in result ? result.problem : timeZoneProblem(timeZone);
  },
  next(cron, timeZone, afterMs) {
    const expression = expressionOf(cron);
    return expression === undefined ? undefined : nextRun(expression, timeZone, afterMs);
  },
};

function expressionOf(cron: string): CronExpression | undefined {
  const known = parsed.get(cron);
  if (known !== undefined) return known;
  const result = parseCron(cron);
  if ("problem" in result) return undefined;
  if (parsed.size >= PARSED_MAX) parsed.clear();
  parsed.set(cron, result.cron);
  return result.cron;
}
