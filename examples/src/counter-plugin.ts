/**
 * The counter as a plug-in: everything about the service, said once. The gateway serves its HTTP API from this and describes it at /docs, the CLI
 * has its commands, Prometheus its metrics, the console its page.
 */
import { definePlugin, route } from "@keelson/runtime";
import { z } from "zod";
import { counterService } from "./counter.ts";

const Shard = z.object({ shard: z.string().max(20).describe("which counter") });
const Value = z.object({ value: z.int() });

export const counterPlugin = definePlugin({
  name: "counter",
  about: "a durable counter per shard, to copy from",
  config: z.object({
    folder: z.string().describe("a folder that all nodes share"),
    shards: z.int().min(1).max(100_000).default(12),
  }),
  service: ({ config, metrics }) =>
    counterService({ ...config, onAdd: (by) => metrics.count("counter_added_total", {}, Math.abs(by)) }),
  metrics: { counter_added_total: { kind: "counter", help: "How much was added, up or down." } },
  errors: { BAD_REQUEST: { status: 400, about: "not a whole number" } },
  http: {
    get: route({
      verb: "GET",
      path: "/{shard}",
      summary: "Read a counter",
      params: Shard,
      answer: Value,
      scope: "read",
      mode: "read",
      to: { kind: "one", shard: ({ params }) => params.shard, answer: (value) => ({ value: Number(value) }) },
    }),
    add: route({
      verb: "POST",
      path: "/{shard}/add",
      summary: "Add to a counter",
      params: Shard,
      body: z.object({ by: z.int() }),
      answer: Value,
      scope: "write",
      mode: "write",
      to: {
        kind: "one",
        shard: ({ params }) => params.shard,
        ask: ({ body }) => ({ method: "add", body: body.by }),
        answer: (value) => ({ value: Number(value) }),
      },
    }),
    total: route({
      verb: "GET",
      path: "/",
      summary: "Add all counters up",
      answer: z.object({ total: z.int() }),
      scope: "read",
      mode: "read",
      to: {
        kind: "many",
        ask: () => ({ method: "get", body: null }),
        merge: (parts) => ({ total: parts.reduce((sum, { body }) => sum + Number(body), 0) }),
      },
    }),
    watch: route({
      verb: "GET",
      path: "/{shard}/watch",
      summary: "Follow a counter",
      params: Shard,
      answer: Value,
      scope: "read",
      mode: "read",
      to: { kind: "stream", shard: ({ params }) => params.shard },
    }),
  },
  verbs: {
    get: {
      about: "read a counter",
      arguments: [{ name: "<shard>", about: "which one" }],
      run: async ({ args: [shard], api, print }) =>
        print.record((await api("get", { params: { shard } })) as z.output<typeof Value>),
    },
    add: {
      about: "add to a counter",
      arguments: [
        { name: "<shard>", about: "which one" },
        { name: "[by]", about: "how much, 1 if left out" },
      ],
      run: async ({ args: [shard, by = "1"], api, print }) =>
        print.record(
          (await api("add", { params: { shard }, body: { by: Number(by) } })) as z.output<typeof Value>,
        ),
    },
  },
  console: [{ id: "counters", title: "Counters", about: "every counter, live", reads: ["total"] }],
});
