/** What a rate limit remembers between requests. Plain data: the limiter keeps it, the algorithms change it. */
import type { RateLimitAnswer } from "./rate-limit.ts";

export interface TokenBucket {
  readonly kind: "token";
  limit: number;
  duration: number;
  remaining: number;
  createdAtMs: number;
  status: number;
  expireAtMs: number;
}

export interface LeakyBucket {
  readonly kind: "leaky";
  limit: number;
  duration: number;
  /** Has a fraction: hits leak out evenly. */
  remaining: number;
  updatedAtMs: number;
  burst: number;
  expireAtMs: number;
}

export type Bucket = TokenBucket | LeakyBucket;

/** What an algorithm did: its answer, and the bucket to keep from now on; none when the limit starts anew. */
export interface BucketStep {
  readonly answer: RateLimitAnswer;
  readonly bucket: Bucket | undefined;
}
