import { expect, test } from "vitest";
import type { Plan } from "./plan.ts";
import { roleOf } from "./plan-roles.ts";

const plan: Plan = {
  viewN: 1,
  parameters: { shards: 3, replicas: 1, placement: {} },
  lines: new Map([
    ["s/0/0", { candidates: ["a", "b", "c"], reason: "" }],
    ["s/1/0", { candidates: ["b", "a"], reason: "" }],
    ["s/2/0", { candidates: [], reason: "" }],
  ]),
};

test("a node's role is what it comes first for, and what it takes over", () => {
  expect(roleOf(plan, "a")).toEqual({ first: ["s/0/0"], later: ["s/1/0"] });
  expect(roleOf(plan, "b")).toEqual({ first: ["s/1/0"], later: ["s/0/0"] });
  expect(roleOf(plan, "c")).toEqual({ first: [], later: ["s/0/0"] });
});

test("a node that no line names has no role", () => {
  expect(roleOf(plan, "d")).toEqual({ first: [], later: [] });
});
