/**
 * Gubernator's algorithms as the engine wants them: a bucket's state is a short text that the engine keeps and journals, so that a shard's rate limits
 * survive a restart and a move, which upstream's do not. Pure.
 */
import type { RateAlgorithm, RateAnswer } from "../engine/model/ports.ts";
import type { RateLimit } from "../engine/model/job-spec.ts";
import type { Bucket } from "./bucket.ts";
import { hitMsOf, leakyBucket } from "./leaky-bucket.ts";
import { ALGORITHM, RATE_STATUS, type RateLimitAnswer, type RateLimitRequest } from "./rate-limit.ts";
import { tokenBucket } from "./token-bucket.ts";

/** How long a limit that cannot be checked at all (a bad Gregorian interval) keeps its job waiting. */
const BROKEN_LIMIT_WAIT_MS = 60_000;

export const rateAlgorithm: RateAlgorithm = {
  hit(state, limit, wallMs) {
    const known = state === undefined ? undefined : parseState(state);
    const bucket = known === undefined || known.expireAtMs < wallMs ? undefined : known;
    const request = requestOf(limit);
    const algorithm = limit.algorithm === ALGORITHM.leakyBucket ? leakyBucket : tokenBucket;
    const { answer, bucket: next } = algorithm(bucket, request, wallMs);
    return {
      state: next === undefined ? "" : JSON.stringify(next),
      allowed: answer.error === "" && answer.status === RATE_STATUS.underLimit,
      retryAtMs: retryAt(answer, next, request, wallMs),
      forgetAtMs: next === undefined ? wallMs : next.expireAtMs + 1,
    } satisfies RateAnswer;
  },
};

/** When the request could pass; undefined when it never will by waiting. */
function retryAt(
  answer: RateLimitAnswer,
  bucket: Bucket | undefined,
  request: RateLimitRequest,
  wallMs: number,
): number | undefined {
  if (answer.error !== "") return wallMs + BROKEN_LIMIT_WAIT_MS;
  if (answer.status === RATE_STATUS.underLimit || bucket === undefined) return undefined;
  if (bucket.kind === "token") return request.hits > request.limit ? undefined : bucket.expireAtMs + 1;
  if (request.hits > bucket.burst) return undefined;
  // A calendar interval's number says nothing about how long it is.
  const hitMs = hitMsOf(request, wallMs) ?? BROKEN_LIMIT_WAIT_MS;
  const missing = Math.max(1, request.hits - Math.trunc(bucket.remaining));
  return bucket.updatedAtMs + Math.ceil(missing * hitMs);
}

function requestOf(limit: RateLimit): RateLimitRequest {
  const { name, uniqueKey, hits, durationMs, algorithm, behavior, burst } = limit;
  return {
    name,
    uniqueKey,
    hits,
    limit: limit.limit,
    duration: durationMs,
    algorithm,
    behaviour: behavior,
    burst,
  };
}

function parseState(state: string): Bucket | undefined {
  return state === "" ? undefined : (JSON.parse(state) as Bucket);
}
