import { Server, ServerCredentials } from "@grpc/grpc-js";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RateLimit } from "../engine/index.ts";
import { Limiter } from "./limiter.ts";
import { GET_RATE_LIMITS_REQ, GET_RATE_LIMITS_RESP, V1_SERVICE } from "./messages.ts";
import { RemoteLimiter } from "./remote-limiter.ts";

const NOW = 1_700_000_000_000;
let server: Server;
let remote: RemoteLimiter;
let calls = 0;
const problems: string[] = [];

/** Gubernator's V1 on a real gRPC server, with the algorithms of the built-in limiter: no Gubernator runs on the machines at hand. */
beforeEach(async () => {
  const limiter = new Limiter();
  server = new Server();
  calls = 0;
  problems.length = 0;
  const definition = {
    GetRateLimits: {
      path: `/${V1_SERVICE}/GetRateLimits`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (bytes: Buffer) => bytes,
      requestDeserialize: (bytes: Buffer) => GET_RATE_LIMITS_REQ.decode(bytes),
      responseSerialize: (bytes: Buffer) => bytes,
      responseDeserialize: (bytes: Buffer) => bytes,
    },
  } as const;
  type Call = { readonly request: ReturnType<typeof GET_RATE_LIMITS_REQ.decode> };
  server.addService(definition, {
    GetRateLimits: (call: Call, done: (error: null, answer: Buffer) => void) => {
      calls += 1;
      const responses = call.request.requests.map((each) => ({ ...limiter.check(each, NOW), metadata: {} }));
      done(null, GET_RATE_LIMITS_RESP.encode({ responses }));
    },
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  remote = new RemoteLimiter(
    `127.0.0.1:${port}`,
    () => NOW,
    (problem) => problems.push(problem.message),
  );
});

afterEach(() => {
  remote.close();
  server.forceShutdown();
});

function limit(given: Partial<RateLimit>): RateLimit {
  const backoff = { initialMs: 10, maxMs: 100, factor: 2 };
  const common = { kind: "rate", name: "n", uniqueKey: "k", limit: 2, durationMs: 1_000, hits: 1 } as const;
  return { ...common, algorithm: 0, behavior: 0, burst: 0, backoff, ...given };
}

test("allows what the server allows, and says when to come back", async () => {
  expect(await remote.check([limit({})])).toEqual({ allowed: true, retryAtMs: undefined });
  expect(await remote.check([limit({})])).toEqual({ allowed: true, retryAtMs: undefined });
  expect(await remote.check([limit({})])).toEqual({ allowed: false, refusedBy: 0, retryAtMs: NOW + 1_000 });
});

test("one limit that refuses refuses the job, and is named", async () => {
  const verdict = await remote.check([limit({ uniqueKey: "free" }), limit({ uniqueKey: "full", hits: 3 })]);
  expect(verdict).toMatchObject({ allowed: false, refusedBy: 1 });
});

test("checks of one turn are one call", async () => {
  await Promise.all(
    Array.from({ length: 50 }, (_, index) => remote.check([limit({ uniqueKey: `k${index}` })])),
  );
  expect(calls).toBe(1);
});

test("a server that is gone refuses for a while, and is told", async () => {
  server.forceShutdown();
  expect(await remote.check([limit({})])).toEqual({ allowed: false, retryAtMs: NOW + 1_000 });
  expect(problems).toHaveLength(1);
});

test("an error of a limit refuses, and is told", async () => {
  expect((await remote.check([limit({ uniqueKey: "" })])).allowed).toBe(false);
  expect(problems).toEqual(["Gubernator: field 'unique_key' cannot be empty"]);
});
