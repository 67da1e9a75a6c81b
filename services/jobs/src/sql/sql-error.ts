/** A statement that is not carried out, and why. The codes reach callers; docs/reference/jobs.md lists them. */
export type SqlCode =
  /** Malformed, or it names what there is not. */
  | "SQL_INVALID"
  /** Good SQL that this engine does not know. */
  | "SQL_UNSUPPORTED"
  | "SQL_TIMEOUT"
  | "SQL_TOO_LARGE"
  | "SQL_BUSY";

export class SqlError extends Error {
  override readonly name = "SqlError";
  readonly code: SqlCode;

  constructor(code: SqlCode, message: string) {
    super(message);
    this.code = code;
  }
}

export function invalid(message: string): SqlError {
  return new SqlError("SQL_INVALID", message);
}

export function unsupported(what: string): SqlError {
  return new SqlError("SQL_UNSUPPORTED", `${what} not supported`);
}
