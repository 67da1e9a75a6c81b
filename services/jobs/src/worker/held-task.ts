/**
 * A task that was given to this worker and not reported yet. Most of its life it is a report on its way, so what it ran with is let go of when it has run: there are
 * hundreds of them at any time, and a payload may be large.
 */
import type { AttemptOutcome } from "../engine/index.ts";
import type { Report } from "../shard/packed/reports.ts";
import type { GivenTask } from "../shard/packed/tasks.ts";
import type { RunningJob } from "./running-job.ts";

/** What a report takes on the wire besides its bytes, roughly. */
const REPORT_OVERHEAD_BYTES = 20;
const CANCELLED: AttemptOutcome = { kind: "cancelled" };

export class HeldTask<Feed = unknown> implements Report {
  readonly task: number;
  readonly tenant: string;
  readonly feed: Feed;
  /** Until it has run. */
  given: GivenTask | undefined;
  /** While it runs. */
  job: RunningJob | undefined = undefined;
  outcome: AttemptOutcome = CANCELLED;

  constructor(given: GivenTask, feed: Feed) {
    this.task = given.task;
    this.tenant = given.tenant;
    this.feed = feed;
    this.given = given;
  }

  /** It has run, or must not: this is what to report. */
  end(outcome: AttemptOutcome): void {
    this.given = undefined;
    this.job = undefined;
    this.outcome = outcome;
  }

  /** Of its report. */
  get bytes(): number {
    const { outcome } = this;
    if (outcome.kind === "cancelled") return REPORT_OVERHEAD_BYTES;
    return REPORT_OVERHEAD_BYTES + (outcome.kind === "succeeded" ? outcome.result : outcome.data).length;
  }
}
