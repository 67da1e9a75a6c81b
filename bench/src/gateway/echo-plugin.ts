/** The least that a service can do, so that what is measured is the way to it: it gives back what it was asked. */
import { definePlugin, defineService, ring, route } from "@keelson/runtime";
import { z } from "zod";

export const ECHO_SHARDS = 64;

export const echoPlugin = definePlugin({
  name: "echo",
  about: "gives back what it was asked",
  config: z.object({}),
  service: () =>
    defineService({
      name: "echo",
      parameters: { shards: ECHO_SHARDS, replicas: 1, placement: {} },
      placement: ring({ service: "echo" }),
      open: () =>
        Promise.resolve({ handle: ({ body }) => Promise.resolve({ text: String(body), ok: true }) }),
    }),
  http: {
    say: route({
      verb: "GET",
      path: "/{shard}/{text}",
      summary: "Say something",
      params: z.object({ shard: z.string().max(10), text: z.string().max(1_000) }),
      answer: z.object({ text: z.string(), ok: z.boolean() }),
      scope: "read",
      mode: "read",
      to: {
        kind: "one",
        shard: ({ params }) => params.shard,
        ask: ({ params }) => ({ method: "say", body: params.text }),
      },
    }),
  },
});
