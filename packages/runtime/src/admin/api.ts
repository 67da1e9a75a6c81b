/**
 * The fleet's admin as an HTTP API, for a gateway to serve below /v1/fleet. Looking needs the scope read, and a token that is
 * not limited to tenants; changing something needs the scope admin. It adds nothing of its own: what a
 * route answers is what the admin says.
 */
import { z } from "zod";
import type { AnyPlugin } from "../plugin/plugin.ts";
import { route, type RouteCall, type Routes } from "../plugin/route.ts";
import { REPLICA_STATES, type EventPage, type FleetAdmin, type Wisher } from "./contract.ts";
import { feedFrameSchema } from "./feed/feed-schema.ts";
import {
  doneSchema,
  eventPageSchema,
  eventSchema,
  explanationSchema,
  findingsSchema,
  fleetStatusSchema,
  forecastSchema,
  nodesSchema,
  shardPageSchema,
} from "./schemas.ts";

/** An API without a service behind it: what the process that serves it knows itself. */
export type Api = Pick<AnyPlugin, "name" | "about" | "http" | "errors" | "console">;

const name = z.string().min(1).max(256);
const shardParams = z.object({ service: name, shard: name });
const nodeParams = z.object({ node: name });
const replica = z.coerce.number().int().min(0).max(100).optional();
const names = z
  .string()
  .max(10_000)
  .transform((text) => text.split(",").filter((one) => one !== ""))
  .optional()
  .describe("several with commas");
const wish = { reason: z.string().max(500).default(""), by: z.string().max(200).optional() };

const read = { scope: "read", mode: "read" } as const;
const change = { scope: "admin", mode: "write", idempotent: true } as const;

/** How long a stream of events waits for the next one before it looks whether its reader is still there. */
const FOLLOW_MS = 5_000;

export function fleetApi(admin: FleetAdmin): Api {
  return {
    name: "fleet",
    about: "the fleet itself: nodes, shards, plans, events, and what operators ask of it",
    http: { ...reads(admin), ...changes(admin) },
    errors: {
      NO_SUCH_NODE: { status: 404, about: "the fleet has no such member" },
      NO_SUCH_SERVICE: { status: 404, about: "no member offers it" },
      NO_SUCH_SHARD: { status: 404, about: "the service has no such shard or replica" },
      NOT_POSSIBLE: { status: 409, about: "the fleet cannot do that as it is; the text says why" },
      CONFLICT: { status: 409, about: "others kept changing the same thing" },
      NOT_KNOWN_YET: { status: 503, about: "the store has not answered yet" },
      STORE_UNAVAILABLE: { status: 503, about: "the store cannot be reached; nothing was changed" },
    },
  };
}

function reads(admin: FleetAdmin): Routes {
  return {
    status: route({
      ...read,
      verb: "GET",
      path: "/status",
      summary: "The fleet at a glance",
      answer: fleetStatusSchema,
      to: { kind: "custom", handle: async () => plain(await admin.status()) },
    }),
    nodes: route({
      ...read,
      verb: "GET",
      path: "/nodes",
      summary: "Members, what they hold, and how they are",
      query: z.object({ reports: z.stringbool().default(false).describe("ask each node how it is, too") }),
      answer: nodesSchema,
      to: {
        kind: "custom",
        handle: async ({ query }) => plain({ nodes: await admin.nodes(query) }),
      },
    }),
    shards: route({
      ...read,
      verb: "GET",
      path: "/shards",
      summary: "Replicas one by one, in pages",
      query: z.object({
        service: name.optional(),
        node: name.optional(),
        state: z.enum(REPLICA_STATES).optional(),
        after: z.string().max(1_024).optional(),
        limit: z.coerce.number().int().min(1).max(1_000).optional(),
      }),
      answer: shardPageSchema,
      to: { kind: "custom", handle: async ({ query }) => plain(await admin.shards(query)) },
    }),
    explain: route({
      ...read,
      verb: "GET",
      path: "/shards/{service}/{shard}",
      summary: "Who holds a shard, since when, and why",
      params: shardParams,
      answer: explanationSchema,
      to: {
        kind: "custom",
        handle: async ({ params }) => plain(await admin.explain(params.service, params.shard)),
      },
    }),
    plan: route({
      ...read,
      verb: "GET",
      path: "/plan",
      summary: "What would move, if nodes left or joined; nothing is changed",
      query: z.object({ service: name.optional(), without: names, joining: names }),
      answer: forecastSchema,
      to: {
        kind: "custom",
        handle: async ({ query }) => plain({ services: await admin.forecast(query) }),
      },
    }),
    events: route({
      ...read,
      verb: "GET",
      path: "/events",
      summary: "What happened since a cursor",
      query: z.object({
        after: z.string().max(100).optional(),
        waitMs: z.coerce.number().min(0).max(30_000).optional(),
        limit: z.coerce.number().int().min(1).max(1_000).optional(),
      }),
      answer: eventPageSchema,
      limits: { timeoutMs: 35_000 },
      to: { kind: "custom", handle: async ({ query }) => plain(await admin.events(query)) },
    }),
    eventStream: route({
      ...read,
      verb: "GET",
      path: "/events/stream",
      summary: "What happens, as it happens",
      answer: eventSchema,
      to: { kind: "custom", handle: (_, { signal }) => follow(admin, signal) },
    }),
    ...(admin.feed ? { feed: feedRoute(admin.feed.bind(admin)) } : {}),
    doctor: route({
      ...read,
      verb: "GET",
      path: "/doctor",
      summary: "What is wrong, and what to do about it",
      answer: findingsSchema,
      limits: { inflightMax: 10 },
      to: { kind: "custom", handle: async () => plain({ findings: await admin.doctor() }) },
    }),
  };
}

