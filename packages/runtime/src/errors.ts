/** Failures a person can act on: one line that says what happened and what to do, and a code that does not change. */
export type KeelsonErrorCode =
  | "BAD_SERVICE"
  | "BAD_CONFIG"
  | "NODE_ID_IN_USE"
  | "PROTOCOL_MISMATCH"
  | "NOT_STARTED";

export class KeelsonError extends Error {
  override readonly name = "KeelsonError";
  readonly code: KeelsonErrorCode;

  constructor(code: KeelsonErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
