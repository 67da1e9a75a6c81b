/**
 * A gateway as the command line reaches it: one request, JSON both ways, and failures in words that say what to do. Verbs of the fleet and of services both
 * go through here.
 */
import { RunError } from "../failure.ts";

export interface GatewayDoor {
  readonly url: string;
  /** Resolves with the answer's JSON; rejects with a GatewayError, or a RunError when there is no gateway. */
  ask(verb: string, path: string, body?: unknown): Promise<unknown>;
}

/** What a gateway refused, with the code it gave. */
class GatewayError extends RunError {
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, message: string) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** Longer than any route of ours lets an answer take. */
const TIMEOUT_MS = 40_000;

export function gatewayDoor(url: string, token: string | undefined): GatewayDoor {
  const base = url.replace(/\/+$/, "");
  const send = async (
    verb: string,
    path: string,
    options: { body?: unknown; accept: string; signal: AbortSignal },
  ): Promise<Response> => {
    const headers: Record<string, string> = { accept: options.accept };
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    if (options.body !== undefined) headers["content-type"] = "application/json";
    let response: Response;
    try {
      response = await fetch(`${base}${path}`, {
        method: verb,
        headers,
        signal: options.signal,
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
      });
    } catch (error) {
      throw notReached(base, error);
    }
    if (response.ok) return response;
    throw await refused(response, token !== undefined);
  };
  return {
    url: base,
    async ask(verb, path, body) {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await send(verb, path, { body, accept: "application/json", signal });
      return response.status === 204 ? undefined : await response.json();
    },
  };
}

/** A fetch that brought no answer, in words. */
export function notReached(url: string, error: unknown): RunError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { code, name, message } = cause as NodeJS.ErrnoException;
  if (name === "AbortError" || name === "TimeoutError")
    return new RunError(`the gateway at ${url} did not answer in time`, { cause: error });
  const why = code === "ECONNREFUSED" ? "nothing listens there" : (message ?? String(error));
  return new RunError(
    `no gateway at ${url} (${why}): start one with keelson up, name another with --url, or ask the store itself with --store`,
    { cause: error },
  );
}

async function refused(response: Response, shown: boolean): Promise<GatewayError> {
  const { status } = response;
  const text = await response.text();
  const { code = `HTTP_${status}`, message = text.slice(0, 200) || response.statusText } = errorOf(text);
  if (status === 401)
    return new GatewayError(
      code,
      status,
      shown
        ? `the gateway does not know this token: ${message}`
        : "the gateway asks for a token: give it with KEELSON_TOKEN or --token",
    );
  return new GatewayError(code, status, message);
}

/** `{ error: { code, message } }`, or the two of them by themselves. */
function errorOf(text: string): { code?: string; message?: string } {
  try {
    const body = JSON.parse(text) as { error?: unknown; code?: unknown; message?: unknown };
    const { code, message } = (
      typeof body.error === "object" && body.error !== null ? body.error : body
    ) as typeof body;
    return {
      ...(typeof code === "string" ? { code } : {}),
      ...(typeof message === "string" ? { message } : {}),
    };
  } catch {
    // Not of a gateway of ours: a proxy's page, say. Its text has to do.
    return {};
  }
}
