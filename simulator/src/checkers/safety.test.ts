import { describe, expect, it } from "vitest";
import { AnswerEpochChecker } from "./answer-epoch.ts";
import { EpochsRiseChecker } from "./epochs-rise.ts";
import { R0, SERVICE, Stage, epoch } from "./stage.ts";
import { LostUpdateChecker } from "./lost-update.ts";
import { OverlapChecker } from "./overlap.ts";
import { StaleEpochChecker } from "./stale-epoch.ts";
import { StaleReadChecker } from "./stale-read.ts";

const shard = `${SERVICE}/0`;

function answered(
  mode: "read" | "write",
  value: number,
  rest: { floor?: number; revision?: number; sentAtMs?: number } = {},
) {
  const { floor = 0, revision = 1, sentAtMs = 0 } = rest;
  return {
    kind: "answered",
    client: "c1",
    shard,
    replica: R0,
    mode,
    epoch: epoch(revision),
    value,
    floor,
    sentAtMs,
  } as const;
}

describe("overlap", () => {
  it("is seen when a replica becomes live while another node's check passes", () => {
    const stage = new Stage();
    stage.watch(new OverlapChecker(stage.scene));
    stage.node("a").passes.add(R0);
    stage.decide("a", "live", R0, epoch(1));
    expect(stage.reports).toEqual([]);
    stage.node("b").passes.add(R0);
    stage.decide("b", "live", R0, epoch(2));
    expect(stage.reports).toEqual(["kv/0/0: a and b both admit it"]);
  });

  it("is seen at an admission, after a renewal and on resume, also when the other process is paused", () => {
    for (const event of [
      { kind: "admitted", node: "a", replica: R0, shard, epoch: epoch(1), mode: "read" },
      { kind: "regained", node: "a" },
    ] as const) {
      const stage = new Stage();
      stage.watch(new OverlapChecker(stage.scene));
      stage.node("a").passes.add(R0);
      stage.node("c").passes.add(R0);
      stage.node("c").paused = true;
      stage.tell(event);
      expect(stage.reports).toEqual(["kv/0/0: a and c both admit it (the second is paused)"]);
    }
  });

  it("is not seen on a process that is gone, and once only while it lasts", () => {
    const stage = new Stage();
    stage.watch(new OverlapChecker(stage.scene));
    for (const node of stage.nodes) node.passes.add(R0);
    stage.node("b").up = false;
    stage.node("c").up = false;
    stage.tell({ kind: "regained", node: "a" });
    expect(stage.reports).toEqual([]);
    stage.node("b").up = true;
    for (let i = 0; i < 5; i++) stage.tell({ kind: "regained", node: "a" });
    expect(stage.reports).toHaveLength(1);
  });

  it("is seen between two nodes that admit a shard's writes", () => {
    const stage = new Stage(true);
    stage.watch(new OverlapChecker(stage.scene));
    stage.node("a").writes.add(shard);
    stage.node("b").writes.add(shard);
    stage.tell({ kind: "admitted", node: "a", replica: R0, shard, epoch: epoch(1), mode: "write" });
    expect(stage.reports).toEqual(["kv/0: a and b both admit writes of it"]);
  });

  it("is nobody's fault between a silent loss of writes and the next era", () => {
    const stage = new Stage();
    stage.watch(new OverlapChecker(stage.scene));
    stage.node("a").passes.add(R0);
    stage.node("b").passes.add(R0);
    const snapshot = { incarnation: "i1", revision: 0, sessionsOpened: 0, entries: [], sessions: [] };
    stage.tell({ kind: "store-recovered", recovery: { kind: "lost-silently", snapshot } });
    stage.tell({ kind: "regained", node: "a" });
    expect(stage.reports).toEqual([]);
    stage.era("open");
    stage.tell({ kind: "regained", node: "a" });
    expect(stage.reports).toHaveLength(1);
  });
});

