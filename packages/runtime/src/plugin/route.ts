/**
 * One operation of a service's HTTP API: what it takes and gives (schemas), who may call it, which shards answer it, and its limits. The
 * gateway checks, routes and documents from this alone; a typed client is made from it too. It says nothing of HTTP servers.
 */
import type { z } from "zod";
import type { Part, MissingPart } from "../router/scatter.ts";
import type { FleetAccess, ShardDirectory } from "./fleet-access.ts";
import type { HttpAnswer } from "./http-answer.ts";
import type { JsonText } from "./json-text.ts";
import type { Principal } from "./principal.ts";

export type Scope = "read" | "write" | "admin";

/** What a request brings, checked: path parameters, query and body. */
export interface Input<Params = unknown, Query = unknown, Body = unknown> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
}

/** What is asked of a shard. Left out, the method is the route's name and the body the whole input. */
export interface Asked {
  readonly method: string;
  readonly body: unknown;
}

export interface RouteLimits {
  /** Of the request's body; 1 MiB when left out. */
  readonly bodyBytesMax?: number;
  /** For the whole request; 10 s when left out. For a stream, until its first item. A caller may ask for less, never for more. */
  readonly timeoutMs?: number;
  /** Requests of this route under way in one gateway; beyond, 429. 1,000 when left out. */
  readonly inflightMax?: number;
}

/** How a request finds its shard, and what becomes of the answers. `In` is the checked input, `Out` what the caller gets. */
export type Target<In, Out> =
  /** One shard, by key. */
  | {
      readonly kind: "one";
      shard(input: In, shards: ShardDirectory): string;
      ask?(input: In): Asked;
      /** Turns the shard's answer into the caller's; left out, it is the caller's. */
      answer?(body: unknown, input: In): Out | HttpAnswer;
    }
  /** Many shards, merged in the order of the shards. `merge` gets what there is and what is missing; the gateway says that it is partial. */
  | {
      readonly kind: "many";
      shards?(input: In, shards: ShardDirectory): readonly string[];
      ask?(input: In, shard: string): Asked;
      merge(parts: readonly Part[], input: In, missing: readonly MissingPart[]): Out | HttpAnswer;
      /** Answer with an error when a part is missing, instead of a partial answer. */
      readonly whole?: boolean;
    }
  /** Items of one shard's `stream`, sent on as server-sent events or as lines of JSON, as the caller accepts. `Out` is an item. */
  | {
      readonly kind: "stream";
      shard(input: In, shards: ShardDirectory): string;
      ask?(input: In): Asked;
    }
  /** Whatever fits none of these: several calls, a batch over many shards, an answer that is no JSON. An async generator streams. */
  | {
      readonly kind: "custom";
      handle(input: In, call: RouteCall): Promise<Out | HttpAnswer> | AsyncIterable<Out | JsonText>;
    };

/** Which requests prove by a signature who sent them, and what of them is needed to check it. */
export interface SignedRoute {
  /** A request that has one of these, in small letters, and shows no token, is let in unproven. */
  readonly signatures: readonly string[];
  /** Headers that a handler is given besides these. */
  readonly headers: readonly string[];
  /** The field that has the JSON where a sender sends a form. */
  readonly formField: string;
  /**
   * Rejects what is not proven and not rightly signed. Nothing of the request is understood before: what a stranger sends costs no more than reading it and this. Whoever shows a token is heard
   * here too, so that a wrong signature can be refused all the same.
   */
  prove(sent: SentRequest, call: RouteCall): Promise<void>;
}

/** A request as it came, for a handler that checks signatures. */
export interface SentRequest {
  /** Those that the route names. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it came, before it was parsed: what was signed. */
  readonly body: Uint8Array;
  /** It showed a token that suffices, or none is asked for. Otherwise nobody has checked who sent it, and nothing may be done before that is done. */
  readonly proven: boolean;
}

/** What a custom handler has besides its input. */
export interface RouteCall {
  readonly access: FleetAccess;
  readonly principal: Principal;
  /** Aborted when the caller left or time is up. */
  readonly signal: AbortSignal;
  /** How long is left. */
  readonly timeoutMs: number;
  /** To pass on with calls, so that one trace spans them all. */
  readonly trace: string | undefined;
  /** Only for a route that is `signed`. */
  readonly sent?: SentRequest | undefined;
}

export interface Route<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly verb: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/v1/<plug-in>`: `/tenants/{tenant}/jobs/{id}`. A name in braces takes one segment, `{rest*}` the rest of the path. */
  readonly path: string;
  /** Other absolute paths for the same operation, for protocols that others have laid down: `/api/search`. */
  readonly alsoAt?: readonly string[];
  /** What such a protocol writes when it refuses a request, there alone. Its bodies need no content type either. */
  refusal?(message: string): unknown;
  /** A sentence without its full stop, for people who look for it. */
  readonly summary: string;
  readonly description?: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  readonly answer: Answer;
  /** What a token must have; also "admin" satisfies "write", and "write" satisfies "read". */
  readonly scope: Scope;
  /** For senders that cannot show a token and sign what they send, as servers of repositories do. Only for a custom handler. */
  readonly signed?: SignedRoute;
  /** Which tenant it concerns. Left out, a token that is limited to tenants is refused. */
  tenant?(input: Input<z.output<Params>, z.output<Query>, z.output<Body>>): string;
  /** A read may be retried, hedged and answered by any replica; a write goes to the holder that may write. */
  readonly mode: "read" | "write";
  /** A write that may be carried out twice. */
  readonly idempotent?: boolean;
  /** Whether a slow read is asked of another replica as well; true when left out. */
  readonly hedge?: boolean;
  readonly limits?: RouteLimits;
  readonly to: Target<Input<z.output<Params>, z.output<Query>, z.output<Body>>, z.input<Answer>>;
}

/** Routes by name. The name is the operation's id in OpenAPI, the method asked of the shard, and the client's method. */
export type Routes = Readonly<Record<string, AnyRoute>>;

/** A route whose types are forgotten, as a gateway keeps it. */
export type AnyRoute = Omit<Route, "tenant" | "to"> & {
  // oxlint-disable-next-line typescript/no-explicit-any -- a list of routes holds inputs of all kinds; each was checked where it was written.
  readonly tenant?: (input: any) => string;
  // oxlint-disable-next-line typescript/no-explicit-any -- as above.
  readonly to: Target<any, any>;
};

/** Lets the compiler work out a route's types from its schemas. */
export function route<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodType,
>(declared: Route<Params, Query, Body, Answer>): Route<Params, Query, Body, Answer> {
  return declared;
}
