/**
 * What a node gives a service that runs on it: everything that is the node's and not the shard's. A plug-in's `service(context)` is called
 * once per node and closes over it, so `open` and `prepare` reach all of this. It holds nothing of the fleet's store: who holds what is the
 * kernel's affair.
 */
import type { Clock, Controller, Random } from "@keelson/kernel";
import type { Objects } from "@keelson/objects";
import type { MethodHandler, StreamHandler } from "@keelson/wire";
import type { Logger } from "pino";
import type { ServiceDefinition } from "../service/service.ts";
import type { Tracer } from "../trace/tracer.ts";
import type { FleetAccess } from "./fleet-access.ts";
import type { MetricSet } from "./metrics.ts";

export interface NodeContext<Config = unknown> {
  readonly fleet: string;
  readonly node: string;
  /** Where other nodes reach this one, `host:port`. */
  readonly address: string;
  readonly zone: string;
  /** The service's own section of the configuration, checked by the plug-in's `config` schema. */
  readonly config: Config;
  /** The service's part of the fleet's objects: keys begin where the service's begin. Only for a plug-in that says it needs `objects`. */
  readonly objects: Objects;
  /** A folder of this node and this service, made if need be, that survives a restart. Only for a plug-in that says it needs `data`. */
  readonly dataFolder: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  /** Begins spans, where traces are kept at all. */
  readonly tracer?: Tracer | undefined;
  /** The metrics that the plug-in declared; the node's `/metrics` shows them. */
  readonly metrics: MetricSet;
  /** Asks shards, of this service or another, wherever they are held. Usable once the node is a member. */
  readonly access: FleetAccess;
}

/** A service as one node runs it: its declaration, and what it keeps for the node as a whole. */
export interface NodeService extends ServiceDefinition {
  /** Served on the node's own port beside the shards, as `<service>.<name>`: for what concerns a node and not one shard. */
  readonly wire?: {
    readonly methods?: Readonly<Record<string, MethodHandler>>;
    readonly streams?: Readonly<Record<string, StreamHandler>>;
  };
  /** Run by whichever node is the manager. */
  readonly controllers?: readonly Controller[];
  /** The node has left and every shard is closed: let go of what the node kept (threads, clones, connections). */
  stop?(): Promise<void>;
}
