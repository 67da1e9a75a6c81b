/** Failures at the store's boundary. Outcomes (conflict, another incarnation) are values, not errors. */
export type StoreErrorCode =
  /** Not reached, or refused before anything was applied. Safe to try again. */
  | "STORE_UNAVAILABLE"
  /** A write was sent and its reply was lost: it may have been applied, or may yet be. Read before acting. */
  | "STORE_UNKNOWN"
  /** The request breaks a limit or is malformed; trying again will not help. */
  | "STORE_REJECTED";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
