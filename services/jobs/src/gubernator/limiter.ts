/**
 * The limiter: rate limits by name and key, kept in memory only, as upstream keeps them, and no more of them than a limit; the one that was not used for
 * longest goes first. Time is given with each call, so the same calls give the same answers.
 */
import type { Bucket } from "./bucket.ts";
import { leakyBucket } from "./leaky-bucket.ts";
import { ALGORITHM, refusedLimit, type RateLimitAnswer, type RateLimitRequest } from "./rate-limit.ts";
import { tokenBucket } from "./token-bucket.ts";

export interface LimiterOptions {
  readonly bucketsMax: number;
}

const DEFAULTS: LimiterOptions = { bucketsMax: 50_000 };

export class Limiter {
  readonly #bucketsMax: number;
  /** In the order of last use. */
  readonly #buckets = new Map<string, Bucket>();

  constructor(options: Partial<LimiterOptions> = {}) {
    this.#bucketsMax = options.bucketsMax ?? DEFAULTS.bucketsMax;
  }

  get size(): number {
    return this.#buckets.size;
  }

  check(asked: RateLimitRequest, nowMs: number): RateLimitAnswer {
    const problem = requestProblem(asked);
    if (problem !== undefined) return refusedLimit(problem);
    // Upstream takes a time of 0 for none, as protobuf's older clients write it.
    const request = asked.createdAtMs === 0 ? { ...asked, createdAtMs: undefined } : asked;
    const key = `${request.name}_${request.uniqueKey}`;
    const known = this.#buckets.get(key);
    const bucket = known === undefined || known.expireAtMs < nowMs ? undefined : known;
    const algorithm = request.algorithm === ALGORITHM.tokenBucket ? tokenBucket : leakyBucket;
    const { answer, bucket: next } = algorithm(bucket, request, nowMs);
    this.#buckets.delete(key);
    if (next !== undefined) this.#keep(key, next);
    return answer;
  }

  #keep(key: string, bucket: Bucket): void {
    this.#buckets.set(key, bucket);
    if (this.#buckets.size <= this.#bucketsMax) return;
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}

const NUMBERS = ["hits", "limit", "duration", "algorithm", "behaviour", "burst", "createdAtMs"] as const;

/** In upstream's words, where it has some. */
function requestProblem(request: RateLimitRequest): string | undefined {
  const { name, uniqueKey, algorithm, limit, duration, burst } = request;
  if (uniqueKey === "") return "field 'unique_key' cannot be empty";
  if (name === "") return "field 'namespace' cannot be empty";
  if (algorithm !== ALGORITHM.tokenBucket && algorithm !== ALGORITHM.leakyBucket)
    return `invalid rate limit algorithm '${algorithm}'`;
  for (const field of NUMBERS)
    if (request[field] !== undefined && !Number.isSafeInteger(request[field]))
      return `field '${field}' is no whole number`;
  if (limit < 0 || duration < 0 || burst < 0) return "limit, duration and burst cannot be negative";
  return undefined;
}
