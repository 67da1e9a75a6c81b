/** SQL and the operators' methods of `silo.v1`, over gRPC. */
import type { SiloRequest } from "@keelson/jobs/silo";
import { pack, unpack } from "msgpackr";
import { tableFromIPC } from "@uwdata/flechette";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JobsGateway } from "./jobs-gateway.ts";
import { SiloClient } from "./silo-client.ts";

let served: JobsGateway;
let client: SiloClient;
/** Where callers without a tenant belong. */
let shard = "";

type Parameter = SiloRequest<"Query">["parameters"][number];
const NO_VALUE: Parameter = {
  bool_value: undefined,
  int64_value: undefined,
  uint64_value: undefined,
  float64_value: undefined,
  string_value: undefined,
  bytes_value: undefined,
  null_value: undefined,
};
const PARAMETERS: Readonly<Record<string, Parameter>> = {
  high: { ...NO_VALUE, int64_value: 10 },
  default: { ...NO_VALUE, string_value: "-" },
  bytes: { ...NO_VALUE, bytes_value: new Uint8Array([1]) },
};
const LIMITED = {
  concurrency: { key: "one-at-a-time", max_concurrency: 1 },
  rate_limit: undefined,
  floating_concurrency: undefined,
};

beforeAll(async () => {
  served = await JobsGateway.start({}, { leaseMs: 60_000 });
  client = new SiloClient(served.gateway.grpcAddress ?? "");
  const { shard_owners } = await client.call("GetClusterInfo", {});
  for (const { shard_id } of shard_owners)
    if ((await client.failureOf("GetJob", { shard: shard_id, id: "none" })) === "5 job not found")
      shard = shard_id;
  const job = { shard, task_group: "g", payload: { msgpack: pack({ n: 1 }) } };
  await client.call("Enqueue", { ...job, id: "a", priority: 5, metadata: { env: "prod" } });
  await client.call("Enqueue", { ...job, id: "b", priority: 50, start_at_ms: Date.now() + 3_600_000 });
  await client.call("Enqueue", { ...job, id: "held", priority: 20, limits: [LIMITED], task_group: "l" });
  await client.call("Enqueue", { ...job, id: "waits", priority: 30, limits: [LIMITED], task_group: "l" });
  await client.call("Enqueue", { ...job, id: "done", priority: 1, task_group: "d" });
  const { task } = await client.call("LeaseTask", { shard, id: "done", worker_id: "w" });
  await client.call("ReportOutcome", { shard, task_id: task!.id, success: { msgpack: pack("ok") } });
  await client.call("LeaseTasks", { worker_id: "w", max_tasks: 10, task_group: "l" });
}, 60_000);
afterAll(async () => {
  client.close();
  await served.stop();
});

async function rows(sql: string, parameters: Parameter[] = []): Promise<unknown[]> {
  const answer = await client.call("Query", { shard, sql, parameters });
  expect(answer.row_count).toBe(answer.rows.length);
  return answer.rows.map(({ msgpack }) => unpack(msgpack!) as unknown);
}

test("jobs are asked for with SQL, rows come as msgpack and columns with their types", async () => {
  const answer = await client.call("Query", {
    shard,
    sql: "SELECT id, priority, status_kind, payload, metadata FROM jobs WHERE id = 'a'",
  });
  expect(answer.columns).toEqual([
    { name: "id", data_type: "Utf8" },
    { name: "priority", data_type: "UInt8" },
    { name: "status_kind", data_type: "Utf8" },
    { name: "payload", data_type: "Utf8" },
    { name: "metadata", data_type: "Map" },
  ]);
  expect(unpack(answer.rows[0]!.msgpack!)).toEqual({
    id: "a",
    priority: 5,
    status_kind: "Waiting",
    payload: '{"n":1}',
    metadata: { env: "prod" },
  });
  expect(await rows("SELECT status_kind, COUNT(*) AS n FROM jobs GROUP BY status_kind ORDER BY 1")).toEqual([
    { status_kind: "Running", n: 1 },
    { status_kind: "Scheduled", n: 1 },
    { status_kind: "Succeeded", n: 1 },
    { status_kind: "Waiting", n: 2 },
  ]);
  const parameters = [PARAMETERS["default"]!, PARAMETERS["high"]!];
  expect(
    await rows("SELECT id FROM jobs WHERE tenant = $1 AND priority >= $2 ORDER BY id", parameters),
  ).toEqual([{ id: "b" }, { id: "held" }, { id: "waits" }]);
  expect(await rows("SELECT id FROM jobs WHERE array_contains(element_at(metadata, 'env'), 'prod')")).toEqual(
    [{ id: "a" }],
  );
  expect(await rows("SELECT id FROM jobs WHERE tenant = '-' AND status_kind = 'Succeeded'")).toEqual([
    { id: "done" },
  ]);
});

test("jobs that have left memory are found", async () => {
  await client.call("FlushShard", { shard });
  expect(await rows("SELECT id, status_kind FROM jobs WHERE tenant = '-' AND id = 'done'")).toEqual([
    { id: "done", status_kind: "Succeeded" },
  ]);
  expect(await rows("SELECT COUNT(*) AS n FROM jobs")).toEqual([{ n: 5 }]);
  expect(await rows("SELECT status_kind, cnt FROM tenant_counts ORDER BY status_kind")).toEqual([
    { status_kind: "Running", cnt: 1 },
    { status_kind: "Scheduled", cnt: 3 },
    { status_kind: "Succeeded", cnt: 1 },
  ]);
});

