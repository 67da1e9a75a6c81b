/** `ImportJobs`: jobs with a past, each done or refused by itself, whatever becomes of the others. */
import { GrpcFailure } from "@keelson/runtime";
import {
  isRefusal,
  type AttemptOutcome,
  type Enqueued,
  type ImportedAttempt,
  type ImportedJob,
  type JobStatus,
  type Refusal,
} from "../engine/index.ts";
import { contentProblem, specOf, tenantOf } from "./convert.ts";
import { outOfRange } from "./failures.ts";
import { JOB_STATUS, type SiloAnswer, type SiloRequest } from "./messages.ts";
import type { SiloCall } from "./service.ts";

type SiloImport = SiloRequest<"ImportJobs">["jobs"][number];
type Result = NonNullable<SiloAnswer<"ImportJobs">["results"]>[number];
type Answer = (Enqueued & { status: JobStatus }) | Refusal;

/** In one command, so that no request takes a shard's time for long, and none is longer than a frame. */
const COMMAND_JOBS = 1_000;
const COMMAND_BYTES = 4 * 1024 * 1024;

interface Placed {
  readonly index: number;
  readonly job: ImportedJob;
}

export async function importJobs(
  request: SiloRequest<"ImportJobs">,
  call: SiloCall,
): Promise<SiloAnswer<"ImportJobs">> {
  const results: Result[] = [];
  const byShard = new Map<string, Placed[]>();
  for (const [index, job] of request.jobs.entries()) {
    const problem = problemOf(job, call);
    if (problem !== undefined) {
      results[index] = { id: job.id, success: false, error: problem, status: 0 };
      continue;
    }
    const placed = { index, job: importOf(job) };
    const others = byShard.get(job.shard);
    if (others === undefined) byShard.set(job.shard, [placed]);
    else others.push(placed);
  }
  for (const [shard, jobs] of byShard)
    for (const some of parts(jobs)) {
      // oxlint-disable-next-line no-await-in-loop -- in the order given.
      const answers = await ask(shard, some, call);
      for (const [at, { index, job }] of some.entries()) results[index] = resultOf(job.id, answers[at]);
    }
  return { results };
}

/** A shard that cannot be asked fails the jobs that name it, and no others. */
async function ask(
  shard: string,
  jobs: readonly Placed[],
  call: SiloCall,
): Promise<readonly (Answer | GrpcFailure)[]> {
  try {
    const command = { kind: "import", jobs: jobs.map(({ job }) => job) } as const;
    return await call.command<readonly Answer[]>(shard, command);
  } catch (error) {
    if (!(error instanceof GrpcFailure)) throw error;
    return jobs.map(() => error);
  }
}

function* parts(jobs: readonly Placed[]): Generator<readonly Placed[]> {
  let [begin, bytes] = [0, 0];
  for (const [at, { job }] of jobs.entries()) {
    const more = bytesOf(job);
    if (at > begin && (at - begin >= COMMAND_JOBS || bytes + more > COMMAND_BYTES)) {
      yield jobs.slice(begin, at);
      [begin, bytes] = [at, 0];
    }
    bytes += more;
  }
  if (begin < jobs.length) yield jobs.slice(begin);
}

function bytesOf({ payload, metadata = {}, attempts }: ImportedJob): number {
  let bytes = payload.length;
  for (const value of Object.values(metadata)) bytes += value.length;
  for (const { outcome } of attempts)
    if (outcome.kind !== "cancelled")
      bytes += outcome.kind === "succeeded" ? outcome.result.length : outcome.data.length;
  return bytes;
}

function problemOf(job: SiloImport, call: SiloCall): string | undefined {
  if (job.id === "") return "job id is required for import";
  const problem = contentProblem(job);
  if (problem !== undefined) return problem;
  if (job.attempts.some(({ status }) => !(status >= 1 && status <= 3))) return "invalid attempt status";
  const { map } = call.calls;
  const tenant = tenantOf(job.tenant);
  if (!map.ranges.some(({ id }) => id === job.shard)) return "shard not found";
  return map.of(tenant) === job.shard ? undefined : outOfRange(tenant, job.shard);
}

function importOf(job: SiloImport): ImportedJob {
  return { ...specOf(job, job.id), enqueuedAtMs: job.enqueue_time_ms, attempts: job.attempts.map(attemptOf) };
}

function attemptOf(attempt: SiloImport["attempts"][number]): ImportedAttempt {
  return {
    outcome: outcomeOf(attempt),
    startedAtMs: attempt.started_at_ms,
    finishedAtMs: attempt.finished_at_ms,
  };
}

function outcomeOf({
  status,
  result,
  error_code,
  error_data,
}: SiloImport["attempts"][number]): AttemptOutcome {
  if (status === 1) return { kind: "succeeded", result: result?.msgpack ?? new Uint8Array(0) };
  if (status === 3) return { kind: "cancelled" };
  return { kind: "failed", code: error_code ?? "", data: error_data?.msgpack ?? new Uint8Array(0) };
}

function resultOf(id: string, answer: Answer | GrpcFailure | undefined): Result {
  if (answer instanceof GrpcFailure || answer === undefined || isRefusal(answer))
    return { id, success: false, error: answer?.message ?? "no answer", status: 0 };
  return { id, success: true, error: undefined, status: JOB_STATUS[answer.status] };
}
