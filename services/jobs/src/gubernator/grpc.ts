/** Gubernator's `V1` service, served by the fleet: a client of Gubernator can use the job queue's nodes instead of a Gubernator of its own. */
import { GrpcFailure, type GrpcCall, type GrpcService } from "@keelson/runtime";
import { ShardCalls } from "../client/shard-calls.ts";
import { checkRates, limiterHealth } from "./fleet-limiter.ts";
import {
  GET_RATE_LIMITS_REQ,
  GET_RATE_LIMITS_RESP,
  HEALTH_CHECK_REQ,
  HEALTH_CHECK_RESP,
  REQUESTS_MAX,
  V1_SERVICE,
} from "./messages.ts";

const OUT_OF_RANGE = 11;

export const gubernatorService: GrpcService = {
  name: V1_SERVICE,
  methods: {
    GetRateLimits: {
      kind: "unary",
      scope: "write",
      decode: (bytes) => GET_RATE_LIMITS_REQ.decode(bytes),
      encode: (message) => GET_RATE_LIMITS_RESP.encode(message as object),
      async handle(asked, { access, timeoutMs }: GrpcCall) {
        const { requests } = asked as ReturnType<typeof GET_RATE_LIMITS_REQ.decode>;
        if (requests.length > REQUESTS_MAX)
          throw new GrpcFailure(
            OUT_OF_RANGE,
            `Requests.RateLimits list too large; max size is '${REQUESTS_MAX}'`,
          );
        const answers = await checkRates(new ShardCalls(access), requests, timeoutMs);
        return { responses: answers.map((answer) => ({ ...answer, metadata: {} })) };
      },
    },
    HealthCheck: {
      kind: "unary",
      scope: "read",
      open: true,
      decode: (bytes) => HEALTH_CHECK_REQ.decode(bytes),
      encode: (message) => HEALTH_CHECK_RESP.encode(message as object),
      handle(_, { access, host }: GrpcCall) {
        return Promise.resolve({ ...limiterHealth(new ShardCalls(access)), advertiseAddress: host });
      },
    },
    LiveCheck: {
      kind: "unary",
      scope: "read",
      open: true,
      decode: (bytes) => HEALTH_CHECK_REQ.decode(bytes),
      encode: () => HEALTH_CHECK_REQ.encode({}),
      handle: () => Promise.resolve({}),
    },
  },
};
