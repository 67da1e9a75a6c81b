/** What the demo has shown, in a few lines, and whether that is what Keelson promises. */
import type { Colors } from "../report/colors.ts";
import { formatDuration } from "../config/duration.ts";
import { seconds, type Act, type Report } from "./script.ts";

export interface Verdict {
  readonly lines: readonly string[];
  /** Every promise was kept. */
  readonly kept: boolean;
}

export function summarise(report: Report, ttlMs: number, colors: Colors): Verdict {
  const { kill, rejoin, drain, unheld, lost, added } = report;
  const checks = [
    {
      good: true,
      text: `${kill.node} was killed: its ${kill.shards} shards were held again after ${seconds(kill.tookMs)} (TTL ${seconds(ttlMs)}); ${failures(kill)} meanwhile`,
    },
    planned(`${rejoin.node} came back: it was handed ${rejoin.shards} shards`, rejoin),
    planned(
      `${drain.node} was drained: it handed over ${drain.shards} shards in ${formatDuration(drain.tookMs)}`,
      drain,
    ),
    {
      good: unheld.length === 0,
      text:
        unheld.length === 0
          ? "every shard is held by exactly one node"
          : `not held by exactly one node: ${unheld.join(" ")}`,
    },
    {
      good: lost === 0,
      text:
        lost === 0
          ? `all ${added} acknowledged additions are in the counters`
          : `${lost} of ${added} acknowledged additions are LOST`,
    },
  ];
  const kept = checks.every(({ good }) => good);
  const lines = checks.map(({ good, text }) => `  ${good ? colors.green("ok") : colors.red("NO")}  ${text}`);
  return { lines, kept };
}

/** A planned move fails no request. */
function planned(text: string, act: Act): { good: boolean; text: string } {
  const why = act.why === undefined ? "" : `, the first: ${act.why}`;
  return { good: act.failed === 0, text: `${text}; ${failures(act)}${why}` };
}

function failures({ failed }: Act): string {
  return failed === 0 ? "no request failed" : failed === 1 ? "1 request failed" : `${failed} requests failed`;
}
