/**
 * The way of a request through the gateway: found by its path, identified, let in or shed, run, and answered. Whatever goes wrong on it is
 * answered with a documented code. It knows nothing of services; endpoints do.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { redact, type Clock, type Logger, type Principal, type Random, type Tracer } from "@keelson/runtime";
import { askerOf, type Auditor } from "../audit/auditor.ts";
import type { Admission } from "../auth/admission.ts";
import { noLongerGood } from "../auth/authority.ts";
import type { GatewayMetrics, OperationMetrics } from "../observe/gateway-metrics.ts";
import type { GatewayLimits } from "../options.ts";
import { Problem, problemOf } from "../problem.ts";
import type { Shedding } from "../shedding.ts";
import { hasBody } from "./body.ts";
import { isForeign, type Endpoint } from "./endpoint.ts";
import { ANSWER_HEADERS, Exchange } from "./exchange.ts";
import { linger } from "./linger.ts";
import { PathTable, type Params } from "./path-table.ts";
import type { UnreadAnswers } from "./unread-answers.ts";

export interface FrontPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly limits: GatewayLimits;
  readonly admission: Admission;
  readonly auditor: Auditor;
  readonly shedding: Shedding;
  readonly unread: UnreadAnswers;
  readonly metrics: GatewayMetrics;
  readonly tracer: Tracer | undefined;
  /** For how long the fleet's state has not been followed, in ms; 0 while it is. */
  readonly staleMs: () => number;
}

interface Mounted {
  readonly endpoint: Endpoint;
  readonly metrics: OperationMetrics;
}

/** A copy that is late by less is not worth a word. */
const STALE_SAID_MS = 2_000;

export class Front {
  readonly #ports: FrontPorts;
  readonly #table = new PathTable<Mounted>();
  readonly #unrouted: OperationMetrics;
  #requests = 0;
  readonly #boot: string;

  constructor(ports: FrontPorts) {
    this.#ports = ports;
    this.#unrouted = ports.metrics.operation("gateway", "none");
    this.#boot = Math.floor(ports.random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0");
  }

  mount(verb: string, path: string, endpoint: Endpoint): void {
    const metrics = this.#ports.metrics.operation(endpoint.service, endpoint.name);
    this.#table.add(verb, path, { endpoint, metrics });
  }

