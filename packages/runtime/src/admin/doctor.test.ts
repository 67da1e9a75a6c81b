import { expect, test } from "vitest";
import type { FleetStatus, NodeStatus, ReplicaStatus } from "./contract.ts";
import { diagnose, type Gathered } from "./doctor.ts";

const status: FleetStatus = {
  fleet: "main",
  at: 0,
  store: { live: true, revision: 9, incarnation: "i", keys: 30 },
  era: { era: 1, phase: "open" },
  protocol: 1,
  manager: { node: "a", since: 0 },
  members: 1,
  services: [],
  drains: [],
  pins: [],
};
const node: NodeStatus = {
  node: "a",
  address: "127.0.0.1:1",
  zone: "",
  version: "1.0.0",
  protocol: { min: 1, max: 1 },
  capacity: 1,
  startedAt: 0,
  manager: true,
  drained: false,
  member: true,
  held: 3,
  contending: 0,
  services: {},
  report: {
    node: "a",
    pid: 1,
    uptimeMs: 1,
    cpuMs: 1,
    rssBytes: 1,
    inflight: 0,
    requests: 0,
    refused: 0,
    phases: {},
    at: 0,
  },
};
const healthy: Gathered = {
  status,
  nodes: [node],
  stuck: [],
  quarantined: [],
  storeMs: 2,
  clockMs: 5,
  askedAt: 0,
};
const replica: ReplicaStatus = {
  service: "code",
  shard: "a b",
  replica: 0,
  state: "unheld",
  node: undefined,
  epoch: undefined,
  since: undefined,
  target: "a",
  contenders: [],
  strikes: 0,
};

test("a healthy fleet has nothing but good findings", () => {
  expect(diagnose(healthy).filter(({ level }) => level !== "ok")).toEqual([]);
});

test.each<[string, Partial<Gathered>, string, RegExp]>([
  ["a store that is away", { storeMs: "refused" }, "error", /does not answer: refused/],
  ["a slow store", { storeMs: 900 }, "warning", /took 900 ms/],
  [
    "a copy that is old",
    { status: { ...status, store: { ...status.store, live: false } } },
    "warning",
    /may be old/,
  ],
  ["clocks that differ", { clockMs: 9_000 }, "warning", /the store's by 9.0 s/],
  ["a node's clock", { askedAt: 60_000 }, "warning", /a's by -60.0 s/],
  ["no era", { status: { ...status, era: undefined } }, "error", /no node has ever joined/],
  ["a closed era", { status: { ...status, era: { era: 2, phase: "closed" } } }, "warning", /era 2 is closed/],
  ["no manager", { status: { ...status, manager: undefined } }, "warning", /no manager/],
  [
    "two versions",
    { nodes: [node, { ...node, node: "b", version: "2.0.0" }] },
    "warning",
    /1.0.0 \(a\), 2.0.0 \(b\)/,
  ],
  ["no members", { status: { ...status, members: 0 }, nodes: [] }, "error", /no members/],
  ["a silent node", { nodes: [{ ...node, report: "refused" }] }, "error", /a at 127.0.0.1:1 \(refused\)/],
  ["a lost holder", { nodes: [node, { ...node, node: "b", member: false }] }, "warning", /b \(3\)/],
  ["no capacity", { nodes: [{ ...node, capacity: 0 }] }, "warning", /have no capacity: a/],
  ["an unheld shard", { stuck: [replica] }, "error", /held by nobody: code\/a%20b\/0/],
  ["a quarantined shard", { quarantined: [{ ...replica, state: "quarantined" }] }, "error", /quarantined/],
  ["a move that does not end", { stuck: [{ ...replica, state: "moving" }] }, "warning", /on the move/],
  [
    "a pin that is not kept",
    {
      status: {
        ...status,
        pins: [
          {
            service: "s",
            shard: "1",
            replica: 0,
            node: "b",
            once: false,
            by: "x",
            reason: "",
            since: 0,
            kept: false,
          },
        ],
      },
    },
    "warning",
    /pinned to b, which does not have it/,
  ],
])("%s is found, with what to do", (_, change, level, says) => {
  const found = diagnose({ ...healthy, ...change }).filter((finding) => finding.level !== "ok");
  expect(found).toMatchObject([{ level }]);
  expect(found[0]?.says).toMatch(says);
  expect(found[0]?.advice).toMatch(/\w/);
});

test("a long list is cut, and says how many there are more", () => {
  const stuck = Array.from({ length: 9 }, (_, n) => ({ ...replica, shard: String(n) }));
  const [finding] = diagnose({ ...healthy, stuck }).filter(({ level }) => level === "error");
  expect(finding?.says).toMatch(/code\/4\/0 and 4 more$/);
});
