/** One call of the gateway's HTTP API. Rejects with Problem; a call that was aborted rejects as fetch does. */
import { asProblem, isAbort, problemOf, type Problem } from "./problem.ts";
import { authorization } from "./token.ts";

export interface RequestOptions {
  readonly query?: Query | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly accept?: string;
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;
type Verb = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Set by whoever can ask the person for a token. */
let onUnauthorised: () => void = () => undefined;

export function whenUnauthorised(tell: () => void): void {
  onUnauthorised = tell;
}

/** The answer's JSON; its text when it is none. */
export async function request<T>(verb: Verb, path: string, options: RequestOptions = {}): Promise<T> {
  const answer = await respond(verb, path, options);
  const json = answer.headers.get("content-type")?.includes("json") === true;
  return (json ? await answer.json() : await answer.text()) as T;
}

export function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return request<T>("GET", path, { query, signal });
}

/** The answer itself, for headers and streams; only when it is a good one. */
export async function respond(verb: Verb, path: string, options: RequestOptions = {}): Promise<Response> {
  const { query, body, signal, accept = "application/json" } = options;
  let answer: Response;
  try {
    answer = await fetch(path + searchOf(query), {
      method: verb,
      headers: {
        accept,
        ...authorization(),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
      cache: "no-store",
      credentials: "omit",
    });
  } catch (error) {
    if (isAbort(error)) throw error;
    throw asProblem(error);
  }
  if (answer.ok) return answer;
  throw noted(problemOf(answer.status, await answer.text().catch(() => "")));
}

/** Tells whoever asks for tokens when one is not taken any more; also for a stream that was ended for it. */
export function noted(problem: Problem): Problem {
  if (problem.status === 401) onUnauthorised();
  return problem;
}

/** A path with its parts made safe: `path\`/v1/jobs/${tenant}/jobs/${id}\``. */
export function path(texts: TemplateStringsArray, ...parts: readonly (string | number)[]): string {
  return texts.reduce((all, text, n) => all + encodeURIComponent(String(parts[n - 1])) + text);
}

function searchOf(query: Query | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === "") continue;
    for (const one of Array.isArray(value) ? (value as readonly string[]) : [value])
      search.append(name, String(one));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
