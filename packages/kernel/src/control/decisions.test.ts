import { expect, test } from "vitest";
import { DecisionLog, type Decision } from "./decisions.ts";

const decision = (reason: string, replica?: string): Decision => ({
  at: 0,
  node: "a",
  kind: "live",
  reason,
  ...(replica === undefined ? {} : { replica }),
});

test("keeps the last decisions of each replica and of the node, and no more", () => {
  const log = new DecisionLog();
  for (let i = 0; i < 50; i++) log.add(decision(`r${i}`, "s/1/0"));
  for (let i = 0; i < 500; i++) log.add(decision(`n${i}`));
  expect(log.of("s/1/0")).toHaveLength(DecisionLog.perReplicaMax);
  expect(log.of("s/1/0").at(-1)?.reason).toBe("r49");
  expect(log.own()).toHaveLength(DecisionLog.ownMax);
  expect(log.of("s/2/0")).toEqual([]);
});

test("forgets the oldest replica when there are too many", () => {
  const log = new DecisionLog();
  for (let i = 0; i <= DecisionLog.replicasMax; i++) log.add(decision("x", `s/${i}/0`));
  expect(log.of("s/0/0")).toEqual([]);
  expect(log.of(`s/${DecisionLog.replicasMax}/0`)).toHaveLength(1);
});
