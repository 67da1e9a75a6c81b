/** `ImportJobs`: jobs with a past, each done or refused by itself. */
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
import { specOf } from "./convert.ts";
import { GRPC } from "./failures.ts";
import { JOB_STATUS, type SiloAnswer, type SiloRequest } from "./messages.ts";
import type { SiloCall } from "./service.ts";

type SiloImport = SiloRequest<"ImportJobs">["jobs"][number];
type Result = NonNullable<SiloAnswer<"ImportJobs">["results"]>[number];

export async function importJobs(
  request: SiloRequest<"ImportJobs">,
  call: SiloCall,
): Promise<SiloAnswer<"ImportJobs">> {
  const results: Result[] = request.jobs.map(({ id }) => ({
    id,
    success: false,
    error: undefined,
    status: 0,
  }));
  const byShard = new Map<string, { index: number; job: ImportedJob }[]>();
  for (const [index, job] of request.jobs.entries()) {
    const problem = problemOf(job);
    if (problem !== undefined) results[index] = { id: job.id, success: false, error: problem, status: 0 };
    else byShard.set(job.shard, [...(byShard.get(job.shard) ?? []), { index, job: importOf(job) }]);
  }
  for (const [shard, jobs] of byShard) {
    // oxlint-disable-next-line no-await-in-loop -- in the order given.
    const answers = await call.command<readonly ((Enqueued & { status: JobStatus }) | Refusal)[]>(shard, {
      kind: "import",
      jobs: jobs.map(({ job }) => job),
    });
    for (const [at, { index }] of jobs.entries())
      results[index] = resultOf(request.jobs[index]!.id, answers[at]);
  }
  return { results };
}

function problemOf(job: SiloImport): string | undefined {
  if (job.id === "") return "job id is required for import";
  if (job.task_group === "") return "task_group is required";
  if (job.priority > 99) return "priority must be between 0 and 99";
  return undefined;
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
  switch (status) {
    case 1:
      return { kind: "succeeded", result: result?.msgpack ?? new Uint8Array(0) };
    case 2:
      return { kind: "failed", code: error_code ?? "", data: error_data?.msgpack ?? new Uint8Array(0) };
    case 3:
      return { kind: "cancelled" };
    default:
      throw new GrpcFailure(GRPC.invalidArgument, "invalid attempt status");
  }
}

function resultOf(id: string, answer: (Enqueued & { status: JobStatus }) | Refusal | undefined): Result {
  if (answer === undefined || isRefusal(answer))
    return { id, success: false, error: answer?.message ?? "no answer", status: 0 };
  return { id, success: true, error: undefined, status: JOB_STATUS[answer.status] };
}
