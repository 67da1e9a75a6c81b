/** What people read, drawn from data: no fleet is needed to see that it fits and says what matters. */
import type { FleetStatus, NodeStatus, ServiceForecast, ShardExplanation } from "@keelson/runtime";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { findingsText } from "./doctor.ts";
import { eventText } from "./events.ts";
import { explanationText } from "./explain.ts";
import { stateOf } from "./nodes.ts";
import { forecastText } from "./plan.ts";
import { statusText } from "./status.ts";
import { ratesOf, topText } from "./top.ts";

const plain = stripVTControlCharacters;

const status: FleetStatus = {
  fleet: "main",
  at: 100_000,
  store: { live: true, revision: 17, incarnation: "i", keys: 20 },
  era: { era: 1, phase: "open" },
  protocol: 1,
  manager: { node: "c", since: 40_000 },
  members: 3,
  services: [
    {
      service: "counter",
      placement: "ring/1",
      view: 3,
      members: 3,
      shards: 12,
      replicas: 1,
      wanted: 12,
      held: 11,
      misplaced: 2,
      contenders: 1,
      troubled: 1,
      quarantined: 1,
    },
  ],
  drains: [{ node: "b", by: "ann", reason: "new disk", since: 90_000, held: 4 }],
  pins: [],
};

function node(name: string, requests: number, uptimeMs: number): NodeStatus {
  return {
    node: name,
    address: "127.0.0.1:1",
    zone: "",
    version: "0.1.0",
    protocol: { min: 1, max: 1 },
    capacity: 1,
    startedAt: 0,
    manager: false,
    drained: false,
    member: true,
    held: 4,
    contending: 0,
    services: {},
    report: {
      node: name,
      pid: 1,
      uptimeMs,
      cpuMs: uptimeMs / 4,
      rssBytes: 2 ** 26,
      inflight: 2,
      requests,
      refused: 0,
      phases: {},
      at: 0,
    },
  };
}

test("status says what is missing, and what operators wished", () => {
  const lines = plain(statusText(status)).split("\n");
  expect(lines[0]).toBe("fleet main   3 members   manager c (1m)   era 1   store revision 17");
  expect(lines[3]).toMatch(/^counter +ring\/1 +3 +3 +12 +11\/12 +2 +1 \(1 quarantined\)$/);
  expect(lines.at(-1)).toBe("drained: b, by ann 10s ago (new disk); holds 4");
});

test("status says when it is old", () => {
  expect(plain(statusText({ ...status, store: { ...status.store, live: false } }))).toContain(
    "the store does not answer: this is what was last known",
  );
});

test("top shows what happened per second of each node's own clock", () => {
  const [rates] = ratesOf([node("a", 100, 1_000)], [node("a", 600, 3_000)]);
  expect(rates).toMatchObject({ perSecond: 250, refusedPerSecond: 0, cpu: 0.25, inflight: 2 });
  expect(plain(topText(status, [rates!], 80))).toMatch(/a +up +4 +0 +250 +0 +2 +25 % +64 MiB/);
  expect(ratesOf([], [node("a", 600, 3_000)])[0]?.perSecond).toBeUndefined();
});

test("a node's state is what an operator must know first", () => {
  const one = node("a", 0, 0);
  expect(stateOf({ ...one, member: false })).toBe("leaving or lost");
  expect(stateOf({ ...one, report: "refused" })).toBe("silent");
  expect([stateOf({ ...one, drained: true }), stateOf({ ...one, drained: true, held: 0 })]).toEqual([
    "draining",
    "drained",
  ]);
});

test("an explanation says who, since when, why, who is next, and what to do about a quarantine", () => {
  const explanation: ShardExplanation = {
    service: "code",
    shard: "a b",
    placement: "balanced/1",
    view: 4,
    replicas: [
      {
        replica: 0,
        holder: {
          node: "a",
          address: "h:1",
          epoch: { era: 1, revision: 9 },
          since: 40_000,
          how: "hand-over",
          reason: "b is leaving",
          from: "b",
        },
        contenders: [{ node: "c", phase: "preparing", progress: 0.4 }],
        candidates: ["c", "a"],
        planReason: "peak",
        decisions: [{ at: 0, node: "a", kind: "live", reason: "activated" }],
      },
    ],
    trouble: { strikes: 5, quarantined: true, text: "5 strikes" },
  };
  const text = plain(explanationText(explanation, 100_000));
  expect(text).toContain("code/a%20b, placed by balanced/1 in view 4");
  expect(text).toContain("held by a at h:1 for 1m (since ");
  expect(text).toContain("why       hand-over from b: b is leaving");
  expect(text).toContain("next      c is preparing, 40 %");
  expect(text).toContain("mend that, then: keelson retry code/a%20b");
  const nobody = { ...explanation, replicas: [{ ...explanation.replicas[0]!, holder: undefined }] };
  expect(plain(explanationText(nobody as never, 0))).toContain("held by nobody");
});

test("a forecast counts all moves and lists some", () => {
  const forecast: ServiceForecast = {
    service: "counter",
    placement: "ring/1",
    view: 3,
    replicas: 12,
    moves: Array.from({ length: 5 }, (_, n) => ({
      replica: `counter/${n}/0`,
      from: "b",
      to: "a",
      reason: "ring",
    })),
    movesTotal: 5,
    nodes: [
      { node: "a", before: 4, after: 9 },
      { node: "b", before: 5, after: 0 },
    ],
  };
  const text = plain(forecastText(forecast, 2));
  expect(text).toContain("5 of 12 replicas move (41.7 %)");
  expect(text).toMatch(/b +5 +0 +-5/);
  expect(text).toContain("… and 3 more: --all lists them");
});

test("findings and events are a line each, and advice stands below its finding", () => {
  const text = plain(
    findingsText([
      { level: "ok", check: "store", says: "it answers" },
      { level: "error", check: "shards", says: "s/1/0 is held by nobody", advice: "start a node" },
    ]),
  );
  expect(text.split("\n")).toEqual([
    "ok    store    it answers",
    "WRONG shards   s/1/0 is held by nobody",
    `${" ".repeat(15)}→ start a node`,
  ]);
  expect(plain(eventText({ seq: 1, at: 0, kind: "joined", text: "a joined" }))).toMatch(
    /^\d\d:\d\d:\d\d joined +a joined$/,
  );
});