/** The schema's lists are not readonly, the frames' are: the compiler minds, JSON does not. */
type Frames = AsyncIterable<z.input<typeof feedFrameSchema>>;

function feedRoute(feed: NonNullable<FleetAdmin["feed"]>): Routes[string] {
  return route({
    ...read,
    verb: "GET",
    path: "/feed",
    summary: "The fleet, live: everything, then what changes; what the console lives on",
    description:
      "After `reset` everything is told, until `live`; then come changes, gathered for 250 ms. With the last cursor as `after`, a reader that lost its connection goes on where it was.",
    query: z.object({
      replicas: z.stringbool().default(true).describe("also tell of every replica"),
      node: name.optional().describe("ask this node how it is, every few seconds"),
      after: z.string().max(100).optional().describe("the cursor of the last frame that was read"),
    }),
    answer: feedFrameSchema,
    to: {
      kind: "custom",
      handle: ({ query }, { signal }) => feed(query, signal) as AsyncIterable<unknown> as Frames,
    },
  });
}

function changes(admin: FleetAdmin): Routes {
  return {
    drain: route({
      ...change,
      verb: "PUT",
      path: "/drains/{node}",
      summary: "Let a node give away what it holds, and take nothing",
      params: nodeParams,
      body: z.object(wish),
      answer: doneSchema,
      to: {
        kind: "custom",
        handle: ({ params, body }, call) => admin.drain(params.node, wisher(body, call)),
      },
    }),
    undrain: route({
      ...change,
      verb: "DELETE",
      path: "/drains/{node}",
      summary: "Let a drained node take its share again",
      params: nodeParams,
      answer: doneSchema,
      to: { kind: "custom", handle: ({ params }) => admin.undrain(params.node) },
    }),
    pin: route({
      ...change,
      verb: "PUT",
      path: "/pins/{service}/{shard}",
      summary: "Keep a replica on a node",
      params: shardParams,
      body: z.object({ ...wish, node: name, replica }),
      answer: doneSchema,
      to: {
        kind: "custom",
        handle: ({ params, body }, call) =>
          admin.pin({ ...params, node: body.node, replica: body.replica }, wisher(body, call)),
      },
    }),
    unpin: route({
      ...change,
      verb: "DELETE",
      path: "/pins/{service}/{shard}",
      summary: "Let the placement decide again where a replica is",
      params: shardParams,
      query: z.object({ replica }),
      answer: doneSchema,
      to: {
        kind: "custom",
        handle: ({ params, query }) => admin.unpin({ ...params, replica: query.replica }),
      },
    }),
    move: route({
      ...change,
      verb: "POST",
      path: "/moves/{service}/{shard}",
      summary: "Move a replica once",
      params: shardParams,
      body: z.object({ ...wish, node: name.optional(), replica }),
      answer: doneSchema,
      to: {
        kind: "custom",
        handle: ({ params, body }, call) =>
          admin.move({ ...params, node: body.node, replica: body.replica }, wisher(body, call)),
      },
    }),
    retry: route({
      ...change,
      verb: "DELETE",
      path: "/troubles/{service}/{shard}",
      summary: "End a quarantine: forget what is held against a shard",
      params: shardParams,
      answer: doneSchema,
      to: { kind: "custom", handle: ({ params }) => admin.retry(params.service, params.shard) },
    }),
  };
}

/** The recent events, then those to come, until the reader leaves. */
async function* follow(admin: FleetAdmin, signal: AbortSignal): AsyncIterable<EventPage["events"][number]> {
  let after: string | undefined;
  while (!signal.aborted) {
    const page = await admin.events({ after, ...(after === undefined ? {} : { waitMs: FOLLOW_MS }) });
    yield* page.events;
    after = page.cursor;
  }
}

/** Who asks: as the caller says, beside the name of the token that was shown. */
function wisher(
  body: { readonly reason: string; readonly by?: string | undefined },
  call: RouteCall,
): Wisher {
  return { reason: body.reason, by: body.by ?? call.principal.name };
}

/** As JSON will carry it: what is undefined is not there. Schemas make no difference between readonly lists and others, the compiler does. */
function plain<T>(value: T): Plain<T> {
  return value as Plain<T>;
}

type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Plain<T[Key]> }
    : T;
