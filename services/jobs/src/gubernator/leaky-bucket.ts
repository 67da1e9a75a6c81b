/**
 * The leaky bucket: hits fill it, and leak out one by one every `duration / limit`. What is left has a fraction; answers show whole hits. Nothing leaks
 * until a whole hit has, so that many small steps lose nothing. Pure: the bucket comes in and goes out.
 */
import type { Bucket, BucketStep, LeakyBucket } from "./bucket.ts";
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
export function leakyBucket(
  bucket: Bucket | undefined,
  request: RateLimitRequest,
  nowMs: number,
): BucketStep {
  const pace = paceOf(request, nowMs);
  if ("problem" in pace) return { answer: refusedLimit(pace.problem), bucket };
  const burst = request.burst === 0 ? request.limit : request.burst;
  if (bucket?.kind !== "leaky") return newBucket(request, burst, pace, nowMs);
  const next = { ...bucket };
  if (hasBehaviour(request.behaviour, BEHAVIOUR.resetRemaining)) next.remaining = burst;
  if (next.burst !== burst) {
    if (burst > Math.trunc(next.remaining)) next.remaining = burst;
    next.burst = burst;
  }
  next.limit = request.limit;
  next.duration = request.duration;
  const createdAtMs = request.createdAtMs ?? nowMs;
  if (request.hits !== 0) next.expireAtMs = createdAtMs + pace.lastsMs;
  leak(next, createdAtMs, pace.hitMs);
  return { answer: take(next, request, createdAtMs, pace.hitMs), bucket: next };
}

function leak(bucket: LeakyBucket, createdAtMs: number, hitMs: number): void {
  const leaked = (createdAtMs - bucket.updatedAtMs) / hitMs;
  if (Math.trunc(leaked) > 0) {
    bucket.remaining += leaked;
    bucket.updatedAtMs = createdAtMs;
  }
  if (Math.trunc(bucket.remaining) > bucket.burst) bucket.remaining = bucket.burst;
}

function take(
  bucket: LeakyBucket,
  { hits, behaviour }: RateLimitRequest,
  createdAtMs: number,
  hitMs: number,
): RateLimitAnswer {
  const { limit } = bucket;
  const whole = Math.trunc(bucket.remaining);
  const answer = (status: number, remaining: number, resetFrom = remaining): RateLimitAnswer => ({
    status,
    limit,
    remaining,
    resetAtMs: resetAt(createdAtMs, limit - resetFrom, hitMs),
    error: "",
  });
  if (whole === 0 && hits > 0) return answer(RATE_STATUS.overLimit, 0);
  if (whole === hits) {
    bucket.remaining = 0;
    return answer(RATE_STATUS.underLimit, 0);
  }
  if (hits > whole) {
    if (!hasBehaviour(behaviour, BEHAVIOUR.drainOverLimit)) return answer(RATE_STATUS.overLimit, whole);
    bucket.remaining = 0;
    // Upstream tells the reset time of before the drain.
    return answer(RATE_STATUS.overLimit, 0, whole);
  }
  bucket.remaining -= hits;
  return answer(RATE_STATUS.underLimit, Math.trunc(bucket.remaining));
}

function newBucket(
  { limit, hits, createdAtMs: given }: RateLimitRequest,
  burst: number,
  { lastsMs, hitMs }: Pace,
  nowMs: number,
): BucketStep {
  const createdAtMs = given ?? nowMs;
  const isOver = hits > burst;
  const remaining = isOver ? 0 : burst - hits;
  const expireAtMs = createdAtMs + lastsMs;
  const answer: RateLimitAnswer = {
    status: isOver ? RATE_STATUS.overLimit : RATE_STATUS.underLimit,
    limit,
    remaining,
    resetAtMs: resetAt(createdAtMs, limit - remaining, hitMs),
    error: "",
  };
  const bucket = { limit, duration: lastsMs, remaining, updatedAtMs: createdAtMs, burst, expireAtMs };
  return { answer, bucket: { kind: "leaky", ...bucket } };
}

/** How long one hit takes to leak out; undefined when the request names no such time. */
export function hitMsOf(request: RateLimitRequest, nowMs: number): number | undefined {
  const pace = paceOf(request, nowMs);
  return "problem" in pace ? undefined : pace.hitMs;
}

interface Pace {
  /** How long a bucket is remembered after a hit. */
  readonly lastsMs: number;
  /** How long one hit takes to leak out. */
  readonly hitMs: number;
}

function paceOf(request: RateLimitRequest, nowMs: number): Pace | { readonly problem: string } {
  const { duration, limit, behaviour } = request;
  if (!hasBehaviour(behaviour, BEHAVIOUR.durationIsGregorian))
    return { lastsMs: duration, hitMs: duration / limit };
  const interval = gregorianInterval(nowMs, duration);
  if ("problem" in interval) return interval;
  return { lastsMs: interval.endMs - nowMs, hitMs: (interval.endMs + 1 - interval.beginMs) / limit };
}

function resetAt(createdAtMs: number, hits: number, hitMs: number): number {
  return Number.isFinite(hitMs) ? createdAtMs + hits * Math.trunc(hitMs) : createdAtMs;
}
