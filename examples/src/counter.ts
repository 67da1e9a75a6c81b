/**
 * A service of your own, complete: a durable counter per shard, in a folder that all nodes of one machine share. Copy it and change it.
 * Keelson decides which node holds a shard and opens it there. What a shard writes outside its process has to be fenced, because a node that
 * was paused for a minute may wake up and write when another has long held the shard: fenced-file.ts does that here. counter-plugin.ts gives it
 * an HTTP API, commands and metrics.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ring } from "@keelson/kernel";
import { defineService, type ServiceDefinition } from "@keelson/runtime";
import { FencedFile } from "./fenced-file.ts";

const LOOK_MS = 50;

export interface CounterOptions {
  readonly folder: string;
  readonly shards: number;
  /** Told of every change. */
  readonly onAdd?: (by: number) => void;
}

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
          for (let last: number | undefined; !signal.aborted; await sleep(LOOK_MS)) {
            const { value } = await file.read();
            if (value !== last) yield { value };
            last = value;
          }
        },
      };
    },
  });
}
