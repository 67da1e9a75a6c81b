import { describe, expect, it } from "vitest";
import { DrainedChecker } from "./drained.ts";
import { R0, SERVICE, Stage, epoch } from "./stage.ts";
import { IncarnationChecker } from "./incarnation.ts";
import { LeavingChecker } from "./leaving.ts";
import { PrimariesChecker } from "./primaries.ts";
import { SuccessionChecker } from "./succession.ts";

describe("succession", () => {
  it("lets a tenure begin by a grant and go on by its holder's hand-over and re-stamp", () => {
    const stage = new Stage();
    stage.era("open");
    stage.watch(new SuccessionChecker(stage.scene));
    stage.tenure(R0, "a");
    stage.tenure(R0, "a", "re-stamp");
    stage.tenure(R0, "b", "hand-over", "a");
    stage.remove(stage.keys.tenure(R0));
    stage.tenure(R0, "c");
    expect(stage.reports).toEqual([]);
  });

  it("sees a grant over a tenure, and a hand-over or re-stamp by a node that did not hold it", () => {
    const stage = new Stage();
    stage.era("open");
    stage.watch(new SuccessionChecker(stage.scene));
    stage.tenure(R0, "a");
    stage.tenure(R0, "b");
    stage.tenure(R0, "c", "hand-over", "a");
    stage.tenure(R0, "a", "re-stamp");
    expect(stage.reports).toEqual([
      "kv/0/0: b granted itself what was held; it was a's",
      "kv/0/0: a handed over to c what it did not hold; it was b's",
      "kv/0/0: a re-stamped what it did not hold; it was c's",
    ]);
  });

  it("sees a tenure that is written while its era is not open, or not the store's any more", () => {
    const stage = new Stage();
    stage.watch(new SuccessionChecker(stage.scene));
    stage.tenure(R0, "a");
    stage.era("closed");
    stage.tenure(R0, "b", "hand-over", "a");
    stage.era("open");
    stage.tenure(R0, "b", "re-stamp");
    stage.put(stage.keys.era, { era: 2, incarnation: "i2", phase: "open" });
    stage.tenure(R0, "c", "hand-over", "b");
    expect(stage.reports).toEqual([
      "kv/0/0: a grant to a under era 1 was written, and there is no era",
      "kv/0/0: a hand-over to b under era 1 was written, and era 1 is closed",
      "kv/0/0: a hand-over to c under era 1 was written, and era 2 is open",
    ]);
  });
});

describe("incarnation", () => {
  it("sees a commit that another incarnation carried out than the one it was made for", () => {
    const stage = new Stage();
    stage.watch(new IncarnationChecker(stage.scene));
    stage.tell({ kind: "foreign-commit", sender: "a", madeFor: "i1", carriedOutBy: "i2" });
    expect(stage.reports).toEqual(["a: its commit for incarnation i1 was carried out by i2"]);
  });
});

describe("primaries", () => {
  it("sees a primary that stands without its tenure, whichever of the two was written last", () => {
    const stage = new Stage(true);
    stage.watch(new PrimariesChecker(stage.scene));
    const promote = (node: string): void =>
      stage.put(stage.keys.primary("kv/0"), { node, replica: 0, session: `${node}-session` });
    stage.tenure(R0, "a");
    promote("a");
    expect(stage.reports).toEqual([]);
    stage.tenure(R0, "b", "hand-over", "a");
    promote("b");
    promote("c");
    expect(stage.reports).toEqual([
      "kv/0: a is primary by replica 0, whose tenure is b's",
      "kv/0: c is primary by replica 0, whose tenure is b's",
    ]);
  });
});

describe("drained", () => {
  const admit = (stage: Stage): void =>
    stage.tell({
      kind: "admitted",
      node: "a",
      replica: R0,
      shard: `${SERVICE}/0`,
      epoch: epoch(1),
      mode: "read",
    });

  it("sees a hand-over with requests in flight", () => {
    const stage = new Stage();
    stage.watch(new DrainedChecker(stage.scene));
    admit(stage);
    stage.decide("a", "draining", R0);
    stage.tenure(R0, "b", "hand-over", "a");
    expect(stage.reports).toEqual(["kv/0/0: a handed it to b with 1 requests in flight"]);
  });

  it("is content when they have ended, when the drain has had its time, and when their process is gone", () => {
    const stage = new Stage();
    stage.watch(new DrainedChecker(stage.scene));
    admit(stage);
    stage.tell({ kind: "finished", node: "a", replica: R0 });
    stage.tenure(R0, "b", "hand-over", "a");
    admit(stage);
    stage.decide("a", "draining", R0);
    stage.nowMs += stage.terms.drainMs;
    stage.tenure(R0, "b", "hand-over", "a");
    admit(stage);
    stage.tell({ kind: "node", node: "a", how: "crash" });
    stage.tenure(R0, "b", "hand-over", "a");
    expect(stage.reports).toEqual([]);
  });
});

describe("leaving", () => {
  it("sees a node that joins again under a session opened after it began to leave", () => {
    const stage = new Stage();
    stage.watch(new LeavingChecker(stage.scene));
    stage.sessions = 4;
    stage.member("a", "s3");
    stage.decide("a", "leaving");
    stage.member("a", "s4");
    expect(stage.reports).toEqual([]);
    stage.member("a", "s5");
    expect(stage.reports).toEqual(["a: it is leaving, and joined again under session s5"]);
  });

  it("does not mind the next process of that node", () => {
    const stage = new Stage();
    stage.watch(new LeavingChecker(stage.scene));
    stage.member("a", "s3");
    stage.decide("a", "leaving");
    stage.tell({ kind: "node", node: "a", how: "left" });
    stage.tell({ kind: "node", node: "a", how: "start" });
    stage.member("a", "s9");
    expect(stage.reports).toEqual([]);
  });
});
