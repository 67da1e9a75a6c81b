/**
 * The services of the product, each as one plug-in. This list is all that nodes, the gateway, the command line and `keelson up` know of them: adding a
 * service is adding its plug-in here. A plug-in is loaded when somebody runs it or asks for its verbs, because an engine takes longer to load than
 * `keelson status` takes in all.
 */
import type { AnyPlugin } from "@keelson/runtime";

export interface ServiceEntry {
  readonly name: string;
  /** One line for `keelson --help`. */
  readonly about: string;
  readonly load: () => Promise<AnyPlugin>;
}

export const SERVICES: readonly ServiceEntry[] = [
  {
    name: "code",
    about: "code search: repositories indexed in memory, held by whoever bids the most room",
    load: async () => (await import("@keelson/code")).codePlugin,
  },
  {
    name: "counter",
    about: "a durable counter per shard, to copy from",
    load: async () => (await import("@keelson/examples")).counterPlugin,
  },
  {
    name: "jobs",
    about: "a durable multi-tenant job queue",
    load: async () => (await import("@keelson/jobs")).jobsPlugin,
  },
];
