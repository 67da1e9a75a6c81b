/** A job that was enqueued or looked up, as a thing to hold on to: its id, and its end as a promise. */
import type { JobName } from "../engine/index.ts";
import { JobCancelled, JobFailed, JobsError } from "./errors.ts";
import type { ResultWatch } from "./result-watch.ts";
import { decodeValue } from "./values.ts";

export class JobHandle<Result = unknown> implements JobName {
  readonly tenant: string;
  readonly id: string;
  /** `created`; `same` when this request was made before; `joined` when it became part of another job; undefined when it was only looked up. */
  readonly outcome: "created" | "same" | "joined" | undefined;
  readonly #watch: ResultWatch;

  constructor(name: JobName, outcome: JobHandle["outcome"], watch: ResultWatch) {
    this.tenant = name.tenant;
    this.id = name.id;
    this.outcome = outcome;
    this.#watch = watch;
  }

  /** What the handler returned. Rejects with JobFailed or JobCancelled when the job ended otherwise; waits for as long as it takes. */
  async result(): Promise<Result> {
    const { outcome, gone } = await this.#watch.wait(this.tenant, this.id);
    if (gone === true || outcome === undefined)
      throw new JobsError("JOB_NOT_FOUND", `there is no job ${this.id} (any more)`);
    if (outcome.kind === "succeeded") return decodeValue(outcome.result) as Result;
    if (outcome.kind === "cancelled") throw new JobCancelled(this.id);
    throw new JobFailed(this.id, outcome.code, decodeValue(outcome.data));
  }
}