test("tasks and queues show what waits, and for what", async () => {
  expect(await rows("SELECT job_id, attempt, variant_type FROM tasks ORDER BY job_id")).toEqual([
    { job_id: "a", attempt: 1, variant_type: "RunAttempt" },
    { job_id: "b", attempt: 1, variant_type: "RunAttempt" },
    { job_id: "waits", attempt: 1, variant_type: "RequestTicket" },
  ]);
  expect(await rows("SELECT queue_name, entry_type, job_id FROM queues ORDER BY entry_type")).toEqual([
    { queue_name: "one-at-a-time", entry_type: "holder", job_id: "held" },
    { queue_name: "one-at-a-time", entry_type: "requester", job_id: "waits" },
  ]);
  expect(await rows("SELECT holders, requesters, max_concurrency FROM queue_counts")).toEqual([
    { holders: 1, requesters: 1, max_concurrency: 1 },
  ]);
});

describe("a statement that fails has the protocol's status", () => {
  test.each<[string, string, string, RegExp]>([
    ["no SQL", "SELECT FROM WHERE", "", /^3 SQL error: .*expected an expression/],
    ["an unknown column", "SELECT nonexistent FROM jobs", "", /^3 SQL error: .*no field named nonexistent/],
    ["an unknown table", "SELECT 1 FROM secrets", "", /^3 SQL error: .*table 'secrets' not found/],
    ["a missing parameter", "SELECT id FROM jobs WHERE id = $1", "", /^3 SQL error: .*\$1/],
    ["bytes as a parameter", "SELECT id FROM jobs WHERE id = $1", "bytes", /^12 SQL parameter error/],
    ["a join", "SELECT * FROM jobs a CROSS JOIN jobs b", "", /^12 SQL error: .*more than one table/],
    ["a change", "DELETE FROM jobs", "", /^12 SQL error: .*DELETE is not supported/],
  ])("%s", async (_, sql, parameter, failure) => {
    const parameters = parameter === "" ? [] : [PARAMETERS[parameter]!];
    expect(await client.failureOf("Query", { shard, sql, parameters })).toMatch(failure);
    expect(await client.stream({ shard, sql, parameters })).toMatch(failure);
  });

  test("an unknown shard", async () => {
    expect(await client.failureOf("Query", { shard: "99", sql: "SELECT * FROM jobs" })).toBe(
      "5 shard not found",
    );
  });
});

test("the same statements come over HTTP", async () => {
  const path = `/v1/jobs/shards/${shard}/query`;
  const sql = "SELECT id, priority FROM jobs WHERE priority >= $1 ORDER BY priority DESC LIMIT 2";
  expect(await served.call("POST", path, { sql, parameters: [10] })).toEqual({
    status: 200,
    body: {
      columns: [
        { name: "id", type: "Utf8" },
        { name: "priority", type: "UInt8" },
      ],
      rows: [
        ["b", 50],
        ["waits", 30],
      ],
    },
  });
  const refused = await served.call("POST", path, { sql: "SELECT 1 FROM jobs JOIN tasks" });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    501,
    expect.stringContaining("SQL_UNSUPPORTED"),
  ]);
});

test("QueryArrow gives Arrow streams, with a schema even when there are no rows", async () => {
  const sql = "SELECT id, priority, enqueue_time_ms, metadata, current_attempt FROM jobs ORDER BY id";
  const messages = (await client.stream({ shard, sql })) as Uint8Array[];
  const table = tableFromIPC(messages[0]!);
  expect(table.names).toEqual(["id", "priority", "enqueue_time_ms", "metadata", "current_attempt"]);
  expect(table.getChild("id").toArray()).toEqual(["a", "b", "done", "held", "waits"]);
  expect([...table.getChild("priority")]).toEqual([5, 50, 1, 20, 30]);
  expect([...table.getChild("current_attempt")]).toEqual([1, 1, null, null, 1]);
  const none = (await client.stream({ shard, sql: "SELECT id FROM jobs WHERE id = 'x'" })) as Uint8Array[];
  expect(none).toHaveLength(1);
  expect([tableFromIPC(none[0]!).numRows, tableFromIPC(none[0]!).names]).toEqual([0, ["id"]]);
});

test("operators' methods answer with what comes nearest, or refuse", async () => {
  expect(await client.call("ConfigureShard", { shard })).toEqual({ previous_ring: "", current_ring: "" });
  expect(await client.failureOf("ConfigureShard", { shard, placement_ring: "gpu" })).toMatch(
    /^9 placement ring 'gpu' has no members/,
  );
  expect(await client.failureOf("ForceReleaseShard", { shard })).toMatch(/^9 shard is held by a live node/);
  expect(await client.failureOf("ForceReleaseShard", { shard: "99" })).toBe("5 shard not found");
  const storage = await client.call("GetShardStorageInfo", { shard });
  expect(storage).toMatchObject({ l0_sst_count: 1, sorted_run_count: 1 });
  expect(storage.total_sorted_run_size).toBe(storage.sorted_runs[0]!.estimated_size);
  const { dump, task_count } = await client.call("DumpTasks", {});
  expect(dump).toMatch(/^\w+ \d+$/m);
  expect(task_count).toBeGreaterThan(0);
  const { owned_shards } = await client.call("GetNodeInfo", {});
  expect(owned_shards.find(({ shard_id }) => shard_id === shard)).toMatchObject({
    total_jobs: 5,
    completed_jobs: 1,
  });
  expect(await client.failureOf("CompactShard", { shard })).toBe(
    "12 CompactShard is not supported by this server",
  );
});
