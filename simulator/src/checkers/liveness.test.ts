import { describe, expect, it } from "vitest";
import type { FaultKind } from "../faults/fault.ts";
import { ConvergedChecker } from "./converged.ts";
import { R0, R1, Stage } from "./stage.ts";
import { HeldAgainChecker } from "./held-again.ts";
import { MovesChecker } from "./moves.ts";
import { PlannedChecker } from "./planned.ts";
import { ViewsChecker } from "./views.ts";

/** Three members, an open era, both replicas held by the first candidates of their plan. */
function wellStage(): { stage: Stage; holderOf: (replica: string) => string } {
  const stage = new Stage();
  stage.watch(new HeldAgainChecker(stage.scene));
  stage.era("open");
  for (const node of stage.nodes) stage.member(node.name);
  stage.view(1, "a", "b", "c");
  const holderOf = (replica: string): string => {
    const view = stage.ledger.views.get("kv")!.value;
    return stage.scene.service.placement.plan(view).lines.get(replica)!.candidates[0]!;
  };
  for (const replica of [R0, R1]) {
    stage.tenure(replica, holderOf(replica));
    stage.node(holderOf(replica)).passes.add(replica);
  }
  return { stage, holderOf };
}

function seconds(stage: Stage, count: number): void {
  for (let i = 0; i < count; i++) {
    stage.nowMs += 1_000;
    stage.tell({ kind: "second" });
  }
}

function fault(stage: Stage, edge: "begin" | "end", kind: FaultKind, node: string | undefined): void {
  stage.tell({ kind: "fault", edge, fault: { id: 1, kind, node, detail: "" } });
}

describe("held-again", () => {
  it("is content while everything is held, and with a replica that is held again within TTL and a second", () => {
    const { stage, holderOf } = wellStage();
    seconds(stage, 30);
    const holder = stage.node(holderOf(R0));
    holder.passes.delete(R0);
    seconds(stage, 10);
    holder.passes.add(R0);
    seconds(stage, 30);
    expect(stage.reports).toEqual([]);
  });

  it("sees a replica that nobody serves for longer, once", () => {
    const { stage, holderOf } = wellStage();
    seconds(stage, 5);
    stage.node(holderOf(R0)).passes.delete(R0);
    seconds(stage, 60);
    expect(stage.reports).toHaveLength(1);
    expect(stage.reports[0]).toContain("kv/0/0: nobody has served it for 12000 ms");
  });

  it("counts anew from a fault on the node that has the tenure, and not from one on another", () => {
    const { stage, holderOf } = wellStage();
    const [holder, other] = [
      holderOf(R0),
      stage.nodes.find((node) => node.name !== holderOf(R0) && node.name !== holderOf(R1))!.name,
    ];
    seconds(stage, 5);
    stage.node(holder).passes.delete(R0);
    seconds(stage, 9);
    fault(stage, "begin", "partition", holder);
    seconds(stage, 9);
    expect(stage.reports).toEqual([]);
    fault(stage, "begin", "partition", other);
    seconds(stage, 9);
    expect(stage.reports).toHaveLength(1);
  });

  it("expects nothing while a hindrance lasts, while the era is closed and without healthy members", () => {
    const { stage, holderOf } = wellStage();
    seconds(stage, 5);
    stage.node(holderOf(R0)).passes.delete(R0);
    fault(stage, "begin", "deaf", holderOf(R0));
    seconds(stage, 60);
    fault(stage, "end", "deaf", holderOf(R0));
    seconds(stage, 9);
    stage.era("closed");
    seconds(stage, 60);
    stage.era("open");
    seconds(stage, 9);
    for (const node of stage.nodes) node.up = false;
    seconds(stage, 60);
    expect(stage.reports).toEqual([]);
    for (const node of stage.nodes) node.up = true;
    seconds(stage, 60);
    expect(stage.reports.some((report) => report.startsWith("kv/0/0"))).toBe(true);
  });
});

describe("views", () => {
  it("sees a view that removes a member whose key stands", () => {
    const stage = new Stage();
    stage.watch(new ViewsChecker(stage.scene));
    for (const node of ["a", "b"]) stage.member(node);
    stage.view(1, "a", "b");
    stage.remove(stage.keys.member("a"));
    stage.view(2, "b");
    expect(stage.reports).toEqual([]);
    stage.view(3);
    expect(stage.reports).toHaveLength(1);
    expect(stage.reports[0]).toContain("b: view 3 removes it");
  });

  it("sees more views than changes of membership", () => {
    const stage = new Stage();
    stage.watch(new ViewsChecker(stage.scene));
    stage.member("a");
    for (let n = 1; n <= 2; n++) stage.view(n, "a");
    expect(stage.reports).toEqual([]);
    stage.view(3, "a");
    expect(stage.reports).toEqual(["kv: 3 views for 2 changes of membership"]);
  });
});

describe("moves", () => {
  it("sees tenures that go back and forth for no reason", () => {
    const stage = new Stage();
    stage.watch(new MovesChecker(stage.scene));
    stage.view(1, "a", "b");
    stage.tenure(R0, "a");
    stage.tenure(R0, "b", "hand-over", "a");
    stage.tell({ kind: "settled" });
    expect(stage.reports).toEqual([]);
    for (let i = 0; i < 4; i++) stage.tenure(R0, i % 2 === 0 ? "a" : "b", "hand-over");
    stage.tell({ kind: "settled" });
    expect(stage.reports).toHaveLength(1);
  });

  it("lets a loss pay for the takeover and for the way back", () => {
    const stage = new Stage();
    stage.watch(new MovesChecker(stage.scene));
    stage.view(1, "a", "b");
    for (let i = 0; i < 10; i++) {
      stage.tenure(R0, "a");
      stage.remove(stage.keys.tenure(R0));
      stage.tenure(R0, "b");
    }
    stage.tell({ kind: "settled" });
    expect(stage.reports).toEqual([]);
  });
});

describe("converged", () => {
  it("sees a replica away from its place, one that nobody holds, and a node outside the view", () => {
    const { stage, holderOf } = wellStage();
    stage.watch(new ConvergedChecker(stage.scene));
    stage.tell({ kind: "settled" });
    expect(stage.reports).toEqual([]);
    const away = stage.nodes.find((node) => node.name !== holderOf(R0))!;
    stage.node(holderOf(R0)).passes.delete(R0);
    away.passes.add(R0);
    stage.node(holderOf(R1)).passes.delete(R1);
    stage.tell({ kind: "settled" });
    expect(stage.reports).toHaveLength(2);
    stage.reports.length = 0;
    stage.view(2, "a", "b");
    stage.tell({ kind: "settled" });
    expect(stage.reports[0]).toBe("c: it runs, and view 2 does not have it");
  });
});

describe("planned", () => {
  it("sees any failed request and any end of a process that was not planned", () => {
    const stage = new Stage();
    stage.watch(new PlannedChecker(stage.scene));
    stage.tell({ kind: "node", node: "a", how: "left" });
    expect(stage.reports).toEqual([]);
    stage.tell({ kind: "node", node: "a", how: "crash" });
    stage.tell({ kind: "request-failed", client: "c1", shard: "kv/0", mode: "write", reason: "TIMEOUT" });
    expect(stage.reports).toHaveLength(2);
  });
});
