/**
 * An operation of a plug-in as an endpoint: checks the input with the route's schemas, finds the shards, asks them, and turns what they say into
 * the answer. All that is particular to a service is in its route.
 */
import {
  formatEpoch,
  scatter,
  type AnyRoute,
  type Api,
  type Clock,
  type FleetLink,
  type Input,
  type RouteCall,
  type RouterRequest,
  type SentRequest,
  type SignedRoute,
  type Target,
} from "@keelson/runtime";
import type { z } from "zod";
import { askerOf, isAction, type Auditor } from "../audit/auditor.ts";
import type { Authority } from "../auth/authority.ts";
import type { GatewayLimits } from "../options.ts";
import { Problem, problemOf, shed } from "../problem.ts";
import { RouteGate } from "../shedding.ts";
import { readBody, type Body, type BodyBudget } from "./body.ts";
import { isForeign, type Endpoint } from "./endpoint.ts";
import type { Exchange } from "./exchange.ts";
import { sendItems } from "./item-stream.ts";
import type { UnreadAnswers } from "./unread-answers.ts";

export interface EndpointPorts {
  readonly client: FleetLink;
  readonly clock: Clock;
  readonly limits: GatewayLimits;
  readonly authority: Authority;
  readonly auditor: Auditor;
  readonly bodies: BodyBudget;
  /** Streams that are open, over all routes. */
  readonly streams: { open: number };
  readonly unread: UnreadAnswers;
}

type AnyInput = Input<Record<string, unknown> | undefined, Record<string, unknown> | undefined>;
// oxlint-disable-next-line typescript/no-explicit-any -- a route's own types are checked where it is written.
type AnyTarget<Kind> = Target<any, any> & { readonly kind: Kind };

export class PluginEndpoint implements Endpoint {
  readonly service: string;
  readonly name: string;
  readonly scope: AnyRoute["scope"];
  readonly plugin: Api;
  readonly timeoutMs: number;
  readonly action: boolean;
  readonly refusal: AnyRoute["refusal"];
  readonly signatures: readonly string[] | undefined;
  readonly #route: AnyRoute;
  readonly #ports: EndpointPorts;
  readonly #gate: RouteGate;
  readonly #bodyBytesMax: number;

  constructor(plugin: Api, name: string, route: AnyRoute, ports: EndpointPorts) {
    const { limits } = ports;
    this.service = plugin.name;
    this.name = name;
    this.scope = route.scope;
    this.plugin = plugin;
    this.action = isAction(plugin, name);
    this.refusal = route.refusal;
    // Others would answer without having looked at the signature.
    this.signatures = route.to.kind === "custom" ? route.signed?.signatures : undefined;
    this.timeoutMs = route.limits?.timeoutMs ?? limits.timeoutMs;
    this.#route = route;
    this.#ports = ports;
    this.#gate = new RouteGate(route.limits?.inflightMax ?? limits.routeInflightMax);
    this.#bodyBytesMax = route.limits?.bodyBytesMax ?? limits.bodyBytesMax;
  }

