/** A request that failed, as the gateway says it (or as the network does), with what the person in front of the page can do about it. */

export interface Issue {
  /** Where in the input: `query.limit`. */
  readonly at: string;
  readonly message: string;
}

export class Problem extends Error {
  override readonly name = "Problem";
  /** 0 when no answer came at all. */
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly issues: readonly Issue[];
  /** What the gateway says beyond code and message: a service's own fields are here. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.requestId = typeof details["requestId"] === "string" ? details["requestId"] : undefined;
    this.issues = Array.isArray(details["issues"]) ? (details["issues"] as Issue[]) : [];
  }

  /** What to do, in one sentence; undefined when the message says it. */
  get advice(): string | undefined {
    if (this.status === 0) return "See that the gateway runs and that this machine reaches it.";
    return ADVICE[this.code] ?? (this.status === 429 || this.status === 503 ? TRY_AGAIN : undefined);
  }
}

const TRY_AGAIN = "Try again in a moment.";
const ADVICE: Readonly<Record<string, string>> = {
  UNAUTHORISED: "Sign in with a token that the gateway knows.",
  FORBIDDEN: "Sign in with a token that has the scope, or ask an operator to do it.",
  SHED: "The gateway has too much to do: wait a few seconds.",
  INTERNAL: "Give an operator the request id: the gateway's log has the reason.",
  OUTCOME_UNKNOWN: "It may have been carried out: look before you do it again.",
  TIMEOUT: "A change may have been carried out: look before you do it again.",
  STORE_UNAVAILABLE: "Nothing was changed. Wait until the store is back.",
};

/** The gateway's error answer, or what something in front of it said instead. */
export function problemOf(status: number, text: string): Problem {
  try {
    const { error } = JSON.parse(text) as { error: Record<string, unknown> };
    const { code, message, ...details } = error;
    return new Problem(status, String(code), String(message), details);
  } catch {
    return new Problem(status, "UNREADABLE", `The answer cannot be read (HTTP ${status}).`);
  }
}

/** Anything that was thrown, as a Problem. */
export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof TypeError) return new Problem(0, "UNREACHABLE", "The gateway did not answer.");
  return new Problem(0, "FAILED", error instanceof Error ? error.message : String(error));
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
