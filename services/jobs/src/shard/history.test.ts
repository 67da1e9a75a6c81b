import { expect, test } from "vitest";
import type { Effect, JobStatus, JobView } from "../engine/index.ts";
import { History, STEP_MS, quantile } from "./history.ts";

function historyAt(wallMs: () => number, view?: Partial<JobView>): History {
  return new History(wallMs, () => view as JobView | undefined);
}

const change = (status: JobStatus, group = "g"): Effect => ({
  kind: "status",
  tenant: "t",
  ids: ["j"],
  group,
  status,
});

test("changes are counted by step, status and group", () => {
  let now = 5;
  const history = historyAt(() => now);
  history.effects([change("scheduled"), change("running"), change("running", "other")]);
  now = STEP_MS + 1;
  history.effects([change("failed")]);
  expect(history.since(0).map(({ atMs, changes, groups }) => ({ atMs, changes, groups }))).toEqual([
    { atMs: 0, changes: [1, 2, 0, 0, 0], groups: { g: [1, 1, 0, 0, 0], other: [0, 1, 0, 0, 0] } },
    { atMs: STEP_MS, changes: [0, 0, 0, 1, 0], groups: { g: [0, 0, 0, 1, 0] } },
  ]);
  expect(history.since(STEP_MS)).toHaveLength(1);
});

test("jobs that came to a status together count each", () => {
  const history = historyAt(() => 0);
  history.effects([{ kind: "status", tenant: "t", ids: ["a", "b", "c"], group: "g", status: "succeeded" }]);
  expect(history.since(0)[0]).toMatchObject({ changes: [0, 0, 3, 0, 0], groups: { g: [0, 0, 3, 0, 0] } });
});

test("a job's wait is counted from the time it might have started", () => {
  const history = historyAt(() => 0, { status: "running", statusAtMs: 1_500, startAtMs: 500, attempts: [] });
  history.effects([change("running")]);
  const waited = history.since(0)[0]?.waited ?? [];
  expect(quantile(waited, 0.5)).toBe(1_000);
  expect(quantile(history.since(0)[0]?.ran ?? [], 0.5)).toBeUndefined();
});

test("a job that went on meanwhile has no time", () => {
  const history = historyAt(() => 0, { status: "succeeded", statusAtMs: 9, startAtMs: 0, attempts: [] });
  history.effects([change("running")]);
  expect(quantile(history.since(0)[0]?.waited ?? [], 0.5)).toBeUndefined();
});

test("no more than an hour, and no more than 64 groups of a step, are kept", () => {
  let now = 0;
  const history = historyAt(() => now);
  history.effects(Array.from({ length: 100 }, (_, index) => change("running", `g${index}`)));
  expect(Object.keys(history.since(0)[0]?.groups ?? {})).toHaveLength(64);
  expect(history.since(0)[0]?.changes[1]).toBe(100);
  for (now = 0; now < 500 * STEP_MS; now += STEP_MS) history.effects([change("scheduled")]);
  expect(history.since(0)).toHaveLength(360);
});

test("a clock that is set back goes on in the last step", () => {
  let now = 10 * STEP_MS;
  const history = historyAt(() => now);
  history.effects([change("scheduled")]);
  now = 0;
  history.effects([change("scheduled")]);
  expect(history.since(0).map(({ changes }) => changes[0])).toEqual([2]);
});
