/** What can go wrong with jobs, as callers see it: the engine's refusals, and what became of a job that did not succeed. */

export class JobsError extends Error {
  override readonly name = "JobsError";
  /** Stable; docs/reference/errors.md lists them. */
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The awaited job failed: the code and data of its last attempt. */
export class JobFailed extends Error {
  override readonly name = "JobFailed";
  readonly code: string;
  readonly data: unknown;

  constructor(id: string, code: string, data: unknown) {
    const said =
      typeof data === "object" && data !== null && "message" in data ? `: ${String(data.message)}` : "";
    super(`job ${id} failed with ${code}${said}`);
    this.code = code;
    this.data = data;
  }
}

/** The awaited job was cancelled. */
export class JobCancelled extends Error {
  override readonly name = "JobCancelled";
  readonly code = "CANCELLED";

  constructor(id: string) {
    super(`job ${id} was cancelled`);
  }
}
