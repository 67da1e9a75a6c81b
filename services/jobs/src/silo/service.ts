/**
 * `silo.v1` on top of the fleet: a client of that protocol works unmodified. The gateway that serves it stands for every shard, so no client has to be redirected:
 * it is told that this address owns all of them, and requests go on to the holder from here. What the protocol has and this has not is in docs/reference/jobs.md.
 */
import { randomUUID } from "node:crypto";
import {
  GrpcFailure,
  RouterError,
  type GrpcCall,
  type GrpcMethod,
  type GrpcService,
  type Scope,
} from "@keelson/runtime";
import { ShardCalls } from "../client/shard-calls.ts";
import {
  isFinal,
  isRefusal,
  JOB_LIMITS,
  type Command,
  type Enqueued,
  type JobView,
  type LeasedTask,
  type Leased,
  type Beat,
  type Refusal,
} from "../engine/index.ts";
import { hex } from "../shard/ranges.ts";
import { contentProblem, siloJob, siloRefresh, siloResult, siloTask, specOf, tenantOf } from "./convert.ts";
import { GRPC, callFailure, refusalFailure, shardNotFound } from "./failures.ts";
import { importJobs } from "./importing.ts";
import { configureShard, dumpTasks, forceRelease, GATEWAY_NODE, nodeInfo, storageInfo } from "./operating.ts";
import { query, queryArrow } from "./query.ts";
import { SILO, type SiloAnswer, type SiloRequest } from "./messages.ts";

type Name = keyof typeof SILO;
type Handler<M extends Name> = (request: SiloRequest<M>, call: SiloCall) => Promise<SiloAnswer<M>>;

/** One gRPC call with the fleet behind it. */
export class SiloCall {
  readonly calls: ShardCalls;
  readonly grpc: GrpcCall;

  constructor(grpc: GrpcCall) {
    this.grpc = grpc;
    this.calls = new ShardCalls(grpc.access);
  }

  /** Where the caller reached this server; it is told to come back here for every shard. */
  get address(): string {
    return this.grpc.host;
  }

  async ask(
    shard: string,
    mode: "read" | "write",
    method: string,
    body: unknown,
    patienceMs?: number,
  ): Promise<unknown> {
    if (!this.calls.map.ranges.some(({ id }) => id === shard)) throw shardNotFound();
    try {
      return await this.calls.byShard(shard, mode, method, body, {
        timeoutMs: this.grpc.timeoutMs,
        patienceMs,
      });
    } catch (error) {
      throw callFailure(error);
    }
  }

  async command<T>(shard: string, command: Command, patienceMs?: number): Promise<T> {
    const answer = await this.ask(shard, "write", "execute", command, patienceMs);
    if (isRefusal(answer)) throw refusalFailure(answer);
    return answer as T;
  }
}

const WAIT_MS = 25;
const LEASE_TASKS_MAX = 10_000;
/** How long a lease of any shard waits for one that nobody holds. */
const HOLDER_WITHIN_MS = 50;

async function enqueue(request: SiloRequest<"Enqueue">, call: SiloCall): Promise<SiloAnswer<"Enqueue">> {
  const problem = contentProblem(request);
  if (problem !== undefined) throw new GrpcFailure(GRPC.invalidArgument, problem);
  const spec = specOf(request, request.id === "" ? randomUUID() : request.id);
  const [answer] = await call.command<readonly (Enqueued | Refusal)[]>(request.shard, {
    kind: "enqueue",
    jobs: [spec],
  });
  if (answer === undefined || isRefusal(answer))
    throw answer === undefined ? new GrpcFailure(GRPC.unavailable, "no answer") : refusalFailure(answer);
  return { id: answer.id };
}

async function view(
  request: { shard: string; id: string; tenant: string | undefined },
  call: SiloCall,
): Promise<JobView> {
  const name = { tenant: tenantOf(request.tenant), id: request.id };
  const found = (await call.ask(request.shard, "read", "get", name)) as JobView | undefined | null;
  if (found === undefined || found === null) throw new GrpcFailure(GRPC.notFound, "job not found");
  return found;
}

