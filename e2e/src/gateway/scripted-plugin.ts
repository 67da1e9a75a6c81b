/** A service that does what a test tells it to: answers late, fails, is asked over gRPC, concerns tenants. */
import { GrpcFailure, HttpAnswer, definePlugin, defineService, ring, route } from "@keelson/runtime";
import { z } from "zod";

/** What shards do when they are asked; replaced by tests. */
export const script: { handle: (shard: string, method: string, body: unknown) => Promise<unknown> } = {
  handle: () => Promise.resolve("nothing"),
};

/** Traces that shards were asked under. */
export const traces: (string | undefined)[] = [];

const Key = z.object({ key: z.string() });

export const scriptedPlugin = definePlugin({
  name: "scripted",
  about: "does what a test tells it to",
  config: z.object({}),
  service: ({ access }) =>
    defineService({
      name: "scripted",
      parameters: { shards: 4, replicas: 1, placement: {} },
      placement: ring({ service: "scripted" }),
      open: ({ shard }) =>
        Promise.resolve({
          handle: async ({ method, body, trace, timeoutMs }) => {
            traces.push(trace);
            if (method !== "ask-another") return script.handle(shard, method, body);
            const request = { service: "scripted", shard: "3", method: "asked", body, timeoutMs } as const;
            const answer = await access.call({
              ...request,
              mode: "read",
              ...(trace === undefined ? {} : { trace }),
            });
            return answer.body;
          },
        }),
    }),
  errors: { TEAPOT: { status: 418, about: "it is a teapot" } },
  http: {
    one: route({
      verb: "GET",
      path: "/one/{key}",
      summary: "Ask the shard of a key",
      params: Key,
      query: z.object({
        n: z.coerce.number().optional(),
        tag: z.union([z.string(), z.array(z.string())]).optional(),
      }),
      answer: z.unknown(),
      scope: "read",
      mode: "read",
      limits: { inflightMax: 5, timeoutMs: 3_000 },
      tenant: ({ params }) => params.key,
      to: { kind: "one", shard: ({ params }, shards) => shards.byHash(params.key) },
    }),
    all: route({
      verb: "GET",
      path: "/all",
      alsoAt: ["/api/search"],
      summary: "Ask all",
      answer: z.array(z.unknown()),
      scope: "read",
      mode: "read",
      limits: { timeoutMs: 1_000 },
      to: { kind: "many", merge: (parts) => parts.map(({ body }) => body) },
    }),
    whole: route({
      verb: "GET",
      path: "/whole",
      summary: "Ask all, or fail",
      answer: z.array(z.unknown()),
      scope: "read",
      mode: "read",
      limits: { timeoutMs: 1_000 },
      to: {
        kind: "many",
        whole: true,
        ask: () => ({ method: "all", body: null }),
        merge: (parts) => [...parts],
      },
    }),
    file: route({
      verb: "GET",
      path: "/file/{name*}",
      summary: "Give a file",
      params: z.object({ name: z.string() }),
      answer: z.string(),
      scope: "read",
      mode: "read",
      to: {
        kind: "custom",
        handle: ({ params }) =>
          Promise.resolve(
            new HttpAnswer(Buffer.from(`file ${params.name}`), {
              status: 203,
              headers: { "content-type": "text/plain" },
            }),
          ),
      },
    }),
    late: route({
      verb: "GET",
      path: "/late",
      summary: "Never answers",
      answer: z.unknown(),
      scope: "read",
      mode: "read",
      limits: { timeoutMs: 200 },
      to: { kind: "custom", handle: () => new Promise(() => undefined) },
    }),
    count: route({
      verb: "GET",
      path: "/count",
      summary: "Counts, then fails",
      answer: z.int(),
      scope: "read",
      mode: "read",
      to: {
        kind: "custom",
        handle: async function* count() {
          yield 1;
          yield 2;
          throw new Error("a secret reason");
        },
      },
    }),
    another: route({
      verb: "GET",
      path: "/another",
      summary: "A shard that asks another",
      answer: z.unknown(),
      scope: "read",
      mode: "read",
      to: { kind: "one", shard: () => "0", ask: () => ({ method: "ask-another", body: "hello" }) },
    }),
  },
  grpc: [
    {
      name: "scripted.v1.Scripted",
      methods: {
        Echo: {
          kind: "unary",
          scope: "read",
          tenant: (request) => (request as { text: string }).text,
          decode: (bytes) => ({ text: Buffer.from(bytes).toString() }),
          encode: (message) => Buffer.from(String(message)),
          handle: async (request, { access, timeoutMs }) => {
            const { text } = request as { text: string };
            if (text === "fail") throw new GrpcFailure(5, "shard not found", { "x-owner": "b" });
            if (text === "bug") throw new Error("a secret reason");
            const shard = access.shards("scripted").byHash(text);
            const call = {
              service: "scripted",
              shard,
              method: "grpc",
              body: text,
              mode: "read",
              timeoutMs,
            } as const;
            return (await access.call(call)).body;
          },
        },
        Steer: {
          kind: "unary",
          scope: "admin",
          decode: (bytes) => ({ text: Buffer.from(bytes).toString(), at: 1n }),
          encode: (message) => Buffer.from(String(message)),
          handle: (request) =>
            (request as { text: string }).text === "fail"
              ? Promise.reject(new GrpcFailure(5, "shard not found"))
              : Promise.resolve("steered"),
        },
        Count: {
          kind: "server-stream",
          scope: "read",
          decode: (bytes) => Number(Buffer.from(bytes).toString()),
          encode: (message) => Buffer.from(String(message)),
          /** Below 0: one item, then silence for as long as the caller may stay. */
          handle: async function* count(request, { signal }) {
            for (let n = 0; n < Math.max(1, Number(request)); n++) yield n;
            if (Number(request) < 0)
              await new Promise<void>((resolve) => {
                signal.addEventListener("abort", () => resolve(), { once: true });
              });
          },
        },
      },
    },
  ],
});
