/**
 * Failures that travel. A call ends with a body, with a WireFailure (the other side answered, and this is its answer), or with the
 * kernel's TransportError (no answer came). Codes are stable: they are part of the protocol.
 */

/** Codes that wire itself gives. Handlers may fail with codes of their own. */
export const WIRE_FAILURE_CODES = [
  /** A limit of the answering side is reached; the message says which. Nothing was carried out. */
  "OVERLOADED",
  /** The body is not what the method takes. */
  "BAD_REQUEST",
  /** No handler has that name. */
  "NO_METHOD",
  /** The handler threw something that is not a WireFailure. */
  "INTERNAL",
  /** A body, or an answer, is longer than a frame may be. */
  "TOO_LARGE",
  /** A body, or an answer, is not plain data, or is nested too deep. */
  "UNENCODABLE",
  /** The caller's own signal was aborted. */
  "CANCELLED",
  /** A stream's reader fell behind its buffer. Subscribe again. */
  "SLOW_CONSUMER",
  /** The server is closing and ended this stream. Subscribe elsewhere. */
  "GOING_AWAY",
] as const;

export type WireFailureCode = (typeof WIRE_FAILURE_CODES)[number];

/** Why a side wants nothing new on a connection. */
export const GOAWAY_CODES = [
  /** The server is closing; what is in flight is still answered. */
  "GOING_AWAY",
  /** No protocol version that both know. */
  "VERSION",
  /** The hello's token is not the server's, or the client's certificate is not taken. */
  "UNAUTHORISED",
  /** The server has all the connections it takes. */
  "OVERLOADED",
  /** The other side broke the protocol. */
  "MALFORMED",
] as const;

export type GoawayCode = (typeof GOAWAY_CODES)[number];

export class WireFailure extends Error {
  override readonly name = "WireFailure";
  readonly code: string;

  constructor(code: WireFailureCode | (string & {}), message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** The bytes break the protocol. Ends the connection they came on, and nothing else. */
export class MalformedFrame extends Error {
  override readonly name = "MalformedFrame";
}

/** What an unexpected error says to the other side: its message, bounded. */
export function failureOf(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof WireFailure) {
    return { code: error.code.slice(0, 100), message: error.message.slice(0, 2_000) };
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return { code: "INTERNAL", message: message.slice(0, 2_000) };
}
