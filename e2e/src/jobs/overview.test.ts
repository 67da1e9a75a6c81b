/** What the console shows of the whole queue, over HTTP. */
import { connectJobs, type JobsClient } from "@keelson/jobs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { JobsGateway } from "./jobs-gateway.ts";

let served: JobsGateway;
let client: JobsClient;
beforeAll(async () => {
  served = await JobsGateway.start();
  client = await connectJobs({ nodes: [served.address] });
  client.worker<{ fail?: boolean }>("work", ({ payload }) => {
    if (payload.fail === true) throw new Error("as asked");
    return "done";
  });
}, 60_000);
afterAll(async () => {
  await client.close({ graceMs: 100 });
  await served.stop();
});

async function get(path: string): Promise<unknown> {
  const { status, body } = await served.call("GET", `/v1/jobs${path}`);
  expect(status).toBe(200);
  return body;
}

async function enqueue(tenant: string, job: object): Promise<void> {
  const { status } = await served.call("POST", `/v1/jobs/tenants/${tenant}/jobs`, job);
  expect(status).toBe(201);
}

test("tenants are listed with what they have to do, those with most first", async () => {
  for (const id of ["a", "b", "c"]) await enqueue("busy", { id, group: "idle" });
  await enqueue("calm", { id: "a", group: "idle" });
  await served.call("PATCH", "/v1/jobs/tenants/calm", { paused: true, weight: 2 });
  const { tenants } = (await get("/tenants")) as { tenants: { tenant: string }[] };
  expect(tenants.map(({ tenant }) => tenant)).toEqual(["busy", "calm"]);
  expect(tenants[1]).toMatchObject({ paused: true, weight: 2, jobs: { scheduled: 1 } });
  expect(await get("/tenants?prefix=ca")).toMatchObject({ tenants: [{ tenant: "calm" }] });
  expect(await get("/tenants/calm")).toMatchObject({ paused: true, weight: 2, schedules: 0 });
});

test("jobs of all tenants are listed together, by status and group, also when they have left memory", async () => {
  await enqueue("busy", { id: "ok", group: "work", payload: {} });
  await enqueue("calm", { id: "bad", group: "work", payload: { fail: true } });
  await served.call("PATCH", "/v1/jobs/tenants/calm", { paused: false });
  await served.call("GET", "/v1/jobs/tenants/busy/jobs/ok/result?waitMs=20000");
  await served.call("GET", "/v1/jobs/tenants/calm/jobs/bad/result?waitMs=20000");
  const ids = async (query: string): Promise<string[]> => {
    const { jobs } = (await get(`/jobs${query}`)) as { jobs: { id: string; tenant: string }[] };
    return jobs.map(({ id, tenant }) => `${tenant}/${id}`).sort();
  };
  expect(await ids("?status=failed")).toEqual(["calm/bad"]);
  expect(await ids("?group=work")).toEqual(["busy/ok", "calm/bad"]);
  expect(await ids("?status=scheduled&limit=2")).toHaveLength(2);
  const { shards } = (await get("/shards")) as { shards: { shard: string }[] };
  await Promise.all(
    shards.map(({ shard }) => client.calls.byShard(shard, "write", "checkpoint", {}, { timeoutMs: 20_000 })),
  );
  expect(await get("/stats")).toMatchObject({ jobs: { succeeded: 0, failed: 0 } });
  expect(await ids("?group=work")).toEqual(["busy/ok", "calm/bad"]);
  expect(await get("/tenants/calm/jobs?group=work")).toMatchObject({ jobs: [{ id: "bad" }] });
  expect(await get("/tenants/calm/jobs?group=none")).toEqual({ jobs: [] });
});

test("schedules are listed with the job they make and when", async () => {
  const path = "/v1/jobs/tenants/calm/schedules/nightly";
  const job = { group: "idle", payload: { of: "night" }, retry: { retries: 2 } };
  await served.call("PUT", path, { cron: "30 2 * * *", timeZone: "Europe/Berlin", job });
  const shown = {
    schedules: [
      {
        id: "nightly",
        tenant: "calm",
        cron: "30 2 * * *",
        timeZone: "Europe/Berlin",
        missed: "once",
        nextAtMs: expect.any(Number) as number,
        job: { group: "idle", payload: { of: "night" }, priority: 50, retry: { retries: 2 } },
      },
    ],
  };
  expect(await get("/schedules")).toMatchObject(shown);
  expect(await get("/tenants/calm/schedules")).toMatchObject(shown);
  expect(await get("/tenants/busy/schedules")).toEqual({ schedules: [] });
  await served.call("DELETE", path);
});