  async run(exchange: Exchange): Promise<Problem | undefined> {
    this.#gate.enter();
    try {
      const { body, ...rest } = await this.#input(exchange);
      const input: AnyInput = { ...rest, body: body?.value };
      const { tenant } = this.#route;
      if (!exchange.unproven)
        this.#ports.authority.permit(exchange.principal, {
          service: this.service,
          scope: this.scope,
          tenant: tenant?.(input),
        });
      if (this.action) {
        await this.#ports.auditor.log.require();
        exchange.settle();
      }
      const { to } = this.#route;
      switch (to.kind) {
        case "one":
          return await this.#one(exchange, input, to);
        case "many":
          return await this.#many(exchange, input, to);
        case "stream":
          return await this.#stream(exchange, input, to);
        case "custom":
          return await this.#custom(exchange, input, to, body?.bytes);
      }
    } finally {
      this.#gate.exit();
    }
  }

  async #input(exchange: Exchange): Promise<Omit<AnyInput, "body"> & { body: Body | undefined }> {
    const { params, query, body, signed } = this.#route;
    const { clock, bodies, limits } = this.#ports;
    const given = {
      params: params && check("params", params, exchange.params),
      query: query && check("query", query, queryOf(exchange.search)),
    } as Omit<AnyInput, "body">;
    const prove = signed && ((bytes: Uint8Array) => this.#prove(exchange, signed, bytes));
    if (!body) {
      await prove?.(NO_BYTES);
      return { ...given, body: undefined };
    }
    const timeoutMs = Math.min(this.#leftMs(exchange), limits.requestTimeoutMs);
    const raw = await readBody(exchange.request, clock, bodies, {
      bytesMax: this.#bodyBytesMax,
      timeoutMs,
      anyType: this.refusal !== undefined && isForeign(exchange.request.url ?? ""),
      formField: signed?.formField,
      prove,
    });
    if (raw === undefined) await prove?.(NO_BYTES);
    return { ...given, body: { bytes: raw?.bytes ?? NO_BYTES, value: check("body", body, raw?.value) } };
  }

  /** Throws what the request is refused with. */
  async #prove(exchange: Exchange, signed: SignedRoute, bytes: Uint8Array): Promise<void> {
    const call = this.#call(exchange, bytes);
    await this.#within(signed.prove(sentOf(exchange, signed, bytes), call), call.timeoutMs, exchange);
  }

  #call(exchange: Exchange, bytes: Uint8Array): RouteCall {
    const { principal, signal, trace } = exchange;
    const { signed } = this.#route;
    const sent = signed && sentOf(exchange, signed, bytes);
    const timeoutMs = this.#leftMs(exchange);
    return { access: this.#ports.client.fleet, principal, signal, timeoutMs, trace, sent };
  }

  async #one(exchange: Exchange, input: AnyInput, to: AnyTarget<"one">): Promise<undefined> {
    const { fleet } = this.#ports.client;
    const request = this.#request(
      exchange,
      this.#shard(to.shard(input, this.#shards)),
      input,
      to.ask?.(input),
    );
    const timeoutMs = this.#leftMs(exchange);
    const hedged = this.#route.mode === "read" && this.#route.hedge !== false;
    const { body, epoch } = await (hedged ? fleet.hedge : fleet.router).call({ ...request, timeoutMs });
    exchange.headers["keelson-epoch"] = formatEpoch(epoch);
    await this.#answer(exchange, input, to.answer ? (to.answer(body, input) as unknown) : body);
    return undefined;
  }

  async #many(exchange: Exchange, input: AnyInput, to: AnyTarget<"many">): Promise<undefined> {
    const { client, limits } = this.#ports;
    const { fleet } = client;
    const shards = to.shards
      ? to.shards(input, this.#shards).map((shard) => this.#shard(shard))
      : this.#shards.ids;
    if (!this.#shards.parameters) this.#shards.byHash("");
    const requests = shards.map((shard) => this.#request(exchange, shard, input, to.ask?.(input, shard)));
    const hedged = this.#route.mode === "read" && this.#route.hedge !== false;
    const caller = hedged ? fleet.hedge : fleet.router;
    const { parts, missing } = await scatter(
      { call: (request) => caller.call(request), clock: this.#ports.clock },
      requests,
      () => undefined,
      { timeoutMs: this.#leftMs(exchange), concurrencyMax: limits.scatterConcurrencyMax },
    );
    if (missing.length > 0) {
      const details = { missing: missing.slice(0, MISSING_SHOWN_MAX), missingCount: missing.length };
      if (to.whole === true || parts.length === 0)
        throw new Problem(
          "PARTIAL",
          `${missing.length} of ${shards.length} shards did not answer: try again`,
          {
            details,
          },
        );
      exchange.headers["keelson-partial"] = `${missing.length}/${shards.length}`;
    }
    await this.#answer(exchange, input, to.merge(parts, input, missing) as unknown);
    return undefined;
  }

  #stream(exchange: Exchange, input: AnyInput, to: AnyTarget<"stream">): Promise<Problem | undefined> {
    const { fleet } = this.#ports.client;
    const shard = this.#shard(to.shard(input, this.#shards));
    const request = this.#request(exchange, shard, input, to.ask?.(input));
    const openTimeoutMs = this.#leftMs(exchange);
    return this.#items(exchange, fleet.stream({ ...request, openTimeoutMs, signal: exchange.signal }));
  }

  async #custom(
    exchange: Exchange,
    input: AnyInput,
    to: AnyTarget<"custom">,
    bytes: Uint8Array = NO_BYTES,
  ): Promise<Problem | undefined> {
    const call = this.#call(exchange, bytes);
    const answer = to.handle(input, call) as Promise<unknown> | AsyncIterable<unknown>;
    if (Symbol.asyncIterator in answer) return this.#items(exchange, answer);
    await this.#answer(exchange, input, await this.#within(answer, call.timeoutMs, exchange));
    return undefined;
  }

  /** An action is written down before its answer leaves. */
  async #answer(exchange: Exchange, { query, body }: AnyInput, answer: unknown): Promise<void> {
    if (this.action) {
      const { request, principal, params } = exchange;
      const asked = { params, input: { ...query, ...(body as object | undefined) } };
      await this.#ports.auditor.done(askerOf(request, principal), this, asked, changeOf(answer));
    }
    exchange.send(answer);
  }

  async #items(exchange: Exchange, items: AsyncIterable<unknown>): Promise<Problem | undefined> {
    const { streams, limits, clock, unread } = this.#ports;
    if (streams.open >= limits.streamsMax) throw shed("streams", `${streams.open} streams are open here`);
    streams.open += 1;
    try {
      return await sendItems(exchange, items, {
        clock,
        pulseMs: limits.streamPulseMs,
        stallMs: limits.streamStallMs,
        waits: () => unread.part(exchange.response),
        problemOf: (error) => problemOf(error, this.plugin),
      });
    } finally {
      streams.open -= 1;
    }
  }

  async #within(answer: Promise<unknown>, timeoutMs: number, exchange: Exchange): Promise<unknown> {
    let late: (problem: Problem) => void = () => undefined;
    const timer = this.#ports.clock.after(timeoutMs, () => {
      exchange.abort();
      late(
        new Problem(
          "TIMEOUT",
          `no answer within ${Math.ceil(timeoutMs)} ms: allow more time, or ask for less`,
        ),
      );
    });
    exchange.onRefused((problem) => late(problem));
    try {
      return await Promise.race([
        answer,
        new Promise<never>((_, reject) => {
          late = reject;
        }),
      ]);
    } finally {
      timer.cancel();
    }
  }

  get #shards(): ReturnType<FleetLink["fleet"]["shards"]> {
    return this.#ports.client.fleet.shards(this.service);
  }

  #shard(shard: string): string {
    if (this.#shards.has(shard) || !this.#shards.parameters) return shard;
    throw new Problem("NO_SHARD", `${this.service} has no such shard`);
  }

  #request(
    exchange: Exchange,
    shard: string,
    input: AnyInput,
    asked: { readonly method: string; readonly body: unknown } | undefined,
  ): Omit<RouterRequest, "timeoutMs"> {
    const { mode, idempotent } = this.#route;
    const { method, body } = asked ?? { method: this.name, body: input };
    return {
      service: this.service,
      shard,
      method,
      mode,
      body,
      ...(idempotent === undefined ? {} : { idempotent }),
      ...(exchange.trace === undefined ? {} : { trace: exchange.trace }),
    };
  }

  /** At least a moment: what has run out of time is told so by the router. */
  #leftMs(exchange: Exchange): number {
    return Math.max(1, exchange.deadline - this.#ports.clock.now());
  }
}

