import { expect, test } from "vitest";
import type { AttemptOutcome, LeasedTask } from "../engine/index.ts";
import { givenTask, isReportTuple, reportTuple, taskReport, taskTuple } from "./compact.ts";

const payload = Buffer.from("p");
const task: LeasedTask = {
  task: 7,
  spec: { id: "j", tenant: "t", group: "g", payload },
  attempt: 2,
  relativeAttempt: 1,
  isLastAttempt: true,
  leaseMs: 10_000,
  inputs: [],
};
const input = { id: "a", outcome: { kind: "succeeded", result: payload }, omitted: false } as const;

test.each([
  ["a plain task", {}, [], 8],
  ["a task with metadata", { k: "v" }, [], 9],
  ["a task with inputs", {}, [input], 10],
  ["a task with both", { k: "v" }, [input], 10],
])("%s arrives as it left, without what is empty", (_, metadata, inputs, length) => {
  const tuple = taskTuple({ ...task, spec: { ...task.spec, metadata }, inputs });
  expect(tuple).toHaveLength(length);
  expect(givenTask(tuple, "g")).toEqual({
    task: 7,
    tenant: "t",
    id: "j",
    group: "g",
    attempt: 2,
    relativeAttempt: 1,
    isLastAttempt: true,
    leaseMs: 10_000,
    payload,
    metadata,
    inputs,
  });
});

test.each<AttemptOutcome>([
  { kind: "succeeded", result: payload },
  { kind: "failed", code: "", data: payload },
  { kind: "cancelled" },
])("the outcome $kind arrives as it left", (outcome) => {
  expect(taskReport(reportTuple(7, outcome), "w")).toEqual({ task: 7, worker: "w", outcome });
});

test.each([[undefined], [[]], [["7"]], [[7, "text"]], [[7, payload, 5]], [{ task: 7 }]])(
  "%j is no report",
  (value) => {
    expect(isReportTuple(value)).toBe(false);
  },
);
