/** A client of `silo.v1`, built from the protocol's tables, against the gateway: statuses, texts and a job's whole life. */
import type { ServiceError } from "@grpc/grpc-js";
import type { SiloRequest } from "@keelson/jobs/silo";
import { pack, unpack } from "msgpackr";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JobsGateway } from "./jobs-gateway.ts";
import { SiloClient, type SiloName as Name } from "./silo-client.ts";

let served: JobsGateway;
let client: SiloClient;
/** Where callers without a tenant belong. */
let shard = "";
let shards: string[] = [];

beforeAll(async () => {
  served = await JobsGateway.start({}, { leaseMs: 60_000 });
  client = new SiloClient(served.gateway.grpcAddress ?? "");
  const info = await call("GetClusterInfo", {});
  shards = info.shard_owners.map((owner) => owner.shard_id);
  for (const each of shards) {
    const failure = await failureOf("GetJob", { shard: each, id: "none" });
    if (failure === "5 job not found") shard = each;
  }
}, 60_000);
afterAll(async () => {
  client.close();
  await served.stop();
});

const call = <M extends Name>(method: M, request: Partial<SiloRequest<M>>) => client.call(method, request);
const failureOf = <M extends Name>(method: M, request: Partial<SiloRequest<M>>) =>
  client.failureOf(method, request);

const value = (data: unknown) => ({ msgpack: pack(data) });

function enqueue(id: string, more: Partial<SiloRequest<"Enqueue">> = {}): Promise<{ id: string }> {
  return call("Enqueue", { shard, id, priority: 50, task_group: "g", payload: value({ n: 1 }), ...more });
}

test("the cluster's shards cover all hashes, and this address owns them", async () => {
  const info = await call("GetClusterInfo", {});
  expect(info.num_shards).toBe(4);
  expect(info.shard_owners.map(({ range_start, range_end }) => [range_start, range_end])).toEqual([
    ["", "4000000000000000"],
    ["4000000000000000", "8000000000000000"],
    ["8000000000000000", "c000000000000000"],
    ["c000000000000000", ""],
  ]);
  expect(new Set(info.shard_owners.map(({ grpc_addr }) => grpc_addr))).toEqual(
    new Set([served.gateway.grpcAddress]),
  );
});

test("a job is enqueued, leased, heartbeaten, completed and read", async () => {
  expect(
    await enqueue("life", {
      metadata: { k: "v" },
      limits: [
        {
          concurrency: { key: "c", max_concurrency: 2 },
          rate_limit: undefined,
          floating_concurrency: undefined,
        },
      ],
    }),
  ).toEqual({ id: "life" });
  const { tasks } = await call("LeaseTasks", { worker_id: "w", max_tasks: 10, task_group: "g" });
  expect(tasks).toHaveLength(1);
  const [task] = tasks;
  expect({ ...task!, metadata: { ...task!.metadata } }).toMatchObject({
    job_id: "life",
    attempt_number: 1,
    relative_attempt_number: 1,
    is_last_attempt: true,
    metadata: { k: "v" },
    shard,
    task_group: "g",
    lease_ms: 60_000,
    priority: 50,
  });
  expect(unpack(task!.payload!.msgpack!)).toEqual({ n: 1 });
  expect(await call("Heartbeat", { shard, worker_id: "w", task_id: task!.id })).toMatchObject({
    cancelled: false,
  });
  expect(await failureOf("Heartbeat", { shard, worker_id: "other", task_id: task!.id })).toBe(
    "9 lease owner mismatch",
  );
  expect(await failureOf("GetJobResult", { shard, id: "life" })).toBe(
    "9 job is not complete: status is Running",
  );
  await call("ReportOutcome", { shard, task_id: task!.id, success: value({ ok: true }) });
  expect(await failureOf("ReportOutcome", { shard, task_id: task!.id, success: value(1) })).toBe(
    "5 lease not found",
  );
  const result = await call("GetJobResult", { shard, id: "life" });
  expect([result.status, unpack(result.success_data!.msgpack!)]).toEqual([2, { ok: true }]);
  const job = await call("GetJob", { shard, id: "life", include_attempts: true });
  expect(job).toMatchObject({ status: 2, task_group: "g", attempts: [{ attempt_number: 1, status: 1 }] });
});

test("a failure keeps its code and data, and a restart runs it again", async () => {
  await enqueue("fails");
  const lease = async () => (await call("LeaseTask", { shard, id: "fails", worker_id: "w" })).task!;
  await call("ReportOutcome", {
    shard,
    task_id: (await lease()).id,
    failure: { code: "BOOM", data: value("why") },
  });
  const result = await call("GetJobResult", { shard, id: "fails" });
  expect([result.status, result.failure!.error_code, unpack(result.failure!.error_data!.msgpack!)]).toEqual([
    3,
    "BOOM",
    "why",
  ]);
  await call("RestartJob", { shard, id: "fails" });
  expect(await lease()).toMatchObject({ attempt_number: 2, relative_attempt_number: 1 });
});

