/** Much data at once, by every way out: no answer is longer than a frame, and nothing that was asked for is lost to its size. */
import { connectJobs, type JobHandle, type JobsClient } from "@keelson/jobs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { JobsGateway } from "./jobs-gateway.ts";

const [TENANT, JOBS] = ["large", 50];
const TEXT = "x".repeat(400_000);

let served: JobsGateway;
let client: JobsClient;
let shard = "";
let handles: readonly JobHandle<string>[] = [];
beforeAll(async () => {
  served = await JobsGateway.start({}, { leaseMs: 60_000 });
  client = await connectJobs({ nodes: [served.address], tenant: TENANT });
  shard = client.calls.shardOf(TENANT);
  const made = await client.enqueueBatch(
    Array.from({ length: JOBS }, (_, index) => ({ group: "large", id: `j${index}`, payload: TEXT })),
  );
  handles = made.map((each) => {
    if (each instanceof Error) throw each;
    return each as JobHandle<string>;
  });
}, 60_000);
afterAll(async () => {
  await client.close({ graceMs: 100 });
  await served.stop();
});

test("a list of large jobs is read on until all of them were seen", async () => {
  const seen = new Set<string>();
  let next: string | undefined;
  do {
    const before = next === undefined ? "" : `&before=${encodeURIComponent(next)}`;
    const page = await served.call("GET", `/v1/jobs/tenants/${TENANT}/jobs?limit=1000${before}`);
    expect(page.status).toBe(200);
    const body = page.body as { jobs: { id: string }[]; next?: string };
    for (const { id } of body.jobs) seen.add(id);
    next = body.next;
  } while (next !== undefined);
  expect(seen.size).toBe(JOBS);
  const recent = (await served.call("GET", "/v1/jobs/jobs?limit=200")).body as { jobs: unknown[] };
  expect(recent.jobs.length).toBeGreaterThan(1);
}, 60_000);

test("a dump and a statement come in parts", async () => {
  const dump = await served.call("GET", `/v1/jobs/shards/${shard}/dump?prefix=jobs/`, undefined, {
    accept: "application/x-ndjson",
  });
  expect(dump.status).toBe(200);
  expect(String(dump.body).trim().split("\n")).toHaveLength(JOBS);
  const path = `/v1/jobs/shards/${shard}/query`;
  const ids = await served.call("POST", path, { sql: "SELECT id FROM jobs WHERE length(payload) > 5" });
  expect(ids.status).toBe(200);
  // Their payloads together are above what one answer may hold, and it says so.
  const all = await served.call("POST", path, { sql: "SELECT payload FROM jobs" });
  expect(JSON.stringify(all.body).slice(0, 200)).toContain("SQL_TOO_LARGE");
}, 60_000);

test("results that are all there at once come in parts", async () => {
  const worker = client.worker<string, string>("large", ({ payload }) => payload, { concurrency: 10 });
  for (const until = performance.now() + 60_000; worker.completed < JOBS && performance.now() < until;)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const results = await Promise.all(handles.map((handle) => handle.result()));
  expect(results.every((result) => result === TEXT)).toBe(true);
}, 120_000);

test("a job with very much behind it is shown, without the bytes of its oldest attempts", async () => {
  const retry = { retries: 100, initialMs: 0, maxMs: 0, factor: 1, jitter: false };
  await client.enqueue({ group: "fails", id: "often", retry });
  const data = Buffer.alloc(500_000);
  const ask = (command: object) =>
    client.calls.byTenant(TENANT, "write", "execute", command, { timeoutMs: 20_000 });
  for (let attempt = 0; attempt < 40;) {
    const leased = (await ask({ kind: "lease", group: "fails", worker: "w", max: 1 })) as {
      tasks: { task: number }[];
    };
    const [task] = leased.tasks;
    if (task === undefined) continue;
    attempt += 1;
    const reports = [{ task: task.task, outcome: { kind: "failed", code: "E", data } }];
    await ask({ kind: "report", reports });
  }
  const view = await client.get("often");
  const bytes = view!.attempts.map(({ outcome }) => (outcome?.kind === "failed" ? outcome.data.length : -1));
  expect(bytes).toHaveLength(40);
  expect([bytes[0], bytes[39]]).toEqual([0, 500_000]);
}, 60_000);

test("values that JSON has no word for are shown, and what nobody could walk through is refused", async () => {
  await client.enqueue({
    group: "idle",
    id: "odd",
    payload: { big: 2n ** 60n, at: new Date(0), bytes: Buffer.from("x") },
  });
  expect((await served.call("GET", `/v1/jobs/tenants/${TENANT}/jobs/odd`)).body).toMatchObject({
    payload: { big: "1152921504606846976", at: "1970-01-01T00:00:00.000Z", bytes: { base64: "eA==" } },
  });
  const dump = await served.call("GET", `/v1/jobs/shards/${shard}/dump?prefix=jobs/${TENANT}/odd`);
  expect(dump.status).toBe(200);
  expect(JSON.stringify(dump.body)).toContain("1152921504606846976");
  const deep = `{"group":"g","payload":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
  const refused = await served.call("POST", `/v1/jobs/tenants/${TENANT}/jobs`, deep);
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining("INVALID")]);
  const half = await served.call("POST", `/v1/jobs/tenants/${TENANT}/jobs`, '{"group":"g","id":"a\\ud800"}');
  expect(half.status).toBe(400);
});

test("progress may be anything that a worker can send", async () => {
  let go: () => void = () => undefined;
  const going = new Promise<void>((resolve) => (go = resolve));
  client.worker("shows", async (job) => {
    job.progress({ done: 2n ** 60n });
    await going;
  });
  await client.enqueue({ group: "shows", id: "shown" });
  const path = `/v1/jobs/tenants/${TENANT}/jobs/shown`;
  let body: unknown;
  for (const until = performance.now() + 30_000; performance.now() < until;) {
    const answer = await served.call("GET", path);
    expect(answer.status).toBe(200);
    body = answer.body;
    if ((body as { progress?: unknown }).progress !== undefined) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  go();
  expect(body).toMatchObject({ progress: { done: "1152921504606846976" } });
}, 60_000);
