/** What operators and workers do over `silo.v1` besides a job's plain life: states that forbid it, limits that float, leases of others, shards. */
import type { SiloRequest } from "@keelson/jobs/silo";
import { pack } from "msgpackr";
import { afterAll, beforeAll, expect, test } from "vitest";
import { JobsGateway } from "./jobs-gateway.ts";
import { SiloClient, type SiloName as Name } from "./silo-client.ts";

const HOUR_MS = 3_600_000;
const value = (data: unknown) => ({ msgpack: pack(data) });

let served: JobsGateway;
let client: SiloClient;
/** Where callers without a tenant belong. */
let shard = "";

beforeAll(async () => {
  served = await JobsGateway.start({}, { leaseMs: 60_000 });
  client = new SiloClient(served.gateway.grpcAddress ?? "");
  for (const { shard_id: each } of (await client.call("GetClusterInfo", {})).shard_owners)
    if ((await failureOf("GetJob", { shard: each, id: "none" })) === "5 job not found") shard = each;
}, 60_000);
afterAll(async () => {
  client.close();
  await served.stop();
});

const call = <M extends Name>(method: M, request: Partial<SiloRequest<M>>) => client.call(method, request);
const failureOf = <M extends Name>(method: M, request: Partial<SiloRequest<M>>) =>
  client.failureOf(method, request);

async function enqueue(id: string, more: Partial<SiloRequest<"Enqueue">> = {}): Promise<void> {
  await call("Enqueue", { shard, id, task_group: "g", payload: value(1), ...more });
}

async function leased(id: string, worker = "w"): Promise<string> {
  const { task } = await call("LeaseTask", { shard, id, worker_id: worker });
  return task!.id;
}

const statusOf = async (id: string): Promise<number> => (await call("GetJob", { shard, id })).status;

test("a job of later is expedited, and one that is due, runs or has ended is not", async () => {
  await enqueue("later", { start_at_ms: Date.now() + HOUR_MS });
  await call("ExpediteJob", { shard, id: "later" });
  expect(await failureOf("ExpediteJob", { shard, id: "later" })).toMatch(/^9 /);
  const task = await leased("later");
  expect(await failureOf("ExpediteJob", { shard, id: "later" })).toMatch(/^9 /);
  await call("ReportOutcome", { shard, task_id: task, success: value("ok") });
  expect(await failureOf("ExpediteJob", { shard, id: "later" })).toMatch(/^9 /);
  expect(await failureOf("ExpediteJob", { shard, id: "nowhere" })).toBe("5 job not found");
});

test("a job is deleted once it has ended, and not before", async () => {
  await enqueue("gone");
  expect(await failureOf("DeleteJob", { shard, id: "gone" })).toMatch(/^13 .*cannot be deleted/);
  const task = await leased("gone");
  expect(await failureOf("DeleteJob", { shard, id: "gone" })).toMatch(/^13 .*cannot be deleted/);
  await call("ReportOutcome", { shard, task_id: task, success: value("ok") });
  await call("DeleteJob", { shard, id: "gone" });
  expect(await failureOf("GetJob", { shard, id: "gone" })).toBe("5 job not found");
  expect(await failureOf("DeleteJob", { shard, id: "gone" })).toBe("5 job not found");
});

test("what has not ended has no result, and what has cannot be cancelled or restarted", async () => {
  await enqueue("one");
  expect(await failureOf("GetJobResult", { shard, id: "one" })).toMatch(/^9 job is not complete/);
  const task = await leased("one");
  expect(await failureOf("GetJobResult", { shard, id: "one" })).toMatch(/^9 .*Running/);
  expect(await failureOf("RestartJob", { shard, id: "one" })).toMatch(/^9 /);
  expect(await failureOf("LeaseTask", { shard, id: "one", worker_id: "x" })).toMatch(/^9 /);
  await call("ReportOutcome", { shard, task_id: task, success: value("ok") });
  expect(await failureOf("CancelJob", { shard, id: "one" })).toMatch(/^9 /);
  expect(await failureOf("RestartJob", { shard, id: "one" })).toMatch(/^9 /);
  await enqueue("two");
  await call("CancelJob", { shard, id: "two" });
  expect(await failureOf("CancelJob", { shard, id: "two" })).toMatch(/^9 /);
  expect((await call("GetJobResult", { shard, id: "two" })).cancelled).toBeDefined();
});

test("a heartbeat is the lease's owner's, and of a lease that there is", async () => {
  await enqueue("beat");
  const task = await leased("beat", "mine");
  expect(await failureOf("Heartbeat", { shard, worker_id: "another's", task_id: task })).toBe(
    "9 lease owner mismatch",
  );
  expect(await call("Heartbeat", { shard, worker_id: "mine", task_id: task })).toMatchObject({
    cancelled: false,
  });
  await call("ReportOutcome", { shard, task_id: task, success: value("ok") });
  expect(await failureOf("Heartbeat", { shard, worker_id: "mine", task_id: task })).toBe("5 lease not found");
  expect(await failureOf("Heartbeat", { shard, worker_id: "mine", task_id: "no number" })).toBe(
    "5 lease not found",
  );
});