function steer(kind: "cancel" | "restart" | "expedite" | "delete") {
  return async (
    request: { shard: string; id: string; tenant: string | undefined },
    call: SiloCall,
  ): Promise<object> => {
    const name = { tenant: tenantOf(request.tenant), id: request.id };
    const answer = await call.ask(request.shard, "write", "execute", { kind, ...name });
    if (!isRefusal(answer)) return {};
    // What the protocol documents for the deletion of a job that has not ended.
    if (kind === "delete" && answer.refused === "WRONG_STATE")
      throw new GrpcFailure(GRPC.internal, answer.message);
    throw refusalFailure(answer);
  };
}

async function result(
  request: SiloRequest<"GetJobResult">,
  call: SiloCall,
): Promise<SiloAnswer<"GetJobResult">> {
  const found = await view(request, call);
  if (!isFinal(found.status)) {
    const status = found.status === "running" ? "Running" : "Scheduled";
    throw new GrpcFailure(GRPC.failedPrecondition, `job is not complete: status is ${status}`);
  }
  return siloResult(found);
}

async function leaseTask(
  request: SiloRequest<"LeaseTask">,
  call: SiloCall,
): Promise<SiloAnswer<"LeaseTask">> {
  if (request.worker_id === "") throw new GrpcFailure(GRPC.invalidArgument, "worker_id is required");
  const name = { tenant: tenantOf(request.tenant), id: request.id, worker: request.worker_id };
  const task = await call.command<LeasedTask>(request.shard, { kind: "leaseJob", ...name });
  return { task: siloTask(task, request.shard) };
}

/**
 * Shards in any order, until there are enough; then once more after a moment, as the protocol's server does. One that nobody holds just now does not keep the
 * others' tasks from a worker, and what was leased already is never lost to a failure: it would be nobody's until the leases end.
 */