test("lists and bulk actions are read on with what they said is next, and come to every job once", async () => {
  for (let each = 0; each < 25; each += 1) await enqueue("paged", { id: `p${each}`, group: "idle" });
  const seen: string[] = [];
  let next: string | undefined;
  do {
    const before = next === undefined ? "" : `&before=${encodeURIComponent(next)}`;
    const page = (await get(`/tenants/paged/jobs?group=idle&limit=7${before}`)) as {
      jobs: { id: string }[];
      next?: string;
    };
    seen.push(...page.jobs.map(({ id }) => id));
    next = page.next;
  } while (next !== undefined && seen.length < 100);
  expect([seen.length, new Set(seen).size]).toEqual([25, 25]);
  let done = 0;
  for (let calls = 0; calls < 20; calls += 1) {
    const body = { action: "cancel", where: { group: "idle" }, limit: 4, ...(next ? { before: next } : {}) };
    const answer = (await served.call("POST", "/v1/jobs/tenants/paged/bulk", body)).body as {
      done: number;
      more: boolean;
      next?: string;
    };
    done += answer.done;
    next = answer.next;
    expect(answer.more).toBe(next !== undefined);
    if (next === undefined) break;
  }
  expect(done).toBe(25);
  expect(await get("/tenants/paged")).toMatchObject({ jobs: { scheduled: 0, cancelled: 25 } });
  const wrong = { action: "cancel", where: {}, before: "yesterday" };
  expect((await served.call("POST", "/v1/jobs/tenants/paged/bulk", wrong)).status).toBe(400);
});

test("many jobs are cancelled and restarted at once, each by itself", async () => {
  for (const id of ["x1", "x2", "x3"]) await enqueue("bulk", { id, group: "idle" });
  await enqueue("bulk", { id: "y1", group: "other" });
  const bulk = (body: object) => served.call("POST", "/v1/jobs/tenants/bulk/bulk", body);
  expect(await bulk({ action: "cancel", ids: ["x1", "nowhere"] })).toEqual({
    status: 200,
    body: {
      done: 1,
      refused: [{ id: "nowhere", error: "JOB_NOT_FOUND", message: "job not found" }],
      more: false,
    },
  });
  expect((await bulk({ action: "cancel", where: { group: "idle" }, limit: 1 })).body).toMatchObject({
    done: 1,
    more: true,
  });
  expect((await bulk({ action: "cancel", where: { group: "idle" } })).body).toMatchObject({ done: 1 });
  expect(await get("/tenants/bulk")).toMatchObject({ jobs: { scheduled: 1, cancelled: 3 } });
  expect((await bulk({ action: "restart", where: { status: "cancelled" } })).body).toMatchObject({ done: 3 });
  expect(await get("/tenants/bulk")).toMatchObject({ jobs: { scheduled: 4, cancelled: 0 } });
  expect((await bulk({ action: "cancel" })).status).toBe(400);
  expect((await bulk({ action: "explode", ids: ["x1"] })).status).toBe(400);
});

test("the history adds up over shards, with waiting and running times", async () => {
  const { stepMs, points } = (await get("/history?stepSeconds=600")) as {
    stepMs: number;
    points: Record<string, number>[];
  };
  expect(stepMs).toBe(600_000);
  const sum = (name: string): number => points.reduce((all, point) => all + (point[name] ?? 0), 0);
  expect(sum("succeeded")).toBe(1);
  expect(sum("failed")).toBe(1);
  expect(sum("running")).toBe(2);
  const timed = points.find(({ runMsP50 }) => runMsP50 !== undefined);
  expect(timed?.["waitMsP99"]).toBeGreaterThan(0);
  const { points: others } = (await get("/history?group=work&stepSeconds=600")) as typeof timed & {
    points: { scheduled: number }[];
  };
  expect(others.reduce((all, { scheduled }) => all + scheduled, 0)).toBe(2);
});
