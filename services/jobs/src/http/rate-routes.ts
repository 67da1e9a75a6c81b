/** Gubernator's API in JSON, as its own gateway speaks it: 64-bit numbers may be texts, flags and algorithms names, and fields written either way. */
import { route } from "@keelson/runtime";
import { z } from "zod";
import { ShardCalls } from "../client/shard-calls.ts";
import { checkRates, limiterHealth } from "../gubernator/fleet-limiter.ts";

const ALGORITHMS: Readonly<Record<string, number>> = { TOKEN_BUCKET: 0, LEAKY_BUCKET: 1 };
const BEHAVIORS: Readonly<Record<string, number>> = {
  BATCHING: 0,
  NO_BATCHING: 1,
  GLOBAL: 2,
  DURATION_IS_GREGORIAN: 4,
  RESET_REMAINING: 8,
  MULTI_REGION: 16,
  DRAIN_OVER_LIMIT: 32,
};

const number = z.coerce.number().default(0);
/** A number, or the name that protobuf's JSON has for it. */
const named = (names: Readonly<Record<string, number>>) =>
  z.preprocess((value) => (typeof value === "string" ? (names[value] ?? value) : value), number);

const Rate = z.object({
  name: z.string().default(""),
  unique_key: z.string().optional(),
  uniqueKey: z.string().optional().describe("the same as unique_key"),
  hits: number,
  limit: number,
  duration: number,
  algorithm: named(ALGORITHMS).describe("TOKEN_BUCKET (0) or LEAKY_BUCKET (1)"),
  behavior: named(BEHAVIORS).describe("flags, added, or the name of one"),
  burst: number,
  created_at: z.coerce.number().optional(),
  createdAt: z.coerce.number().optional().describe("the same as created_at"),
});

export const rateRoutes = {
  rateLimits: route({
    verb: "POST",
    path: "/rate-limits",
    alsoAt: ["/v1/GetRateLimits"],
    summary: "Gubernator's GetRateLimits in JSON",
    body: z.object({ requests: z.array(Rate).max(1_000).default([]) }),
    answer: z.object({
      responses: z.array(
        z.object({
          status: z.enum(["UNDER_LIMIT", "OVER_LIMIT"]),
          limit: z.string(),
          remaining: z.string(),
          reset_time: z.string(),
          error: z.string(),
        }),
      ),
    }),
    scope: "write",
    mode: "write",
    to: {
      kind: "custom",
      async handle({ body }, { access, timeoutMs }) {
        const requests = body.requests.map((each) => ({
          name: each.name,
          uniqueKey: each.unique_key ?? each.uniqueKey ?? "",
          hits: each.hits,
          limit: each.limit,
          duration: each.duration,
          algorithm: each.algorithm,
          behaviour: each.behavior,
          burst: each.burst,
          createdAtMs: each.created_at ?? each.createdAt,
        }));
        const answers = await checkRates(new ShardCalls(access), requests, timeoutMs);
        return {
          // 64-bit numbers are texts in protobuf's JSON.
          responses: answers.map(({ status, limit, remaining, resetAtMs, error }) => ({
            status: status === 1 ? ("OVER_LIMIT" as const) : ("UNDER_LIMIT" as const),
            limit: String(limit),
            remaining: String(remaining),
            reset_time: String(resetAtMs),
            error,
          })),
        };
      },
    },
  }),
  rateHealth: route({
    verb: "GET",
    path: "/rate-limits/health",
    alsoAt: ["/v1/HealthCheck"],
    summary: "Gubernator's HealthCheck in JSON",
    answer: z.object({ status: z.string(), message: z.string(), peer_count: z.int() }),
    scope: "read",
    mode: "read",
    to: {
      kind: "custom",
      handle(_, { access }) {
        const { status, message, peerCount } = limiterHealth(new ShardCalls(access));
        return Promise.resolve({ status, message, peer_count: peerCount });
      },
    },
  }),
};
