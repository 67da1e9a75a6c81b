/** Much at once over `silo.v1`: large imports, large payloads, and shards of which one cannot be asked. */
import type { SiloRequest } from "@keelson/jobs/silo";
import { pack } from "msgpackr";
import { afterAll, beforeAll, expect, test } from "vitest";
import { JobsGateway } from "./jobs-gateway.ts";
import { SiloClient } from "./silo-client.ts";

type Import = SiloRequest<"ImportJobs">["jobs"][number];

const value = (data: unknown) => ({ msgpack: pack(data) });

let served: JobsGateway;
let client: SiloClient;
let shard = "";
let other = "";

beforeAll(async () => {
  served = await JobsGateway.start({}, { leaseMs: 60_000 });
  client = new SiloClient(served.gateway.grpcAddress ?? "");
  for (const { shard_id: each } of (await client.call("GetClusterInfo", {})).shard_owners)
    if ((await client.failureOf("GetJob", { shard: each, id: "none" })) === "5 job not found") shard = each;
    else other = each;
}, 60_000);
afterAll(async () => {
  client.close();
  await served.stop();
});

function imported(id: string, more: Partial<Import> = {}): Import {
  return {
    shard,
    id,
    priority: 10,
    enqueue_time_ms: 1_000,
    start_at_ms: 0,
    retry_policy: undefined,
    payload: value(1),
    limits: [],
    tenant: undefined,
    metadata: {},
    task_group: "imported",
    attempts: [],
    ...more,
  };
}

const past = (status: number) => ({
  status,
  started_at_ms: 1,
  finished_at_ms: 2,
  result: undefined,
  error_code: undefined,
  error_data: undefined,
});

test("more jobs are imported than one command takes, in the order given, and nobody waits for them", async () => {
  const jobs = Array.from({ length: 15_000 }, (_, index) => imported(`many-${index}`));
  let slowest = 0;
  let importing = true;
  const probe = (async () => {
    while (importing) {
      const from = performance.now();
      await client.call("GetClusterInfo", {});
      slowest = Math.max(slowest, performance.now() - from);
    }
  })();
  const { results } = await client.call("ImportJobs", { jobs });
  importing = false;
  await probe;
  expect(results.map(({ id }) => id)).toEqual(jobs.map(({ id }) => id));
  expect(results.filter(({ success }) => !success)).toEqual([]);
  // It took a minute when every job copied the list of those before it.
  expect(slowest).toBeLessThan(10_000);
}, 60_000);

test("an import that cannot be done fails by itself: a wrong shard, an unknown one, a status that is none", async () => {
  const jobs = [
    imported("fine"),
    imported("elsewhere", { shard: other }),
    imported("nowhere", { shard: "99" }),
    imported("odd", { attempts: [past(0)] }),
    imported("large", { payload: value("x".repeat(600_000)) }),
    imported("also fine", { attempts: [past(2)] }),
  ];
  const { results } = await client.call("ImportJobs", { jobs });
  expect(results.map(({ success, error }) => (success ? "" : error))).toEqual([
    "",
    expect.stringMatching(/is not within shard \d range/),
    "shard not found",
    "invalid attempt status",
    expect.stringMatching(/^the payload has 600005 bytes/),
    "",
  ]);
  expect((await client.call("GetJob", { shard, id: "also fine" })).status).toBe(3);
});

test("a payload that no frame could carry gets the same answer as one that is a little too large", async () => {
  const payload = value("x".repeat(20_000_000));
  expect(await client.failureOf("Enqueue", { shard, id: "huge", task_group: "g", payload })).toMatch(
    /^3 the payload has 20000005 bytes, more than 524288$/,
  );
}, 30_000);

test("tasks that together would fill more than a frame are leased in parts, and none is lost", async () => {
  const payload = value("x".repeat(400_000));
  for (let index = 0; index < 50; index += 1)
    await client.call("Enqueue", { shard, id: `large-${index}`, task_group: "large", payload });
  const seen = new Set<string>();
  for (let calls = 0; calls < 50 && seen.size < 50; calls += 1) {
    const { tasks } = await client.call("LeaseTasks", { worker_id: "w", max_tasks: 50, task_group: "large" });
    for (const { job_id } of tasks) {
      expect(seen.has(job_id)).toBe(false);
      seen.add(job_id);
    }
  }
  expect(seen.size).toBe(50);
}, 60_000);

test("a retry policy may leave its bound out, and is shown as it was given", async () => {
  const retry_policy = {
    retry_count: 3,
    initial_interval_ms: 100,
    max_interval_ms: 0,
    randomize_interval: false,
    backoff_factor: 2,
  };
  await client.call("Enqueue", { shard, id: "unbounded", task_group: "g", retry_policy });
  expect((await client.call("GetJob", { shard, id: "unbounded" })).retry_policy).toEqual(retry_policy);
});

test("names are taken as they are: a byte order mark counts, and a tenant's that is too long is said to be", async () => {
  await client.call("Enqueue", { shard, id: "\uFEFFmark", task_group: "g" });
  expect(await client.failureOf("GetJob", { shard, id: "mark" })).toBe("5 job not found");
  expect((await client.call("GetJob", { shard, id: "\uFEFFmark" })).id).toBe("\uFEFFmark");
  const tenant = "x".repeat(65);
  expect(await client.failureOf("Enqueue", { shard, id: "t", task_group: "g", tenant })).toMatch(
    /^3 tenant id too/,
  );
  const metadata = { ["ä".repeat(32)]: "64 bytes" };
  expect(await client.failureOf("Enqueue", { shard, id: "m", task_group: "g", metadata })).toMatch(
    /^3 metadata key/,
  );
});
