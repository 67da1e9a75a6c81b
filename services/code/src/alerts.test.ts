/** The shipped alert rules, judged by Prometheus' own tool: each fires on the trouble it is for, and stays silent on a fleet that is well. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureServers, requireProgram } from "@keelson/testkit/servers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CODE_ALERTS } from "./metrics.ts";

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "keelson-alerts-"));
  await ensureServers(["promtool"]);
  const rules = CODE_ALERTS.map(({ name, expr, for: during, severity, summary }) => ({
    alert: name,
    expr,
    for: during,
    labels: { severity },
    annotations: { summary },
  }));
  writeFileSync(join(folder, "rules.yml"), JSON.stringify({ groups: [{ name: "code", rules }] }));
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Series by name, as Prometheus' tests write them: `0+1x30` rises by one a minute. */
const well: Readonly<Record<string, string>> = {
  configured_max_bids: "8x30",
  live_bidders: "8x30",
  auctions_started: "0+2x30",
  auctions_short_circuited: "0+2x30",
  auctions_no_winner: "0x30",
  code_repositories_demanded: "0x30",
  code_reindex_objective_ms: "300000x30",
  'code_index_lag_ms{repository="a"}': "0x30",
  // What each look takes.
  'code_index_lag_ms{repository="b"}': "40 0 0 900 0 200000 0 0x23",
  'code_reindex_ms_bucket{le="60000"}': "0+5x30",
  'code_reindex_ms_bucket{le="1800000"}': "0+5x30",
  'code_reindex_ms_bucket{le="+Inf"}': "0+5x30",
};

/** The trouble, the alert that fires, series that show it, and whom the alert names. */
type Case = [string, string | undefined, Readonly<Record<string, string>>, Readonly<Record<string, string>>?];

test.each<Case>([
  ["a fleet that is well", undefined, {}],
  ["live bidders counted", undefined, { configured_max_bids: "0x30" }],
  ["a number of bids that is too high", "CodeMaxBidsDiverge", { live_bidders: "4x30" }],
  [
    "a number of bids that is far too low",
    "CodeMaxBidsDiverge",
    { configured_max_bids: "3x30", auctions_short_circuited: "0x30" },
  ],
  [
    "auctions that close before all have answered",
    "CodeAuctionsShortCircuitedUnexpectedly",
    { configured_max_bids: "6x30" },
  ],
  [
    "repositories that fit nowhere",
    "CodeAuctionsEmpty",
    { auctions_no_winner: "0+1x30", code_repositories_demanded: "2x30" },
  ],
  [
    "new commits that take too long",
    "CodeReindexObjectiveMissed",
    { 'code_reindex_ms_bucket{le="60000"}': "0x30" },
  ],
  [
    "an update that hangs or fails, or an index that is not there again",
    "CodeIndexOutdated",
    { 'code_index_lag_ms{repository="b"}': "0x10 0+60000x20" },
    { repository: "b" },
  ],
  [
    "one that is slow, and done in time",
    undefined,
    { 'code_index_lag_ms{repository="b"}': "0x20 0+60000x4" },
  ],
])("%s", (_, fires, trouble, named) => {
  // A rule that is not there would not fire either.
  expect([undefined, ...CODE_ALERTS.map(({ name }) => name)]).toContain(fires);
  const series = { ...well, ...trouble };
  const tests = {
    rule_files: [join(folder, "rules.yml")],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: CODE_ALERTS.map(({ name, severity, summary }) => ({
          eval_time: "25m",
          alertname: name,
          exp_alerts:
            name === fires ? [{ exp_labels: { severity, ...named }, exp_annotations: { summary } }] : [],
        })),
      },
    ],
  };
  const file = join(folder, "test.yml");
  writeFileSync(file, JSON.stringify(tests));
  const promtool = requireProgram("promtool", "promtool");
  expect(execFileSync(promtool, ["test", "rules", file], { encoding: "utf8" })).toContain("SUCCESS");
});
