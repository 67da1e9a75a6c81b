/**
 * Every failure that a caller of the gateway can meet: a code that does not change, and its HTTP status. docs/reference/http.md has the same
 * table; a test keeps the two equal. Codes of services come from their plug-ins.
 */
import { RouterError, type Api } from "@keelson/runtime";

export const PROBLEMS = {
  BAD_REQUEST: {
    status: 400,
    about: "parameters, query or body are not what the operation takes; `issues` says where",
  },
  BAD_JSON: { status: 400, about: "the body is not JSON" },
  MALFORMED: { status: 400, about: "not HTTP, or not in a form that is taken" },
  UNAUTHORISED: { status: 401, about: "no token, or one that is unknown, expired or revoked" },
  FORBIDDEN: { status: 403, about: "the token does not allow this" },
  NO_ROUTE: { status: 404, about: "nothing is at that path" },
  NO_SHARD: { status: 404, about: "the service has no such shard" },
  NO_METHOD: { status: 405, about: "the path exists, for other methods; `allow` says which" },
  SLOW_REQUEST: { status: 408, about: "the request did not arrive in time" },
  TOO_LARGE: { status: 413, about: "the body is larger than the operation takes" },
  URL_TOO_LONG: { status: 414, about: "the path and query are longer than 8 KiB" },
  UNSUPPORTED_TYPE: { status: 415, about: "the body is not application/json, or is compressed" },
  EXPECTATION: { status: 417, about: "an Expect header other than 100-continue" },
  SHED: { status: 429, about: "too much is under way; `reason` says what, `retry-after` when to come back" },
  OVERLOADED: { status: 429, about: "the shard's node has too much under way" },
  HEADERS_TOO_LARGE: { status: 431, about: "the headers are larger than 16 KiB" },
  INTERNAL: {
    status: 500,
    about: "a bug, or a failure that is none of the caller's business; the log has it by its request id",
  },
  CUT: { status: 502, about: "the connection to the node broke before its answer" },
  STALE: { status: 502, about: "only a former holder answered" },
  OUTCOME_UNKNOWN: { status: 502, about: "the shard moved during a write, which may have been carried out" },
  BAD_REPLY: { status: 502, about: "the node's answer cannot be read" },
  NO_HOLDER: { status: 503, about: "nobody holds the shard, for now" },
  WARMING: { status: 503, about: "the shard is being loaded" },
  QUARANTINED: { status: 503, about: "the shard fails wherever it is opened, and waits for an operator" },
  UNREACHABLE: { status: 503, about: "the shard's node cannot be reached" },
  BUDGET: { status: 503, about: "too many requests need a retry; this one got none" },
  MOVED: { status: 503, about: "the shard moved while it was streamed: ask again" },
  PARTIAL: { status: 503, about: "some shards did not answer, and the operation gives no partial answer" },
  AUDIT_UNAVAILABLE: {
    status: 503,
    about: "the audit log cannot be written, and no action is carried out without it",
  },
  NOT_READY: { status: 503, about: "the gateway does not know the fleet yet, or is stopping" },
  TIMEOUT: { status: 504, about: "no answer in time; a write may have been carried out" },
} as const satisfies Record<string, { readonly status: number; readonly about: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export class Problem extends Error {
  override readonly name = "Problem";
  readonly code: string;
  readonly status: number;
  /** Further fields of the answer's `error`. */
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: string,
    message: string,
    options: {
      readonly status?: number;
      readonly details?: Readonly<Record<string, unknown>>;
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? (isProblemCode(code) ? PROBLEMS[code].status : 500);
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}

/** When a caller may come back after being shed. */
const RETRY_AFTER = { "retry-after": "1" } as const;
const RETRIED_LATER: ReadonlySet<string> = new Set([
  "OVERLOADED",
  "NO_HOLDER",
  "WARMING",
  "UNREACHABLE",
  "BUDGET",
  "MOVED",
]);
/** Codes that wire or a node gives for what is the gateway's or the service's mistake, not the caller's. */
const OURS: ReadonlySet<string> = new Set(["INTERNAL", "UNENCODABLE", "NO_METHOD", "CANCELLED"]);

export function shed(reason: string, message: string): Problem {
  return new Problem("SHED", `${message}: send less, and try again`, {
    details: { reason },
    headers: RETRY_AFTER,
  });
}

/** What the caller is told of whatever was thrown. The text of what is not meant for callers is withheld. */
export function problemOf(error: unknown, plugin: Api | undefined): Problem {
  if (error instanceof Problem) return error;
  if (!(error instanceof RouterError)) return ofRoute(error, plugin) ?? internal(error);
  const { code, message, unknown } = error;
  const declared = plugin?.errors?.[code];
  if (declared) return new Problem(code, ownText(error), { status: declared.status });
  if (OURS.has(code) || !isProblemCode(code)) return internal(error);
  return new Problem(code, message, {
    cause: error,
    ...(unknown ? { details: { unknown } } : {}),
    ...(RETRIED_LATER.has(code) ? { headers: RETRY_AFTER } : {}),
    ...(code === "OVERLOADED" ? { details: { reason: "node" } } : {}),
  });
}

/** What a route's own code throws reaches the caller when the plug-in lists its code, as a shard's failure does. */
function ofRoute(error: unknown, plugin: Api | undefined): Problem | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  const declared = plugin?.errors?.[error.code];
  return declared && new Problem(error.code, error.message, { status: declared.status, cause: error });
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}

/** A service's message is for its caller as it is: without the shard that the router puts before it. */
function ownText({ message, service, shard }: RouterError): string {
  const prefix = `${service}/${shard}: `;
  return message.startsWith(prefix) ? message.slice(prefix.length) : message;
}

function internal(error: unknown): Problem {
  return new Problem("INTERNAL", "something failed here: ask the operator, with the request id", {
    cause: error,
  });
}
