/**
 * A client of a plug-in's HTTP API, typed by its routes: `apiClient(jobs, { url, token }).enqueue({ params, body })`. It checks nothing that the
 * gateway checks anyway. It uses the platform's fetch: it is for tools and tests, not for hot paths.
 */
import type { z } from "zod";
import { pathsOf } from "./route-problem.ts";
import type { AnyRoute, Route, Routes } from "./route.ts";
import type { VerbInput } from "./verb.ts";

export interface ApiOptions {
  /** The gateway's address: http://127.0.0.1:7600. */
  readonly url: string;
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What the gateway answered instead of what was asked for. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Nothing need be given for what the route does not take. */
type Given<Name extends string, Schema extends z.ZodType> = [z.input<Schema>] extends [undefined]
  ? unknown
  : unknown extends z.input<Schema>
    ? { readonly [Key in Name]?: unknown }
    : { readonly [Key in Name]: z.input<Schema> };

/** One method per route. */
export type ApiClient<Api extends Routes> = {
  readonly [Name in keyof Api]: Api[Name] extends Route<infer Params, infer Query, infer Body, infer Answer>
    ? (
        input: Given<"params", Params> & Given<"query", Query> & Given<"body", Body>,
      ) => Promise<z.output<Answer>>
    : never;
};

export function apiClient<Api extends Routes>(
  plugin: { readonly name: string; readonly http?: Api },
  options: ApiOptions,
): ApiClient<Api> {
  const methods = Object.entries(plugin.http ?? {}).map(([name, route]) => [
    name,
    (input: VerbInput = {}) => callApi(plugin.name, route, input, options),
  ]);
  return Object.fromEntries(methods) as ApiClient<Api>;
}

/** One call of one route. Rejects with ApiError, or with what fetch throws when the gateway cannot be reached. */
export async function callApi(
  plugin: string,
  route: AnyRoute,
  input: VerbInput,
  options: ApiOptions,
): Promise<unknown> {
  const answer = await request(plugin, route, input, options, "application/json");
  const type = answer.headers.get("content-type") ?? "";
  const text = await answer.text();
  // No gateway answers a call with a page for people.
  if (type.startsWith("text/html"))
    throw new ApiError(
      answer.status,
      "UNREADABLE",
      `${options.url} answers with a web page, not as a gateway does: check the address`,
    );
  return type.startsWith("application/json") ? JSON.parse(text) : text;
}

/** The items of a streaming route, until it ends. */
export async function* followApi(
  plugin: string,
  route: AnyRoute,
  input: VerbInput,
  options: ApiOptions,
): AsyncGenerator<unknown, void> {
  const answer = await request(plugin, route, input, options, "application/x-ndjson");
  let rest = "";
  for await (const text of (answer.body ?? new ReadableStream<Uint8Array>()).pipeThrough(
    new TextDecoderStream(),
  )) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") continue;
      const item: unknown = JSON.parse(line);
      const failure = streamError(item);
      if (failure) throw failure;
      yield item;
    }
  }
}

async function request(
  plugin: string,
  route: AnyRoute,
  input: VerbInput,
  { url, token, signal }: ApiOptions,
  accept: string,
): Promise<Response> {
  const answer = await fetch(`${url.replace(/\/+$/, "")}${pathOf(plugin, route, input)}`, {
    method: route.verb,
    headers: {
      accept,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(input.body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
    ...(signal ? { signal } : {}),
  });
  if (answer.ok) return answer;
  throw errorOf(answer.status, await answer.text());
}

function pathOf(plugin: string, route: AnyRoute, { params, query }: VerbInput): string {
  const given = (params ?? {}) as Readonly<Record<string, unknown>>;
  const path = pathsOf(plugin, route)[0]!.replace(/\{([^}*]*)(\*?)\}/g, (_, name: string, star: string) => {
    const encoded = encodeURIComponent(String(given[name]));
    return star === "" ? encoded : encoded.replaceAll("%2F", "/");
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries((query ?? {}) as Readonly<Record<string, unknown>>))
    for (const each of Array.isArray(value) ? (value as readonly unknown[]) : [value])
      if (each !== undefined) search.append(name, typeof each === "string" ? each : JSON.stringify(each));
  return search.size > 0 ? `${path}?${search.toString()}` : path;
}

function errorOf(status: number, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return new ApiError(status, error.code, error.message);
  } catch {
    // Not the gateway's own answer, but that of something in front of it.
    return new ApiError(status, "UNREADABLE", `HTTP ${status}: ${text.slice(0, 200)}`);
  }
}

/** A stream that fails after it began says so in its last line. */
function streamError(item: unknown): ApiError | undefined {
  if (typeof item !== "object" || item === null || !("error" in item)) return undefined;
  const { error } = item as { error: { status?: unknown; code?: unknown; message?: unknown } };
  if (typeof error?.code !== "string" || typeof error.status !== "number") return undefined;
  return new ApiError(error.status, error.code, String(error.message));
}