test("a running job that is cancelled hears of it by heartbeat", async () => {
  await enqueue("cancelled");
  const { task } = await call("LeaseTask", { shard, id: "cancelled", worker_id: "w" });
  await call("CancelJob", { shard, id: "cancelled" });
  expect(await call("Heartbeat", { shard, worker_id: "w", task_id: task!.id })).toMatchObject({
    cancelled: true,
  });
  await call("ReportOutcome", { shard, task_id: task!.id, cancelled: {} });
  expect((await call("GetJobResult", { shard, id: "cancelled" })).status).toBe(4);
});

test("jobs are imported with their past, each for itself", async () => {
  const common = {
    shard,
    priority: 10,
    enqueue_time_ms: 1_000,
    start_at_ms: 0,
    limits: [],
    tenant: undefined,
    metadata: {},
    task_group: "g",
    retry_policy: undefined,
    payload: value(1),
  };
  const past = {
    status: 1,
    started_at_ms: 2_000,
    finished_at_ms: 3_000,
    result: value("done"),
    error_code: undefined,
    error_data: undefined,
  };
  const { results } = await call("ImportJobs", {
    jobs: [
      { ...common, id: "old", attempts: [past] },
      { ...common, id: "", attempts: [] },
    ],
  });
  expect(results).toMatchObject([
    { id: "old", success: true, status: 2 },
    { success: false, error: "job id is required for import" },
  ]);
});

describe("failures have the protocol's status and text", () => {
  test.each<[string, Name, object, string]>([
    ["an unknown shard", "GetJob", { shard: "99", id: "x" }, "5 shard not found"],
    ["an unknown job", "CancelJob", { id: "nowhere" }, "5 job not found"],
    ["an unknown lease", "ReportOutcome", { task_id: "123456", success: value(1) }, "5 lease not found"],
    ["no outcome", "ReportOutcome", { task_id: "1" }, "3 missing outcome"],
    ["no task group", "Enqueue", { id: "a" }, "3 task_group is required"],
    [
      "a priority of 100",
      "Enqueue",
      { id: "a", task_group: "g", priority: 100 },
      "3 priority must be between 0 and 99",
    ],
    ["ResetShards outside dev mode", "ResetShards", {}, "7 ResetShards is only available in dev mode"],
  ])("%s", async (_, method, request, failure) => {
    const where = "shard" in request || method === "ResetShards" ? {} : { shard };
    expect(await failureOf(method, { ...where, ...request } as never)).toBe(failure);
  });

  test("a tenant on the wrong shard", async () => {
    const wrong = shards.find((each) => each !== shard)!;
    expect(await failureOf("GetJob", { shard: wrong, id: "x" })).toMatch(
      /^9 .*is not within shard .* range.*refresh topology and retry$/,
    );
  });

  test("the same id with other content", async () => {
    await enqueue("twice");
    expect(await enqueue("twice")).toEqual({ id: "twice" });
    expect(await failureOf("Enqueue", { shard, id: "twice", task_group: "g", payload: value(2) })).toMatch(
      /^6 job already exists/,
    );
  });

  test("a message that is no protobuf", async () => {
    const failure = await client.raw("/silo.v1.Silo/Enqueue", Buffer.from([0xff, 0xff, 0xff]));
    expect([3, 13]).toContain((failure as ServiceError).code);
  });
});

test("Gubernator's V1 counts for everybody", async () => {
  const ask = async (bytes: Buffer): Promise<Buffer> =>
    (await client.raw("/pb.gubernator.V1/GetRateLimits", bytes)) as Buffer;
  // name "n", unique_key "k", hits 1, limit 2, duration 60000.
  const request = Buffer.from("0a0e0a016e12016b1801200228e0d403", "hex");
  const statuses: string[] = [];
  for (let index = 0; index < 3; index += 1) statuses.push((await ask(request)).toString("hex").slice(0, 12));
  // remaining 1, remaining 0, then status 1: over the limit.
  expect(new Set(statuses).size).toBe(3);
  expect(statuses[2]).toMatch(/^0a..0801/);
});

test("the gateway's gRPC says of itself and of each service that it serves", async () => {
  const check = async (service: string) => {
    const asked =
      service === "" ? Buffer.alloc(0) : Buffer.from([0x0a, service.length, ...Buffer.from(service)]);
    const answer = await client.raw("/grpc.health.v1.Health/Check", asked);
    return Buffer.isBuffer(answer) ? answer.toString("hex") : answer.code;
  };
  expect(await check("")).toBe("0801");
  expect(await check("silo.v1.Silo")).toBe("0801");
  expect(await check("pb.gubernator.V1")).toBe("0801");
  expect(await check("nobody.v1")).toBe(5);
});
