/** What the gateway itself serves beside its services: health, metrics, the API's description, and who is in the fleet. */
import { HttpAnswer, METRICS_METHOD, type Api, type FleetLink, type Scope } from "@keelson/runtime";
import type { GatewayMetrics } from "../observe/gateway-metrics.ts";
import type { Health } from "../observe/health.ts";
import { openApiDocument } from "../openapi/document.ts";
import { DOCS_CSS, DOCS_HTML, DOCS_JS } from "../openapi/page.ts";
import { Problem } from "../problem.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";

export interface OwnPorts {
  readonly plugins: readonly Api[];
  readonly version: string;
  readonly metrics: GatewayMetrics;
  readonly client: FleetLink;
  readonly health: () => Health;
  /** Where a member of the fleet listens; undefined when there is no such member. */
  readonly addressOf: (node: string) => string | undefined;
}

/** Nothing of others may run on our pages, and our pages nowhere else. */
const PAGE_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
} as const;

const NODE_TIMEOUT_MS = 3_000;

/** Each with its path; all are read with GET. */
export function ownEndpoints(ports: OwnPorts): readonly (readonly [path: string, endpoint: Endpoint])[] {
  const { metrics, health, plugins, version, client, addressOf } = ports;
  const api = JSON.stringify(openApiDocument(plugins, version));
  const services = JSON.stringify(
    plugins.map(({ name, about, console: pages = [] }) => ({ name, about, pages })),
  );
  const text = (body: string, type: string): HttpAnswer =>
    new HttpAnswer(body, { headers: { "content-type": type, ...PAGE_HEADERS } });
  return [
    own("/healthz", "health", () => new HttpAnswer(health()), { unshed: true }),
    own(
      "/readyz",
      "ready",
      () => {
        const now = health();
        if (now.ready) return now;
        throw new Problem("NOT_READY", `the gateway is ${now.status}`, { headers: { "retry-after": "1" } });
      },
      { unshed: true },
    ),
    own(
      "/metrics",
      "metrics",
      async () => text(await metrics.set.registry.metrics(), "text/plain; version=0.0.4; charset=utf-8"),
      { scope: "read", unshed: true },
    ),
    own(
      "/metrics/nodes/{node}",
      "nodeMetrics",
      async ({ params }) => {
        const address = addressOf(params["node"] ?? "");
        if (address === undefined) throw new Problem("NO_ROUTE", "no such node is a member of the fleet");
        const body = await client
          .askNode(address, METRICS_METHOD, null, NODE_TIMEOUT_MS)
          .catch((error: unknown) => {
            throw new Problem("UNREACHABLE", "the node cannot be reached", { cause: error });
          });
        return text(String(body), "text/plain; version=0.0.4; charset=utf-8");
      },
      { scope: "read" },
    ),
    own("/openapi.json", "openapi", () => text(api, "application/json")),
    own("/v1/services", "services", () => text(services, "application/json"), { scope: "read" }),
    own("/docs", "docs", () => text(DOCS_HTML, "text/html; charset=utf-8")),
    own("/docs/page.js", "docs", () => text(DOCS_JS, "text/javascript; charset=utf-8")),
    own("/docs/page.css", "docs", () => text(DOCS_CSS, "text/css; charset=utf-8")),
  ];
}

function own(
  path: string,
  name: string,
  answer: (exchange: Exchange) => unknown,
  options: { readonly scope?: Scope; readonly unshed?: boolean } = {},
): readonly [string, Endpoint] {
  return [
    path,
    {
      service: "gateway",
      name,
      scope: options.scope,
      timeoutMs: NODE_TIMEOUT_MS,
      unshed: options.unshed ?? false,
      run: async (exchange) => {
        exchange.send(await answer(exchange));
        return undefined;
      },
    },
  ];
}
