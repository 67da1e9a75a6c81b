/** Failures at the boundary to objects. Outcomes (exists, not there) are values, not errors. Messages are one line and say what to check. */
export type ObjectErrorCode =
  /** Not reached, or refused before anything was applied; reads: not answered in time. Safe to try again. */
  | "OBJECT_UNAVAILABLE"
  /** A write was sent and its end was not seen: it may have been applied, or may yet be. Read before acting. */
  | "OBJECT_UNKNOWN"
  /** Credentials or permissions do not suffice, or the bucket or folder is not there. The message says what to check. */
  | "OBJECT_DENIED"
  /** What is stored is not what was written. It is never given out as data. */
  | "OBJECT_CORRUPT"
  /** The request breaks a limit or is malformed; trying again will not help. */
  | "OBJECT_REJECTED"
  /** A range was asked of a version that has been replaced. */
  | "OBJECT_CHANGED"
  /** The caller ended the call, and nothing was applied. */
  | "OBJECT_ABORTED"
  /** An address that names no place for objects. */
  | "OBJECT_URL_INVALID";

export class ObjectError extends Error {
  override readonly name = "ObjectError";
  readonly code: ObjectErrorCode;

  constructor(code: ObjectErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

export function rejected(message: string): ObjectError {
  return new ObjectError("OBJECT_REJECTED", message);
}

export function corrupt(message: string): ObjectError {
  return new ObjectError("OBJECT_CORRUPT", message);
}
