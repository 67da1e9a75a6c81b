import { connectJobs, type JobsClient } from "@keelson/jobs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JobsGateway } from "./jobs-gateway.ts";

let served: JobsGateway;
let client: JobsClient;
beforeAll(async () => {
  served = await JobsGateway.start();
  client = await connectJobs({ nodes: [served.address] });
}, 60_000);
afterAll(async () => {
  await client.close({ graceMs: 100 });
  await served.stop();
});

const jobs = "/v1/jobs/tenants/acme/jobs";

test("a job goes in by HTTP, is run by a worker, and its result comes out by HTTP", async () => {
  client.worker<{ n: number }, { doubled: number }>("double", ({ payload }) => ({ doubled: payload.n * 2 }));
  const made = await served.call("POST", jobs, {
    id: "j1",
    group: "double",
    payload: { n: 21 },
    metadata: { from: "http" },
  });
  expect(made).toEqual({ status: 201, body: { id: "j1", outcome: "created" } });
  const again = await served.call("POST", jobs, {
    id: "j1",
    group: "double",
    payload: { n: 21 },
    metadata: { from: "http" },
  });
  expect(again).toEqual({ status: 200, body: { id: "j1", outcome: "same" } });
  expect(await served.call("GET", `${jobs}/j1/result?waitMs=10000`)).toEqual({
    status: 200,
    body: { status: "succeeded", result: { doubled: 42 } },
  });
  const { body } = await served.call("GET", `${jobs}/j1`);
  expect(body).toMatchObject({
    id: "j1",
    status: "succeeded",
    payload: { n: 21 },
    attempts: [{ number: 1, outcome: "succeeded" }],
  });
  const listed = await served.call("GET", `${jobs}?status=succeeded&metadataKey=from&metadataValue=http`);
  expect(listed.body).toMatchObject({ jobs: [{ id: "j1" }] });
});

test("jobs are cancelled, restarted, paused and counted", async () => {
  await served.call("POST", "/v1/jobs/tenants/acme/batch", {
    jobs: [
      { id: "c1", group: "idle" },
      { id: "c2", group: "idle", priority: 5 },
    ],
  });
  expect((await served.call("POST", `${jobs}/c1/cancel`)).status).toBe(200);
  expect((await served.call("GET", `${jobs}/c1`)).body).toMatchObject({ status: "cancelled" });
  expect((await served.call("POST", `${jobs}/c1/cancel`)).status).toBe(409);
  expect((await served.call("POST", `${jobs}/c1/restart`)).status).toBe(200);
  expect((await served.call("GET", `${jobs}/c1`)).body).toMatchObject({ status: "scheduled" });
  expect((await served.call("POST", "/v1/jobs/groups/idle/pause")).status).toBe(200);
  const groups = (await served.call("GET", "/v1/jobs/groups")).body as { groups: { group: string }[] };
  expect(groups.groups.find(({ group }) => group === "idle")).toMatchObject({ paused: true });
  expect((await served.call("GET", "/v1/jobs/stats")).body).toMatchObject({ jobs: { scheduled: 2 } });
  expect((await served.call("GET", "/v1/jobs/tenants/acme")).body).toMatchObject({
    tenant: "acme",
    jobs: { scheduled: 2 },
  });
  expect((await served.call("GET", "/v1/jobs/shards")).body).toMatchObject({
    shards: [{ shard: "0", first: "0000000000000000" }, {}, {}, { last: "ffffffffffffffff" }],
  });
});

test("a schedule is made and ended", async () => {
  const path = "/v1/jobs/tenants/acme/schedules/nightly";
  const made = await served.call("PUT", path, {
    cron: "30 2 * * *",
    timeZone: "Europe/Berlin",
    job: { group: "idle", payload: {} },
  });
  expect(made).toMatchObject({ status: 200, body: { nextAtMs: expect.any(Number) as number } });
  expect((await served.call("DELETE", path)).status).toBe(200);
  expect((await served.call("DELETE", path)).status).toBe(404);
});

test("the dump has the keys of the design", async () => {
  const answers = await Promise.all(
    ["0", "1", "2", "3"].map((shard) =>
      served.call("GET", `/v1/jobs/shards/${shard}/dump`, undefined, { accept: "application/x-ndjson" }),
    ),
  );
  const text = answers.map(({ body }) => (typeof body === "string" ? body : JSON.stringify(body))).join("\n");
  expect(text).toMatch(/"jobs\/acme\/j1"/);
  expect(text).toMatch(/"attempts\/acme\/j1\/1"/);
  expect(text).toMatch(/"idx\/status_ts\/acme\/succeeded\/\d{20}\/j1"/);
  expect(text).toMatch(/"tasks\/\d{16}\/05\/c2\/1"/);
});

describe("bad input", () => {
  test.each([
    ["an oversized payload", "POST", jobs, { group: "g", payload: "x".repeat(600_000) }, 400, "INVALID"],
    ["a negative priority", "POST", jobs, { group: "g", priority: -1 }, 400, "BAD_REQUEST"],
    ["no group", "POST", jobs, {}, 400, "BAD_REQUEST"],
    [
      "a bad cron",
      "PUT",
      "/v1/jobs/tenants/acme/schedules/s",
      { cron: "61 * * * *", job: { group: "g" } },
      400,
      "INVALID",
    ],
    [
      "a bad time zone",
      "PUT",
      "/v1/jobs/tenants/acme/schedules/s",
      { cron: "* * * * *", timeZone: "Mars/North", job: { group: "g" } },
      400,
      "INVALID",
    ],
    ["an unknown job", "GET", "/v1/jobs/tenants/nobody/jobs/x", undefined, 404, "JOB_NOT_FOUND"],
    ["an unknown dependency", "POST", jobs, { group: "g", after: ["nowhere"] }, 404, "DEPENDENCY_NOT_FOUND"],
    ["broken JSON", "POST", jobs, "{", 400, undefined],
  ])("%s is refused with a code, and changes nothing", async (_, verb, path, body, status, code) => {
    const before = (await served.call("GET", "/v1/jobs/stats")).body;
    const answer = await served.call(verb, path, body);
    expect(answer.status).toBe(status);
    expect(JSON.stringify(answer.body)).toContain(code ?? "");
    expect((await served.call("GET", "/v1/jobs/stats")).body).toEqual(before);
  });
});