  /** Never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const began = this.#ports.clock.now();
    let mounted: Mounted | undefined;
    const seen: Seen = {};
    try {
      const found = this.#find(request, seen);
      seen.params = found.params;
      ({ mounted } = found);
      const { endpoint } = mounted;
      if (endpoint.unshed === true) await this.#run(found, request, response, began, seen);
      else {
        this.#ports.shedding.enter();
        try {
          await this.#run(found, request, response, began, seen);
        } finally {
          this.#ports.shedding.exit();
        }
      }
    } catch (error) {
      this.#fail(request, response, error, mounted?.endpoint, seen);
    }
    const metrics = mounted?.metrics ?? this.#unrouted;
    metrics.answered(response.statusCode, (this.#ports.clock.now() - began) / 1_000);
    if (!request.complete && hasBody(request)) linger(request, response, this.#ports.clock);
  }

  #find(request: IncomingMessage, seen: Seen): { mounted: Mounted; params: Params; search: string } {
    const { url = "/", method = "GET", headers } = request;
    if (url.length > this.#ports.limits.urlCharsMax)
      throw new Problem(
        "URL_TOO_LONG",
        `the path and query may have ${this.#ports.limits.urlCharsMax} characters`,
      );
    if (headers.host === undefined && request.httpVersion === "1.1")
      throw new Problem("MALFORMED", "an HTTP/1.1 request needs one host header");
    const question = url.indexOf("?");
    const path = question < 0 ? url : url.slice(0, question);
    if (!path.startsWith("/")) throw new Problem("MALFORMED", "the path must begin with a slash");
    const match = this.#table.match(method === "HEAD" ? "GET" : method, path);
    const targets = match.kind === "found" ? [match.target] : match.kind === "verb" ? match.targets : [];
    if (isForeign(path)) seen.refusal = targets[0]?.endpoint.refusal;
    switch (match.kind) {
      case "found":
        return {
          mounted: match.target,
          params: match.params,
          search: question < 0 ? "" : url.slice(question + 1),
        };
      case "none":
        throw new Problem("NO_ROUTE", "nothing is at this path: /docs shows what there is");
      case "malformed":
        throw new Problem("MALFORMED", "the path is not properly encoded");
      case "verb":
        throw new Problem("NO_METHOD", `this path takes ${match.allow.join(", ")}`, {
          headers: { allow: match.allow.join(", ") },
        });
    }
  }

  async #run(
    { mounted, params, search }: { mounted: Mounted; params: Params; search: string },
    request: IncomingMessage,
    response: ServerResponse,
    began: number,
    seen: Seen,
  ): Promise<void> {
    const { endpoint } = mounted;
    const { admission, tracer, staleMs } = this.#ports;
    const { authority } = admission;
    const { headers } = request;
    const { scope, service } = endpoint;
    const caller = { authorization: headers.authorization, address: request.socket.remoteAddress };
    const unproven = authority.asks && isSigned(request, endpoint);
    const principal = admission.admit(caller, {
      open: scope === undefined || unproven,
      free: endpoint.unshed === true,
    });
    seen.principal = principal;
    if (scope !== undefined && !unproven) authority.permitService(principal, service, scope);
    const parent = oneHeader(headers["traceparent"]);
    const span =
      scope === undefined ? undefined : tracer?.start(`${service} ${endpoint.name}`, "server", parent);
    const exchange = new Exchange(request, response, {
      params,
      search,
      principal,
      unproven,
      deadline: began + timeoutOf(headers["keelson-timeout-ms"], endpoint.timeoutMs),
      trace: span ? span.traceparent : parent,
    });
    const stale = staleMs();
    if (stale > STALE_SAID_MS) exchange.headers["keelson-stale-ms"] = Math.min(stale, 1e15).toFixed(0);
    const leave = authority.live.enter(principal, () => exchange.refuse(noLongerGood()));
    try {
      const problem = await endpoint.run(exchange);
      this.#ports.unread.given(response);
      if (problem) this.#note(problem, endpoint, this.#requestId());
      span?.set("http.response.status_code", response.statusCode).end(problem?.code);
    } catch (error) {
      const problem = problemOf(error, endpoint.plugin);
      span?.end(problem.code);
      // Signatures are guessed no faster than tokens.
      if (unproven && problem.status === 401) admission.refused(caller);
      throw error;
    } finally {
      leave();
    }
  }

  #fail(
    request: IncomingMessage,
    response: ServerResponse,
    error: unknown,
    endpoint: Endpoint | undefined,
    { principal, params, refusal }: Seen,
  ): void {
    const problem = problemOf(error, endpoint?.plugin);
    if (endpoint && (endpoint.action === true || problem.status === 401 || problem.status === 403))
      void this.#ports.auditor.failed(askerOf(request, principal), endpoint, params, problem);
    const requestId = this.#requestId();
    this.#note(problem, endpoint, requestId);
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const { code, status, details, headers } = problem;
    // Messages quote what was asked for, and people paste tokens into all kinds of places.
    const message = redact(problem.message);
    const body = JSON.stringify(refusal?.(message) ?? { error: { code, message, requestId, ...details } });
    response.writeHead(status, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(body),
      ...ANSWER_HEADERS,
      // What is left of a request's body would be taken for the next request.
      ...(!request.complete && hasBody(request) ? { connection: "close" } : {}),
      ...headers,
    });
    response.end(body);
  }

  #note(problem: Problem, endpoint: Endpoint | undefined, requestId: string): void {
    const { metrics, log } = this.#ports;
    if (problem.status === 429) metrics.shed(textOf(problem.details["reason"] ?? "node"));
    if (problem.code !== "INTERNAL") return;
    const { service = "gateway", name = "none" } = endpoint ?? {};
    const { cause } = problem;
    log.error({ requestId, service, operation: name, cause: redact(textOf(cause)) }, "a request failed");
  }

  #requestId(): string {
    this.#requests += 1;
    return `${this.#boot}-${this.#requests}`;
  }
}

/** What is known of a request by the time it fails. */
interface Seen {
  principal?: Principal;
  params?: Params;
  refusal?: Endpoint["refusal"];
}

/** Whether it shows no token, and a signature where one is taken instead. */
function isSigned({ headers }: IncomingMessage, { signatures = [] }: Endpoint): boolean {
  return headers.authorization === undefined && signatures.some((name) => headers[name] !== undefined);
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** What the caller asks for, never more than the operation allows. */
function timeoutOf(header: string | string[] | undefined, mostMs: number): number {
  if (header === undefined) return mostMs;
  const asked = Number(header);
  if (!(asked >= 1 && asked <= 86_400_000))
    throw new Problem("BAD_REQUEST", "keelson-timeout-ms must be a number of milliseconds, at least 1");
  return Math.min(asked, mostMs);
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
