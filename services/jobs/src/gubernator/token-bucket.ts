/**
 * The token bucket: so many hits in a window that begins with the first of them. A request for more than is left is refused and takes nothing, so that a smaller
 * one may still pass; `drainOverLimit` makes it take what is left. Pure: the bucket comes in and goes out.
 */
import type { Bucket, BucketStep, TokenBucket } from "./bucket.ts";
import { gregorianInterval } from "./gregorian.ts";
import {
  BEHAVIOUR,
  RATE_STATUS,
  hasBehaviour,
  refusedLimit,
  type RateLimitAnswer,
  type RateLimitRequest,
} from "./rate-limit.ts";

/** `bucket` is what an earlier step gave, unless it has expired by `nowMs`. */
export function tokenBucket(
  bucket: Bucket | undefined,
  request: RateLimitRequest,
  nowMs: number,
): BucketStep {
  // Whatever kind of bucket it was.
  if (bucket !== undefined && hasBehaviour(request.behaviour, BEHAVIOUR.resetRemaining))
    return reset(request);
  if (bucket?.kind !== "token") return newBucket(request, nowMs);
  const next = { ...bucket };
  if (next.limit !== request.limit) {
    next.remaining = Math.max(0, next.remaining + request.limit - next.limit);
    next.limit = request.limit;
  }
  if (next.duration !== request.duration) {
    const problem = changeDuration(next, request, nowMs);
    if (problem !== undefined) return { answer: refusedLimit(problem), bucket };
  }
  return { answer: take(next, request), bucket: next };
}

function take(bucket: TokenBucket, { hits, limit, behaviour }: RateLimitRequest): RateLimitAnswer {
  const answer = (status: number): RateLimitAnswer => ({
    status,
    limit,
    remaining: bucket.remaining,
    resetAtMs: bucket.expireAtMs,
    error: "",
  });
  if (hits === 0) return answer(bucket.status);
  if (bucket.remaining === 0 && hits > 0) {
    bucket.status = RATE_STATUS.overLimit;
    return answer(bucket.status);
  }
  if (hits > bucket.remaining) {
    if (hasBehaviour(behaviour, BEHAVIOUR.drainOverLimit)) bucket.remaining = 0;
    return answer(RATE_STATUS.overLimit);
  }
  bucket.remaining -= hits;
  return answer(bucket.status);
}

/** The window keeps its beginning; when it would have ended by now it begins anew. */
function changeDuration(bucket: TokenBucket, request: RateLimitRequest, nowMs: number): string | undefined {
  const createdAtMs = request.createdAtMs ?? nowMs;
  let expireAtMs = bucket.createdAtMs + request.duration;
  if (hasBehaviour(request.behaviour, BEHAVIOUR.durationIsGregorian)) {
    const interval = gregorianInterval(nowMs, request.duration);
    if ("problem" in interval) return interval.problem;
    expireAtMs = interval.endMs;
  }
  if (expireAtMs <= createdAtMs) {
    expireAtMs = createdAtMs + request.duration;
    bucket.createdAtMs = createdAtMs;
    bucket.remaining = bucket.limit;
  }
  bucket.expireAtMs = expireAtMs;
  bucket.duration = request.duration;
  return undefined;
}

function newBucket(request: RateLimitRequest, nowMs: number): BucketStep {
  const { limit, hits, duration } = request;
  const createdAtMs = request.createdAtMs ?? nowMs;
  let expireAtMs = createdAtMs + duration;
  if (hasBehaviour(request.behaviour, BEHAVIOUR.durationIsGregorian)) {
    const interval = gregorianInterval(nowMs, duration);
    if ("problem" in interval) return { answer: refusedLimit(interval.problem), bucket: undefined };
    expireAtMs = interval.endMs;
  }
  const isOver = hits > limit;
  const remaining = isOver ? limit : limit - hits;
  const status = RATE_STATUS.underLimit;
  const bucket = { kind: "token", limit, duration, remaining, createdAtMs, status, expireAtMs } as const;
  const answer = { limit, remaining, resetAtMs: expireAtMs, error: "" };
  return { answer: { ...answer, status: isOver ? RATE_STATUS.overLimit : status }, bucket };
}

function reset({ limit }: RateLimitRequest): BucketStep {
  const answer = { status: RATE_STATUS.underLimit, limit, remaining: limit, resetAtMs: 0, error: "" };
  return { answer, bucket: undefined };
}
