/** How a gRPC call fails. */

/** The codes of gRPC that decisions depend on; others are only shown. */
export const GRPC = {
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export class GrpcError extends Error {
  override readonly name = "GrpcError";
  readonly code: number;
  /** False when the server cannot have seen the call. */
  readonly sent: boolean;

  constructor(code: number, message: string, sent: boolean, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.sent = sent;
  }
}

/** The call never left this process. */
export function notSent(reason: string, cause?: unknown): GrpcError {
  return new GrpcError(GRPC.unavailable, reason, false, cause === undefined ? {} : { cause });
}

/** A server's `grpc-message` is percent-encoded; one that is not encoded well is shown as it came. */
export function statusMessage(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
