import { beforeEach, expect, test } from "vitest";
import { Keys } from "../../identity/keys.ts";
import type { View } from "../../membership/view.ts";
import { makeLoadReport } from "../../placement/balanced/load-report.ts";
import { decodePlanChunk, type PlanChunk } from "../../placement/balanced/plan-chunk.ts";
import type { Entry } from "../../store/contract.ts";
import type { Proposal } from "../controller.ts";
import { BalanceController } from "./controller.ts";

const keys = new Keys("f");
const placement = { calmMs: 1_000, roundMs: 500, halfLifeMs: 1, restartQuietMs: 60_000 };

let store: Map<string, Entry>;
let revision: number;
let now: number;
let controller: BalanceController;

beforeEach(() => {
  store = new Map();
  revision = 0;
  now = 0;
  controller = new BalanceController({ service: "s", node: "a" });
});

function put(key: string, value: object): void {
  revision++;
  store.set(key, { key, value: JSON.stringify(value), revision });
}

function view(n: number, nodes: readonly string[], algorithm = "balanced/1", weight = 1): void {
  const value: View = {
    v: 1,
    n,
    algorithm,
    reason: "",
    members: nodes.map((node) => ({ node, zone: "", weight })),
    parameters: { shards: 8, replicas: 1, placement },
  };
  put(keys.view("s"), value);
  for (const node of nodes) if (!store.has(keys.member(node))) member(node, "1");
}

const member = (node: string, boot: string): void =>
  put(keys.member(node), { node, boot, version: "1", capacity: 1 });
const hold = (shard: number, node: string): void => put(keys.tenure(`s/${shard}/0`), { node });
const input = () => ({
  keys,
  now,
  get: (key: string) => store.get(key),
  entries: () => store.values(),
});

/** Lets it look, and commits what it proposes. */
function look(commits = true): readonly Proposal[] {
  const proposals = controller.reconcile(input());
  for (const { commit } of commits ? proposals : []) {
    for (const { key, revision: guarded } of commit.guards)
      expect([key, store.get(key)?.revision ?? 0]).toEqual([key, guarded]);
    for (const write of commit.writes)
      if (write.kind === "put") put(write.key, JSON.parse(write.value) as object);
      else store.delete(write.key);
  }
  return proposals;
}

const chunk = (): PlanChunk => decodePlanChunk(store.get(keys.plan("s", 0))!.value) as PlanChunk;
const targets = (): (string | undefined)[] => chunk().lines.map(({ to }) => to);

test("stores where everything is, guarded on the view, and proposes nothing more while nothing changes", () => {
  view(1, ["a", "b"]);
  for (let shard = 0; shard < 8; shard++) hold(shard, shard < 4 ? "a" : "b");
  const [proposal, ...more] = look();
  expect(more).toEqual([]);
  expect(proposal!.commit.guards.map(({ key }) => key)).toEqual([keys.plan("s", 0), keys.view("s")]);
  expect(targets()).toEqual(["a", "a", "a", "a", "b", "b", "b", "b"]);
  now += 5_000;
  expect(look()).toEqual([]);
});

test("moves for balance only once members have been calm, and says when that will be", () => {
  view(1, ["a", "b"]);
  for (let shard = 0; shard < 8; shard++) hold(shard, "a");
  look();
  expect(targets()).not.toContain("b");
  expect(controller.wakeAt()).toBe(1_000);
  now = 999;
  expect(look()).toEqual([]);
  now = 1_000;
  look();
  expect(targets().filter((node) => node === "b").length).toBeGreaterThanOrEqual(3);
});

test("goes by what nodes report", () => {
  view(1, ["a", "b"]);
  for (let shard = 0; shard < 8; shard++) hold(shard, shard < 4 ? "a" : "b");
  look();
  now = 2_000;
  const heavy = ["0", "1", "2", "3"].map((shard) => [`${shard}/0`, { load: 10 }] as const);
  const light = ["4", "5", "6", "7"].map((shard) => [`${shard}/0`, { load: 1 }] as const);
  put(keys.load("s", "a"), makeLoadReport(heavy, undefined));
  put(keys.load("s", "b"), makeLoadReport(light, undefined));
  look();
  expect(targets().slice(0, 4)).toContain("b");
  expect(controller.last?.input.dimensions).toEqual([{ name: "load", hard: false }]);
});

test("places what a lost or leaving node has at once, and drains one without weight", () => {
  view(1, ["a", "b", "c"]);
  for (let shard = 0; shard < 8; shard++) hold(shard, shard < 4 ? "a" : "c");
  look();
  view(2, ["a", "b"]);
  now += 100;
  look();
  expect(targets()).not.toContain("c");
  expect(targets()).not.toContain(undefined);
});

test("repeats what was refused, and not what was committed", () => {
  view(1, ["a"]);
  expect(look(false)).toHaveLength(1);
  expect(look(false)).toEqual([]);
  controller.refused();
  expect(look()).toHaveLength(1);
});

test("keeps for the next manager which nodes a rolling restart has been through, and prefers them", () => {
  view(1, ["a", "b", "c"]);
  for (let shard = 0; shard < 8; shard++) hold(shard, ["a", "b", "c"][shard % 3]!);
  look();
  // b goes, what it had is planned elsewhere and taken, and it comes back.
  view(2, ["a", "c"]);
  look();
  for (const [shard, node] of targets().entries()) hold(shard, node!);
  member("b", "2");
  view(3, ["a", "b", "c"]);
  look();
  expect(JSON.parse(store.get(keys.restarts("s"))!.value)).toEqual({ v: 1, boots: { b: "2" } });
  const had = targets().flatMap((node, shard) => (node === "c" ? [shard] : []));
  view(4, ["a", "b"]);
  look();
  expect(had.map((shard) => targets()[shard])).toEqual(had.map(() => "b"));
});

test("follows pins", () => {
  view(1, ["a", "b"]);
  for (let shard = 0; shard < 8; shard++) hold(shard, shard < 4 ? "a" : "b");
  put(`${keys.prefix}operator/pin/s/0/0`, { v: 1, node: "b", by: "x", reason: "", since: 0 });
  look();
  expect([targets()[0], chunk().lines[0]!.why]).toEqual(["b", "pinned"]);
});

test("leaves a view of another placement alone, and in shadow only says how it would differ", () => {
  view(1, ["a", "b"], "ring/1");
  for (let shard = 0; shard < 8; shard++) hold(shard, "a");
  expect(look()).toEqual([]);
  const told: number[] = [];
  controller = new BalanceController({
    service: "s",
    node: "a",
    shadow: { placement, differs: (moves) => void told.push(moves) },
  });
  expect(look()).toEqual([]);
  expect(look()).toEqual([]);
  expect(told).toEqual([4]);
});
