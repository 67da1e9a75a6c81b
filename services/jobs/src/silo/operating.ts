/**
 * What `silo.v1` has for operators. Its server keeps shards on permanent leases, places them by named rings and shows the tree that its storage is; here leases end
 * by themselves, there is one ring, and storage is a journal and runs of pages. Each answer says what comes nearest, and none pretends.
 */
import { GrpcFailure } from "@keelson/runtime";
import type { EngineStats } from "../engine/index.ts";
import type { QueueStats, StorageView } from "../storage/durable-queue.ts";
import { GRPC, shardNotFound } from "./failures.ts";
import type { SiloAnswer, SiloRequest } from "./messages.ts";
import type { SiloCall } from "./service.ts";

/** Clients see one node: the gateway. */
export const GATEWAY_NODE = "gateway";
const HELD_WITHIN_MS = 2_000;

type ShardStats = EngineStats & QueueStats;

export async function nodeInfo(call: SiloCall): Promise<SiloAnswer<"GetNodeInfo">> {
  const owned = call.calls.map.ranges.map(async ({ id }) => {
    const { jobs, finishedInPages } = (await call.ask(id, "read", "stats", {})) as ShardStats;
    const completed = jobs.succeeded + jobs.failed + jobs.cancelled + finishedInPages;
    return {
      shard_id: id,
      total_jobs: jobs.scheduled + jobs.running + completed,
      completed_jobs: completed,
      cleanup_status: "CompactionDone",
      created_at_ms: 0,
      cleanup_completed_at_ms: 0,
    };
  });
  return { node_id: GATEWAY_NODE, owned_shards: await Promise.all(owned), placement_rings: [] };
}

/** There is only the default ring, whose name is empty. */
export function configureShard(
  { shard, placement_ring: ring = "" }: SiloRequest<"ConfigureShard">,
  call: SiloCall,
): SiloAnswer<"ConfigureShard"> {
  if (!call.calls.map.ranges.some(({ id }) => id === shard)) throw shardNotFound();
  if (ring !== "")
    throw new GrpcFailure(
      GRPC.failedPrecondition,
      `placement ring '${ring}' has no members: every node of this fleet is in the default ring`,
    );
  return { previous_ring: "", current_ring: "" };
}

/** A lost holder's tenure ends with its session, so there is never one to release by force; a live holder's is not taken from it. */
export async function forceRelease(
  { shard }: SiloRequest<"ForceReleaseShard">,
  call: SiloCall,
): Promise<SiloAnswer<"ForceReleaseShard">> {
  if (!call.calls.map.ranges.some(({ id }) => id === shard)) throw shardNotFound();
  const terms = { timeoutMs: Math.min(HELD_WITHIN_MS, call.grpc.timeoutMs) };
  const answered = await call.calls.byShard(shard, "read", "stats", {}, terms).then(
    () => true,
    () => false,
  );
  if (answered)
    throw new GrpcFailure(
      GRPC.failedPrecondition,
      "shard is held by a live node, which answers: drain that node to move it; nothing has to be released after a node is lost",
    );
  return { released: true };
}

/** Level 0 is the journal since the last checkpoint; sorted runs are those of finished jobs. */
export async function storageInfo(
  { shard }: SiloRequest<"GetShardStorageInfo">,
  call: SiloCall,
): Promise<SiloAnswer<"GetShardStorageInfo">> {
  const stats = (await call.ask(shard, "read", "storage", {})) as StorageView;
  return {
    l0_sst_count: stats.journals,
    total_l0_size: stats.journalBytes,
    sorted_run_count: stats.runs.length,
    total_sorted_run_size: stats.runs.reduce((sum, { bytes }) => sum + bytes, 0),
    sorted_runs: stats.runs.map(({ sequence, pages, bytes }) => ({
      id: sequence,
      sst_count: pages,
      estimated_size: bytes,
    })),
  };
}

/** Node knows no list of asynchronous tasks; what keeps this process busy is the nearest there is. */
export function dumpTasks(): SiloAnswer<"DumpTasks"> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const lines = [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([kind, count]) => `${kind} ${count}`);
  const all = [...counts.values()].reduce((sum, each) => sum + each, 0);
  return { dump: `${lines.join("\n")}\n`, task_count: all };
}