async function leaseTasks(
  request: SiloRequest<"LeaseTasks">,
  call: SiloCall,
): Promise<SiloAnswer<"LeaseTasks">> {
  const { shard = "", task_group: group } = request;
  if (group === "") throw new GrpcFailure(GRPC.invalidArgument, "task_group is required");
  const max = Math.min(request.max_tasks, LEASE_TASKS_MAX);
  const all = shard === "";
  const ids = all ? shuffled(call.calls.map.ranges.map(({ id }) => id)) : [shard];
  const tasks: ReturnType<typeof siloTask>[] = [];
  const refreshes: ReturnType<typeof siloRefresh>[] = [];
  let failures: unknown[] = [];
  let bytes = 0;
  for (const round of [0, 1]) {
    failures = [];
    for (const id of ids) {
      if (tasks.length >= max || bytes >= JOB_LIMITS.leaseBytesMax) break;
      const asked = { kind: "lease", group, worker: request.worker_id, max: max - tasks.length } as const;
      try {
        // oxlint-disable-next-line no-await-in-loop -- how much is wanted depends on what the last shard gave.
        const leased = await call.command<Leased>(id, asked, all ? HOLDER_WITHIN_MS : undefined);
        for (const task of leased.tasks) {
          tasks.push(siloTask(task, id));
          bytes += task.spec.payload.length;
        }
        for (const refresh of leased.refreshes) refreshes.push(siloRefresh(refresh, id));
      } catch (error) {
        if (!isAboutShard(error)) throw error;
        failures.push(error);
      }
    }
    if (tasks.length + refreshes.length > 0 || round > 0) break;
    // oxlint-disable-next-line no-await-in-loop -- as above.
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
  if (failures.length === ids.length && ids.length > 0 && tasks.length + refreshes.length === 0)
    throw failures[0];
  return { tasks, refresh_tasks: refreshes };
}

/** It says nothing about the request, only about the shard that was asked: nobody holds it, or it was split a moment ago. */
function isAboutShard(error: unknown): boolean {
  if (error instanceof GrpcFailure)
    return error.status === GRPC.unavailable || error.status === GRPC.notFound;
  return error instanceof RouterError;
}

async function report(request: SiloRequest<"ReportOutcome">, call: SiloCall): Promise<object> {
  const { success, failure, cancelled, task_id } = request;
  const outcome =
    success !== undefined
      ? ({ kind: "succeeded", result: success.msgpack ?? new Uint8Array(0) } as const)
      : failure !== undefined
        ? ({ kind: "failed", code: failure.code, data: failure.data?.msgpack ?? new Uint8Array(0) } as const)
        : cancelled !== undefined
          ? ({ kind: "cancelled" } as const)
          : undefined;
  if (outcome === undefined) throw new GrpcFailure(GRPC.invalidArgument, "missing outcome");
  const reports = [{ task: taskOf(task_id), outcome }];
  const [answer] = await call.command<readonly unknown[]>(request.shard, { kind: "report", reports });
  if (isRefusal(answer)) throw refusalFailure(answer);
  return {};
}

async function reportRefresh(request: SiloRequest<"ReportRefreshOutcome">, call: SiloCall): Promise<object> {
  const { success, failure, task_id } = request;
  if (success === undefined && failure === undefined)
    throw new GrpcFailure(GRPC.invalidArgument, "missing outcome");
  const outcome =
    success === undefined
      ? { failed: `${failure?.code}: ${failure?.message}` }
      : { max: success.new_max_concurrency };
  await call.command(request.shard, { kind: "reportRefresh", task: taskOf(task_id), outcome });
  return {};
}

async function heartbeat(
  request: SiloRequest<"Heartbeat">,
  call: SiloCall,
): Promise<SiloAnswer<"Heartbeat">> {
  const task = taskOf(request.task_id);
  const [beat] = await call.command<readonly Beat[]>(request.shard, {
    kind: "heartbeat",
    worker: request.worker_id,
    tasks: [task],
  });
  if (beat === undefined || beat.state === "lost") {
    const worker = await call.ask(request.shard, "read", "leaseWorker", { task });
    throw refusalFailure({
      refused: typeof worker === "string" ? "LEASE_OWNER_MISMATCH" : "LEASE_NOT_FOUND",
      message: "",
    });
  }
  return { cancelled: beat.state === "cancel", cancelled_at_ms: beat.cancelledAtMs };
}

async function requestSplit(
  request: SiloRequest<"RequestSplit">,
  call: SiloCall,
): Promise<SiloAnswer<"RequestSplit">> {
  const { shard_id: shard, split_point: at } = request;
  if (at === "") throw new GrpcFailure(GRPC.invalidArgument, "split_point is required");
  if (!/^[0-9a-f]{16}$/.test(at))
    throw new GrpcFailure(
      GRPC.invalidArgument,
      "invalid split: the split point must be a hash of 16 hexadecimal digits",
    );
  const halves = (await call.ask(shard, "write", "split", { at })) as { left: string; right: string };
  return { left_child_id: halves.left, right_child_id: halves.right, phase: "SplitComplete" };
}

function clusterInfo(call: SiloCall): SiloAnswer<"GetClusterInfo"> {
  const { ranges } = call.calls.map;
  const here = { grpc_addr: call.address, node_id: GATEWAY_NODE };
  return {
    num_shards: ranges.length,
    shard_owners: ranges.map(({ id, first, last }, index) => ({
      shard_id: id,
      ...here,
      // The protocol's ranges have no ends at the ends.
      range_start: index === 0 ? "" : hex(first),
      range_end: index === ranges.length - 1 ? "" : hex(last + 1n),
      placement_ring: undefined,
    })),
    this_node_id: GATEWAY_NODE,
    this_grpc_addr: call.address,
    members: [{ ...here, placement_rings: [] }],
  };
}

const HANDLERS: { readonly [M in Name]?: Handler<M> } = {
  GetClusterInfo: (_, call) => Promise.resolve(clusterInfo(call)),
  GetNodeInfo: (_, call) => nodeInfo(call),
  Enqueue: enqueue,
  GetJob: async (request, call) => siloJob(await view(request, call), request.include_attempts),
  GetJobResult: result,
  DeleteJob: steer("delete"),
  CancelJob: steer("cancel"),
  RestartJob: steer("restart"),
  ExpediteJob: steer("expedite"),
  DropTenantHolders: async (request, call) => {
    const tenant = tenantOf(request.tenant);
    const { dropped } = await call.command<{ dropped: number }>(request.shard, {
      kind: "dropLeases",
      tenant,
    });
    return { holders_dropped: dropped };
  },
  LeaseTask: leaseTask,
  LeaseTasks: leaseTasks,
  ReportOutcome: report,
  ReportRefreshOutcome: reportRefresh,
  Heartbeat: heartbeat,
  ImportJobs: importJobs,
  RequestSplit: requestSplit,
  // A split is one request here: when somebody can ask, it is over or was never begun.
  GetSplitStatus: () => Promise.resolve({ in_progress: false }),
  Query: query,
  ConfigureShard: (request, call) => Promise.resolve(configureShard(request, call)),
  ForceReleaseShard: forceRelease,
  GetShardStorageInfo: storageInfo,
  DumpTasks: () => Promise.resolve(dumpTasks()),
  ResetShards: () =>
    Promise.reject(new GrpcFailure(GRPC.permissionDenied, "ResetShards is only available in dev mode")),
  FlushShard: async (request, call) => {
    await call.ask(request.shard, "write", "checkpoint", {});
    return { status: "flushed" };
  },
};

const READS: ReadonlySet<string> = new Set([
  "GetSplitStatus",
  "GetClusterInfo",
  "GetNodeInfo",
  "GetJob",
  "GetJobResult",
  "Query",
  "QueryArrow",
  "GetShardStorageInfo",
]);
const FOR_ADMINS: ReadonlySet<string> = new Set([
  "RequestSplit",
  "ConfigureShard",
  "ForceReleaseShard",
  "DumpTasks",
]);

export const siloService: GrpcService = {
  name: "silo.v1.Silo",
  methods: Object.fromEntries(
    (Object.keys(SILO) as Name[]).map((name) => [name, methodOf(name, HANDLERS[name])]),
  ),
};

function methodOf(name: Name, handler: Handler<Name> | undefined): GrpcMethod {
  const { request, answer } = SILO[name];
  const method = {
    scope: scopeOf(name),
    tenant: (asked: unknown) => {
      const { tenant, tenant_id: other } = asked as { tenant?: string; tenant_id?: string };
      return tenant ?? other;
    },
    decode: (bytes: Uint8Array) => request.decode(bytes),
    encode: (message: unknown) => answer.encode(message as never),
  };
  if (name === "QueryArrow")
    return {
      ...method,
      kind: "server-stream",
      handle: (asked, call) => queryArrow(asked as never, new SiloCall(call)),
    };
  return {
    ...method,
    kind: "unary",
    handle(asked, call) {
      if (handler === undefined)
        return Promise.reject(new GrpcFailure(GRPC.unimplemented, `${name} is not supported by this server`));
      return handler(asked as never, new SiloCall(call));
    },
  };
}

function scopeOf(name: Name): Scope {
  if (FOR_ADMINS.has(name)) return "admin";
  return READS.has(name) ? "read" : "write";
}

/** Ids of tasks are numbers here; whatever else a client sends is nobody's. */
function taskOf(id: string): number {
  return /^\d{1,16}$/.test(id) ? Number(id) : -1;
}

function shuffled(ids: readonly string[]): string[] {
  return ids
    .map((id) => ({ id, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ id }) => id);
}
