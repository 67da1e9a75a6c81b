import { expect, test } from "vitest";
import { ShardLoads } from "../balance/loads.ts";
import { Streams } from "../chance/streams.ts";
import { LevelChecker } from "./level.ts";
import { R0, R1, Stage } from "./stage.ts";

/** Two shards of equal load on the stage. */
function staged(): { stage: Stage; checker: LevelChecker; loads: ShardLoads } {
  const stage = new Stage();
  const loads = new ShardLoads({ exponent: 0, placement: {} }, 2, new Streams(1));
  const checker = new LevelChecker({ ...stage.scene, loads });
  stage.watch(checker);
  stage.view(1, "a", "b");
  return { stage, checker, loads };
}

test("a fleet that carries its load evenly is level", () => {
  const { stage, checker } = staged();
  stage.tenure(R0, "a");
  stage.tenure(R1, "b");
  stage.tell({ kind: "settled" });
  expect([checker.highest, stage.reports]).toEqual([[1], []]);
});

test("one node that carries everything is reported", () => {
  const { stage } = staged();
  stage.tenure(R0, "a");
  stage.tenure(R1, "a");
  stage.tell({ kind: "settled" });
  expect(stage.reports).toEqual(["a: it carries 2.000 times the average, more than 1.09"]);
});

test("what one shard alone makes of its node is nobody's fault", () => {
  const { stage, checker, loads } = staged();
  loads.of = (shard) => (shard === "0" ? 3 : 1);
  stage.tenure(R0, "a");
  stage.tenure(R1, "b");
  stage.tell({ kind: "settled" });
  expect([checker.highest, stage.reports]).toEqual([[1], []]);
});

test("half of all rests must be in the band, not only each below the highest bound", () => {
  const { stage, loads } = staged();
  // The heavier half of a shard's load is split off in thought: 1.05 of the average, and no shard is as heavy as a node.
  loads.of = (shard) => (shard === "0" ? 105 : 95);
  stage.view(2, "a", "b");
  stage.tenure(R0, "a");
  stage.tenure(R1, "b");
  const checker = new LevelChecker({ ...stage.scene, loads });
  for (let i = 0; i < 20; i++) checker.highest.push(1.05);
  checker.on({ kind: "settled" });
  expect(stage.reports).toEqual(["kv: the 50th percentile of the highest node is 1.050, more than 1.04"]);
});
