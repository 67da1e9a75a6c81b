import pc from "picocolors";
import { expect, test } from "vitest";
import { draw } from "./picture.ts";
import type { Snapshot } from "./snapshot.ts";

const colors = pc.createColors(false);

const snapshot: Snapshot = {
  elapsedMs: 4_600,
  act: "b is killed",
  rows: [
    { name: "a", state: "up", cells: ["live", "none", "opening", "draining"], perSecond: 31.2 },
    { name: "b", state: "killed", cells: ["none", "named", "none", "none"], perSecond: 0 },
  ],
  unserved: [false, true, true, false],
  ok: 406,
  failed: 3,
  waiting: 35,
  perSecond: 76,
  perSecondWanted: 100,
  history: [
    { ok: 25, failed: 0 },
    { ok: 100, failed: 0 },
    { ok: 12, failed: 0 },
    { ok: 0, failed: 1 },
    { ok: 0, failed: 0 },
  ],
  events: [
    { atMs: 0, text: "first", tone: "plain" },
    { atMs: 4_000, text: "last", tone: "bad" },
  ],
};

test("shows a row per node with a square per shard, the requests and the events", () => {
  expect(draw(snapshot, { columns: 80, rows: 24, colors })).toEqual([
    "",
    "  keelson demo   4.6 s  b is killed",
    "",
    "              0",
    "  a up        ■·▫▪    1 shards   31/s",
    "  b killed    ·□·· ",
    "  nobody      ·□□·    2 unserved",
    "              ■ serves  ▪ hands over  ▫ opens  □ nobody serves",
    "",
    "  requests    76/s   answered 406   waiting 35   failed 3",
    "  250 ms each ██▄▁ ",
    "",
    "   0.0 s  first",
    "   4.0 s  last",
  ]);
});

test("keeps to the terminal's height by leaving out the oldest events, and to its width by the oldest bars", () => {
  const events = Array.from({ length: 50 }, (_, n) => ({
    atMs: n,
    text: `event ${n}`,
    tone: "plain" as const,
  }));
  const history = Array.from({ length: 200 }, () => ({ ok: 25, failed: 0 }));
  const lines = draw({ ...snapshot, events, history }, { columns: 50, rows: 20, colors });
  expect(lines).toHaveLength(20);
  expect(lines.at(-1)).toContain("event 49");
  expect(lines.find((line) => line.includes("250 ms"))).toHaveLength(50);
});