test("a limit that floats asks a worker for its maximum, and follows it", async () => {
  const floating_concurrency = {
    key: "tokens",
    default_max_concurrency: 1,
    refresh_interval_ms: 1,
    metadata: { of: "api" },
  };
  const limits = [{ floating_concurrency, concurrency: undefined, rate_limit: undefined }];
  for (const id of ["f1", "f2", "f3"]) await enqueue(id, { task_group: "floats", limits });
  const ask = () => call("LeaseTasks", { shard, worker_id: "w", max_tasks: 10, task_group: "floats" });
  let [first, asked] = [await ask(), [] as Awaited<ReturnType<typeof ask>>["refresh_tasks"]];
  expect(first.tasks).toHaveLength(1);
  for (let tries = 0; tries < 100 && asked.length === 0; tries += 1) {
    asked = first.refresh_tasks;
    if (asked.length > 0) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
    first = await ask();
  }
  expect(asked).toMatchObject([{ queue_key: "tokens", current_max_concurrency: 1, metadata: { of: "api" } }]);
  const task_id = asked[0]!.id;
  expect(await failureOf("ReportRefreshOutcome", { shard, task_id })).toBe("3 missing outcome");
  await call("ReportRefreshOutcome", { shard, task_id, success: { new_max_concurrency: 3 } });
  expect((await ask()).tasks).toHaveLength(2);
});

test("a tenant's holders are dropped, and its jobs wait again", async () => {
  await enqueue("held");
  const task = await leased("held");
  const { holders_dropped } = await call("DropTenantHolders", { shard });
  expect(holders_dropped).toBeGreaterThan(0);
  expect(await failureOf("ReportOutcome", { shard, task_id: task, success: value(1) })).toBe(
    "5 lease not found",
  );
  expect(await statusOf("held")).toBe(0);
});

test("a node and its shards say what they hold", async () => {
  expect(await call("FlushShard", { shard })).toEqual({ status: "flushed" });
  const { owned_shards } = await call("GetNodeInfo", {});
  const own = owned_shards.find((each) => each.shard_id === shard);
  expect(owned_shards).toHaveLength(4);
  expect(own?.total_jobs).toBeGreaterThan(5);
  expect(own?.completed_jobs).toBeGreaterThan(2);
  const storage = await call("GetShardStorageInfo", { shard });
  expect(storage.sorted_run_count).toBeGreaterThan(0);
  expect(storage.sorted_runs).toHaveLength(storage.sorted_run_count);
  expect((await call("DumpTasks", {})).task_count).toBeGreaterThan(0);
  for (const method of ["FlushShard", "GetShardStorageInfo", "ForceReleaseShard", "ConfigureShard"] as const)
    expect(await failureOf(method, { shard: "none" })).toBe("5 shard not found");
});

test("what there is not of shards is refused", async () => {
  expect(await failureOf("ConfigureShard", { shard, placement_ring: "gpu" })).toMatch(/^9 .*gpu/);
  expect(await call("ConfigureShard", { shard, placement_ring: "" })).toMatchObject({ current_ring: "" });
  expect(await failureOf("ForceReleaseShard", { shard })).toMatch(/^9 .*held by a live node/);
  expect(await failureOf("CompactShard", { shard })).toMatch(/^12 /);
  expect(await failureOf("RequestSplit", { shard_id: shard, split_point: "" })).toMatch(/^3 /);
  expect(await failureOf("RequestSplit", { shard_id: shard, split_point: "middle" })).toMatch(/^3 /);
  expect(await failureOf("RequestSplit", { shard_id: "none", split_point: "4000000000000001" })).toBe(
    "5 shard not found",
  );
});

test("a shard is split at a hash, and its jobs are found in the half that has their tenant", async () => {
  const before = await call("GetClusterInfo", {});
  const owner = before.shard_owners.find((each) => each.shard_id === shard)!;
  const middle = BigInt(`0x${owner.range_start || "0"}`) + 2n ** 61n;
  const split_point = middle.toString(16).padStart(16, "0");
  const { left_child_id, right_child_id } = await call("RequestSplit", { shard_id: shard, split_point });
  expect(await call("GetSplitStatus", { shard_id: shard })).toMatchObject({ in_progress: false });
  const halves = [left_child_id, right_child_id];
  for (const end = performance.now() + 30_000; ;) {
    const { shard_owners } = await call("GetClusterInfo", {});
    const ids = shard_owners.map((each) => each.shard_id);
    if (shard_owners.length === 5 && halves.every((half) => ids.includes(half))) break;
    if (performance.now() > end) throw new Error(`the halves are not listed: ${ids.join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  expect(await failureOf("GetJob", { shard, id: "one" })).toBe("5 shard not found");
  const found: number[] = [];
  for (const half of halves)
    if ((await failureOf("GetJob", { shard: half, id: "one" })) === "")
      found.push((await call("GetJob", { shard: half, id: "one" })).status);
  expect(found).toEqual([2]);
}, 60_000);
