import { expect, test } from "vitest";
import { DEMO_GROUPS, SCHEDULES, firstJobs, visitors } from "./demo-content.ts";

test("every name begins with demo, so that nobody takes it for their own", () => {
  const names = [
    ...DEMO_GROUPS,
    ...SCHEDULES.map(({ id }) => id),
    ...firstJobs(0).map(({ id = "no id" }) => id),
    ...firstJobs(0).flatMap(({ limits = [] }) =>
      limits.map((limit) => ("key" in limit ? limit.key : limit.name)),
    ),
  ];
  expect(names.filter((name) => !name.startsWith("demo-"))).toEqual([]);
});

test("jobs of the demo succeed, are retried and fail, and all are forgotten after an hour", () => {
  const jobs = [...firstJobs(0), ...SCHEDULES.map(({ job }) => job)];
  expect(new Set(jobs.map(({ payload }) => payload.fails))).toEqual(new Set([undefined, "once", "always"]));
  for (const job of jobs) expect(job.retentionMs).toBe(3_600_000);
});

test("a minute of visitors is at most 24 jobs, all within that minute", () => {
  for (const drawn of [0, 0.26, 0.38, 0.5, 0.999]) {
    const jobs = visitors(1_000, () => drawn);
    expect(jobs.length).toBeGreaterThan(0);
    expect(jobs.length).toBeLessThanOrEqual(24);
    for (const { startAtMs = 0 } of jobs) {
      expect(startAtMs).toBeGreaterThanOrEqual(1_000);
      expect(startAtMs).toBeLessThan(61_000);
    }
  }
});
