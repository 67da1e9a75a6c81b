/** Failures at the engine's boundary, each with a stable code. */

export type EngineErrorCode =
  | "OUT_OF_MEMORY"
  | "BAD_PATTERN"
  | "PATTERN_TOO_LARGE"
  | "CORRUPT_INDEX"
  | "BAD_DOCUMENT"
  | "CLOSED";

export class EngineError extends Error {
  override readonly name = "EngineError";
  readonly code: EngineErrorCode;
  /** For a pattern: where in it, counted in characters from 0. */
  readonly position: number | undefined;

  constructor(code: EngineErrorCode, message: string, position?: number) {
    super(message);
    this.code = code;
    this.position = position;
  }
}
