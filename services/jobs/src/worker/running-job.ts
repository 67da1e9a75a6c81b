/** A job as its handler sees it while it runs. */
import { decodeValue } from "../client/values.ts";
import type { InputView } from "../engine/index.ts";
import type { GivenTask } from "../shard/packed/tasks.ts";

/** Why a job's signal was aborted. `lost` and `timeout`: nothing that the handler returns will be accepted. */
export class JobStopped extends Error {
  override readonly name = "JobStopped";
  readonly code: "CANCELLED" | "TIMEOUT" | "LEASE_LOST" | "WORKER_STOPPED";

  constructor(code: JobStopped["code"]) {
    super(`the job should stop: ${code.toLowerCase().replace("_", " ")}`);
    this.code = code;
  }
}

/** The end of a job that this one waited for. */
export interface JobInput {
  readonly id: string;
  readonly status: "succeeded" | "failed" | "cancelled";
  /** What it returned. */
  readonly result?: unknown;
  readonly error?: { readonly code: string; readonly data: unknown };
  /** It was too large to be handed on. */
  readonly omitted: boolean;
}

/** Who passes on what a handler says of its progress. */
interface ProgressListener {
  tell(task: GivenTask, progress: unknown): void;
}

const NO_INPUTS: readonly JobInput[] = Object.freeze([]);

export class RunningJob<Payload = unknown> {
  readonly id: string;
  readonly tenant: string;
  readonly group: string;
  readonly payload: Payload;
  readonly metadata: Readonly<Record<string, string>>;
  /** From 1, over the job's whole life. */
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  /** What the jobs that it waited for gave, in the order of `after`. */
  readonly inputs: readonly JobInput[];
  /** Why it should stop; undefined while it need not. */
  stopped: JobStopped | undefined;
  #controller: AbortController | undefined;
  readonly #task: GivenTask;
  readonly #listener: ProgressListener;

  constructor(task: GivenTask, listener: ProgressListener) {
    this.#task = task;
    this.#listener = listener;
    this.id = task.id;
    this.tenant = task.tenant;
    this.group = task.group;
    this.payload = decodeValue(task.payload) as Payload;
    this.metadata = task.metadata;
    this.attempt = task.attempt;
    this.isLastAttempt = task.isLastAttempt;
    this.inputs = task.inputs.length === 0 ? NO_INPUTS : task.inputs.map(inputOf);
  }

  /** Aborted with a JobStopped when the job was cancelled, ran out of time, lost its lease, or the worker stops. Made when first asked for. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.stopped !== undefined) this.#controller.abort(this.stopped);
    }
    return this.#controller.signal;
  }

  /** The number of this lease, for logs. */
  get task(): number {
    return this.#task.task;
  }

  /** Shown to whoever looks at the job or follows its events; not kept. Any plain data. */
  progress(value: unknown): void {
    this.#listener.tell(this.#task, value);
  }

  /** For the worker. */
  stop(code: JobStopped["code"]): void {
    if (this.stopped !== undefined) return;
    this.stopped = new JobStopped(code);
    this.#controller?.abort(this.stopped);
  }
}

function inputOf({ id, outcome, omitted }: InputView): JobInput {
  if (outcome.kind === "succeeded")
    return { id, status: "succeeded", omitted, result: omitted ? undefined : decodeValue(outcome.result) };
  if (outcome.kind === "cancelled") return { id, status: "cancelled", omitted };
  return {
    id,
    status: "failed",
    omitted,
    error: { code: outcome.code, data: omitted ? undefined : decodeValue(outcome.data) },
  };
}