const NO_BYTES = new Uint8Array(0);

function sentOf(
  { request, unproven }: Exchange,
  { signatures, headers }: SignedRoute,
  body: Uint8Array,
): SentRequest {
  const given: Record<string, string> = {};
  for (const name of [...signatures, ...headers]) {
    const value = request.headers[name];
    if (typeof value === "string") given[name] = value;
  }
  return { headers: given, body, proven: !unproven };
}

/** What an action says that it changed. */
function changeOf(answer: unknown): { before: unknown; after: unknown } | undefined {
  if (typeof answer !== "object" || answer === null || !("change" in answer)) return undefined;
  const { change } = answer;
  if (typeof change !== "object" || change === null) return undefined;
  const { before = null, after = null } = change as { before?: unknown; after?: unknown };
  return { before, after };
}

const MISSING_SHOWN_MAX = 10;
const ISSUES_SHOWN_MAX = 10;

/** Several values of one name become a list. */
function queryOf(search: string): Record<string, string | string[]> {
  const query: Record<string, string | string[]> = {};
  if (search === "") return query;
  for (const [name, value] of new URLSearchParams(search)) {
    const known = Object.hasOwn(query, name) ? query[name] : undefined;
    if (known === undefined) Object.defineProperty(query, name, { value, enumerable: true, writable: true });
    else query[name] = Array.isArray(known) ? [...known, value] : [known, value];
  }
  return query;
}

function check(part: string, schema: z.ZodType, value: unknown): unknown {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const issues = checked.error.issues.slice(0, ISSUES_SHOWN_MAX).map(({ path, message }) => ({
    at: [part, ...path].map(String).join("."),
    message: message.slice(0, 300),
  }));
  throw new Problem("BAD_REQUEST", `${issues[0]?.at ?? part}: ${issues[0]?.message ?? "not valid"}`, {
    details: { issues },
  });
}
