import pc from "picocolors";
import { expect, test } from "vitest";
import type { Act, Report } from "./script.ts";
import { summarise } from "./summary.ts";

const colors = pc.createColors(false);
const quiet: Act = { node: "c", shards: 9, tookMs: 47, failed: 0, why: undefined };
const good: Report = {
  kill: { node: "b", shards: 12, tookMs: 2_400, failed: 31, why: "no holder" },
  rejoin: { ...quiet, node: "b" },
  drain: quiet,
  unheld: [],
  lost: 0,
  added: 333,
};

function verdict(change: Partial<Report>): { kept: boolean; text: string } {
  const { kept, lines } = summarise({ ...good, ...change }, 2_000, colors);
  return { kept, text: lines.join("\n") };
}

test("failures while nobody could serve are told, and break no promise", () => {
  expect(verdict({})).toEqual({
    kept: true,
    text: [
      "  ok  b was killed: its 12 shards were held again after 2.4 s (TTL 2.0 s); 31 requests failed meanwhile",
      "  ok  b came back: it was handed 9 shards; no request failed",
      "  ok  c was drained: it handed over 9 shards in 47 ms; no request failed",
      "  ok  every shard is held by exactly one node",
      "  ok  all 333 acknowledged additions are in the counters",
    ].join("\n"),
  });
});

test.each<[string, Partial<Report>, string]>([
  [
    "a request that failed during a drain",
    { drain: { ...quiet, failed: 1, why: "cut off" } },
    "NO  c was drained: it handed over 9 shards in 47 ms; 1 request failed, the first: cut off",
  ],
  [
    "a request that failed while a node came back",
    { rejoin: { ...quiet, failed: 2, why: "late" } },
    "2 requests failed, the first: late",
  ],
  ["a shard that nobody holds", { unheld: ["3", "7"] }, "NO  not held by exactly one node: 3 7"],
  ["an addition that is gone", { lost: 1 }, "NO  1 of 333 acknowledged additions are LOST"],
])("%s breaks a promise", (_, change, text) => {
  expect(verdict(change)).toEqual({ kept: false, text: expect.stringContaining(text) as string });
});