describe("stale-epoch", () => {
  it("is seen when a resource accepts a write below an epoch it has seen", () => {
    const stage = new Stage();
    stage.watch(new StaleEpochChecker(stage.scene));
    const resource = stage.resources.get(R0);
    resource.raise(epoch(5));
    resource.write(epoch(5), 1);
    resource.write(epoch(6), 2);
    expect(stage.reports).toEqual([]);
    resource.write(epoch(5), 3);
    resource.write(epoch(1, 2), 4);
    resource.write(epoch(900), 5);
    expect(stage.reports).toHaveLength(2);
  });
});

describe("lost-update", () => {
  it("is seen when a writer did not know of the write before it", () => {
    const stage = new Stage();
    stage.watch(new LostUpdateChecker(stage.scene));
    const resource = stage.resources.get(R0);
    resource.write(epoch(1), 1);
    resource.write(epoch(1), 2);
    expect(stage.reports).toEqual([]);
    resource.write(epoch(2), 2);
    expect(stage.reports).toHaveLength(1);
  });

  it("is seen when a client was told of a write that is not in the resource, or not under that epoch", () => {
    const stage = new Stage();
    stage.watch(new LostUpdateChecker(stage.scene));
    stage.resources.get(R0).write(epoch(1), 1);
    stage.tell(answered("write", 1));
    expect(stage.reports).toEqual([]);
    stage.tell(answered("write", 2));
    stage.tell(answered("write", 1, { revision: 7 }));
    expect(stage.reports).toHaveLength(2);
  });
});

describe("stale-read", () => {
  it("is seen when a read gives less than was acknowledged before it was sent", () => {
    const stage = new Stage();
    stage.watch(new StaleReadChecker(stage.scene));
    stage.tell(answered("read", 4, { floor: 4 }));
    expect(stage.reports).toEqual([]);
    stage.tell(answered("read", 3, { floor: 4 }));
    expect(stage.reports).toHaveLength(1);
  });
});

describe("answer-epoch", () => {
  it("is seen when an answer is from a lower epoch than the client knew when it asked, and not when both were under way", () => {
    const stage = new Stage();
    stage.watch(new AnswerEpochChecker(stage.scene));
    stage.nowMs = 10;
    stage.tell(answered("read", 1, { revision: 5 }));
    stage.nowMs = 20;
    stage.tell(answered("read", 1, { revision: 4, sentAtMs: 9 }));
    expect(stage.reports).toEqual([]);
    stage.tell(answered("read", 1, { revision: 4, sentAtMs: 11 }));
    expect(stage.reports).toHaveLength(1);
  });
});

describe("epochs-rise", () => {
  it("sees a live epoch that is not above the last one, also when only the era fell", () => {
    const stage = new Stage();
    stage.watch(new EpochsRiseChecker(stage.scene));
    const live = (node: string, revision: number, era?: number): void => {
      for (const each of stage.nodes) each.passes.clear();
      stage.node(node).passes.add(R0);
      stage.decide(node, "live", R0, epoch(revision, era));
    };
    live("a", 374, 5);
    live("b", 10, 6);
    expect(stage.reports).toEqual([]);
    live("c", 400, 5);
    live("a", 10, 6);
    expect(stage.reports).toHaveLength(2);
  });

  it("does not mind a late activation that never admits", () => {
    const stage = new Stage();
    stage.watch(new EpochsRiseChecker(stage.scene));
    stage.node("b").passes.add(R0);
    stage.decide("b", "live", R0, epoch(9));
    stage.decide("a", "live", R0, epoch(5));
    expect(stage.reports).toEqual([]);
  });

  it("sees an epoch activated twice in one process, and not in two", () => {
    const stage = new Stage();
    stage.watch(new EpochsRiseChecker(stage.scene));
    const activated = (life: number): void =>
      stage.tell({ kind: "activated", node: "a", life, replica: R0, shard, epoch: epoch(3) });
    activated(1);
    activated(2);
    expect(stage.reports).toEqual([]);
    activated(2);
    expect(stage.reports).toHaveLength(1);
  });
});
