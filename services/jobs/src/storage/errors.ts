/** Failures of a durable queue. What a caller got wrong is not among them: that is a refusal, and an answer. */
export type JobsErrorCode =
  /** The queue has stopped, because its journal failed or another tenure has begun. What was asked may be durable or not; ask again, where the shard is held now. */
  | "JOBS_UNKNOWN"
  /** The queue was closed before it took the command; nothing changed. */
  | "JOBS_CLOSED"
  /** Too many commands wait already; nothing changed. */
  | "JOBS_OVERLOADED";

export class JobsError extends Error {
  override readonly name = "JobsError";
  readonly code: JobsErrorCode;

  constructor(code: JobsErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
