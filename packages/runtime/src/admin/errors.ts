/** Why an operator's request was not carried out. Nothing was changed. */
export type AdminErrorCode =
  | "NO_SUCH_NODE"
  | "NO_SUCH_SERVICE"
  | "NO_SUCH_SHARD"
  | "NOT_POSSIBLE"
  | "CONFLICT"
  | "NOT_KNOWN_YET";

export class AdminError extends Error {
  override readonly name = "AdminError";
  readonly code: AdminErrorCode;

  constructor(code: AdminErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
