/** Gubernator's `pb.gubernator.V1` in protobuf, and what its requests and answers are here. */
import { int, map, message, optional, repeated, text } from "../protobuf/message.ts";
import type { RateLimitAnswer, RateLimitRequest } from "./rate-limit.ts";

export const V1_SERVICE = "pb.gubernator.V1";
/** Upstream's limit for one call. */
export const REQUESTS_MAX = 1_000;

const RATE_LIMIT_REQ = message({
  name: text(1),
  uniqueKey: text(2),
  hits: int(3),
  limit: int(4),
  duration: int(5),
  algorithm: int(6),
  behaviour: int(7),
  burst: int(8),
  metadata: map(9),
  createdAtMs: optional(10, "int"),
});

const RATE_LIMIT_RESP = message({
  status: int(1),
  limit: int(2),
  remaining: int(3),
  resetAtMs: int(4),
  error: text(5),
  metadata: map(6),
});

export const GET_RATE_LIMITS_REQ = message({ requests: repeated(1, RATE_LIMIT_REQ) });
export const GET_RATE_LIMITS_RESP = message({ responses: repeated(1, RATE_LIMIT_RESP) });
export const HEALTH_CHECK_REQ = message({});
export const HEALTH_CHECK_RESP = message({
  status: text(1),
  message: text(2),
  peerCount: int(3),
  advertiseAddress: text(4),
});

export function encodeRateLimits(requests: readonly RateLimitRequest[]): Buffer {
  return GET_RATE_LIMITS_REQ.encode({
    requests: requests.map((each) => ({ ...each, metadata: {}, createdAtMs: each.createdAtMs })),
  });
}

/** In the order of the requests. */
export function decodeAnswers(bytes: Uint8Array): RateLimitAnswer[] {
  return GET_RATE_LIMITS_RESP.decode(bytes).responses;
}
