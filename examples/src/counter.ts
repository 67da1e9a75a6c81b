/**
 * A service of your own, complete: a durable counter per shard, in a folder that all nodes of one machine share, with its HTTP API, its commands
 * and its metrics. Copy it and change it. Keelson decides which node holds a shard and opens it there. What a shard writes outside its process
 * has to be fenced, because a node that was paused for a minute may wake up and write when another has long held the shard: fenced-file.ts does
 * that here.
 */
import { join } from "node:path";
import { ring } from "@keelson/kernel";
import { definePlugin, defineService, route, type ServiceDefinition } from "@keelson/runtime";
import { z } from "zod";
import { FencedFile } from "./fenced-file.ts";

export interface CounterOptions {
  readonly folder: string;
  readonly shards: number;
  /** Told of every change. */
  readonly onAdd?: (by: number) => void;
}

/** Its shards and their placement: all that a node needs. */
export function counterService({ folder, shards, onAdd }: CounterOptions): ServiceDefinition {
  return defineService({
    name: "counter",
    parameters: { shards, replicas: 1, placement: {} },
    placement: ring({ service: "counter" }),

    // Called on the node that was granted the shard. Requests are let in once it has resolved.
    async open({ shard, epoch }) {
      const file = new FencedFile(join(folder, `counter-${shard}`));
      // First raise the epoch, then read: from here on whoever held the shard before is refused.
      await file.update(epoch, (value) => value);
      return {
        async handle({ method, body, epoch }) {
          if (method === "get") return (await file.read()).value;
          if (method === "add" && Number.isSafeInteger(body)) {
            const value = await file.update(epoch, (before) => before + Number(body));
            onAdd?.(Number(body));
            return value;
          }
          // The code reaches the caller; a code of your own is as good as one of ours.
          throw Object.assign(new Error("ask for get, or for add with a whole number"), {
            code: "BAD_REQUEST",
          });
        },
        // Many answers to one request: here, the count and then every change of it.
        async *stream({ signal }) {
          let last: number | undefined;
          while (!signal.aborted) {
            const changed = file.changed(signal);
            const { value } = await file.read();
            if (value !== last) yield { value };
            last = value;
            await changed;
          }
        },
      };
    },
  });
}

const Shard = z.object({ shard: z.string().max(20).describe("which counter") });
const Value = z.object({ value: z.int() });

/** Everything else about it, once: what the gateway serves, the CLI offers and Prometheus reads. */
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
