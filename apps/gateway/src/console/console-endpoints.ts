/**
 * The console as the gateway serves it: the page and its files below /console/, the way there for browsers, and what the page must know to begin:
 * who its token is and which pages the services declare. What the page shows it then asks of the same APIs as everyone else.
 */
import { HttpAnswer, pathsOf, type Api } from "@keelson/runtime";
import type { Admission } from "../auth/admission.ts";
import type { Endpoint } from "../http/endpoint.ts";
import type { Exchange } from "../http/exchange.ts";
import { Problem } from "../problem.ts";
import { ConsoleFiles, type ConsoleFile } from "./console-files.ts";

export interface ConsolePorts {
  readonly fleet: string;
  readonly version: string;
  readonly apis: readonly Api[];
  readonly admission: Admission;
  readonly files?: ConsoleFiles;
}

/** Only our own files run or show on the page, nothing may frame it, and it sends nothing anywhere else. */
const PAGE_HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
} as const;

const TIMEOUT_MS = 3_000;
const NOT_BUILT =
  "the console has not been built: run `npm start`, or `node apps/console/scripts/build.mjs` in the repository";

export function consoleEndpoints(
  ports: ConsolePorts,
): readonly (readonly [path: string, endpoint: Endpoint])[] {
  const files = ports.files ?? new ConsoleFiles();
  return [
    ["/", open("console", (exchange) => front(exchange))],
    ["/console", open("console", () => moved("/console/"))],
    ["/console/{file*}", open("console", (exchange) => file(files, exchange))],
    ["/v1/console", sessionEndpoint(ports)],
  ];
}

/** A browser is sent to the console; a program is told that there is nothing. */
function front({ request }: Exchange): HttpAnswer {
  if (request.headers.accept?.includes("text/html") === true) return moved("/console/");
  throw new Problem("NO_ROUTE", "nothing is at this path: /docs shows what there is");
}

function moved(location: string): HttpAnswer {
  return new HttpAnswer("", { status: 302, headers: { location, "cache-control": "no-store" } });
}

/** Any path that is no file is a page's address: the page finds out which. */
function file(files: ConsoleFiles, exchange: Exchange): HttpAnswer {
  const path = exchange.params["file"] ?? "";
  const found = path === "" || path === "index.html" ? undefined : files.get(path);
  if (found) return sent(found, exchange);
  if (path.startsWith("assets/")) throw new Problem("NO_ROUTE", "the console has no such file: load it anew");
  const page = files.page();
  if (!page) throw new Problem("NO_ROUTE", NOT_BUILT);
  return sent(page, exchange);
}

function sent({ body, gzip, contentType, etag, lasting }: ConsoleFile, { request }: Exchange): HttpAnswer {
  const headers = {
    ...PAGE_HEADERS,
    "content-type": contentType,
    "cache-control": lasting ? "public, max-age=31536000, immutable" : "no-cache",
    vary: "accept-encoding",
    etag,
  };
  if (request.headers["if-none-match"] === etag) return new HttpAnswer("", { status: 304, headers });
  const zipped = gzip && /\bgzip\b/.test(request.headers["accept-encoding"]?.toString() ?? "");
  return zipped
    ? new HttpAnswer(gzip, { headers: { ...headers, "content-encoding": "gzip" } })
    : new HttpAnswer(body, { headers });
}

/** Any good token has a console, also one that is for a single service; it is shown what it may use. */
function sessionEndpoint({ fleet, version, apis, admission }: ConsolePorts): Endpoint {
  const services = apis.map((api) => ({ name: api.name, about: api.about, pages: pagesOf(api) }));
  return open("session", ({ request }) => {
    // By the same door as everyone, where tokens that are not taken are counted; the request itself has been.
    const { name, scope, ...limits } = admission.admit(
      { authorization: request.headers.authorization, address: request.socket.remoteAddress },
      { open: false, free: true },
    );
    const tokens = request.headers.authorization !== undefined;
    const allowed = services.filter((service) => limits.services?.includes(service.name) ?? true);
    const principal = {
      name,
      scope,
      ...(limits.services ? { services: limits.services } : {}),
      ...(limits.tenants ? { tenants: limits.tenants } : {}),
    };
    return new HttpAnswer(
      { fleet, version, tokens, principal, services: allowed },
      { headers: { "cache-control": "no-store" } },
    );
  });
}

/** As declared, with the addresses of the routes that are named. */
function pagesOf(api: Api): unknown[] {
  const { name, http = {}, console: pages = [] } = api;
  const routeOf = (route: string): { verb: string; path: string; scope: string } => {
    const { verb, scope, ...rest } = http[route]!;
    return { verb, scope, path: pathsOf(name, rest)[0]! };
  };
  return pages.map(({ id, title, about, reads, actions = [] }) => ({
    id,
    title,
    about,
    reads: reads.map((route) => ({ name: route, path: routeOf(route).path })),
    actions: actions.map((action) => ({ ...action, ...routeOf(action.route) })),
  }));
}

function open(name: string, answer: (exchange: Exchange) => HttpAnswer): Endpoint {
  return {
    service: "gateway",
    name,
    scope: undefined,
    timeoutMs: TIMEOUT_MS,
    run: (exchange) => {
      exchange.send(answer(exchange));
      return Promise.resolve(undefined);
    },
  };
}
