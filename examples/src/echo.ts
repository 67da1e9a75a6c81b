/** The smallest service there is: it holds nothing and says which shard answered. Start here, then look at counter.ts. */
import { ring } from "@keelson/kernel";
import { defineService, type ServiceDefinition } from "@keelson/runtime";

export function echoService(options: { readonly shards: number }): ServiceDefinition {
  return defineService({
    name: "echo",
    parameters: { shards: options.shards, replicas: 1, placement: {} },
    placement: ring({ service: "echo" }),
    open: ({ shard }) =>
      Promise.resolve({ handle: ({ body }) => Promise.resolve(`shard ${shard} says: ${String(body)}`) }),
  });
}
