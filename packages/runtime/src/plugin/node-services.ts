/**
 * Opens plug-ins on a node: checks their configuration, gives each its context, and collects what they return. It is the composition between
 * plug-ins and `KeelsonNode`; it starts no node and opens no port.
 */
import type { Clock, Random } from "@keelson/kernel";
import type { Objects } from "@keelson/objects";
import type { WireServer } from "@keelson/wire";
import type { Logger } from "pino";
import { Registry } from "prom-client";
import { z } from "zod";
import { KeelsonError } from "../errors.ts";
import type { Tracer } from "../trace/tracer.ts";
import type { FleetAccess } from "./fleet-access.ts";
import { MetricSet } from "./metrics.ts";
import type { NodeContext, NodeService } from "./node-context.ts";
import type { AnyPlugin } from "./plugin.ts";

export interface NodeServicesOptions {
  readonly plugins: readonly AnyPlugin[];
  readonly fleet: string;
  readonly node: string;
  readonly address: string;
  readonly zone: string;
  /** Each plug-in's section of the configuration, as it was written. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The service's part of the fleet's objects. */
  readonly objects?: ((service: string) => Objects) | undefined;
  /** The node's folder for that service, made already. */
  readonly dataFolder?: ((service: string) => string) | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random: Random;
  readonly tracer?: Tracer | undefined;
}

export class NodeServices {
  readonly services: readonly NodeService[];
  /** All metrics of the node's services. */
  readonly registry: Registry;
  readonly #access: LateAccess;

  private constructor(services: readonly NodeService[], registry: Registry, access: LateAccess) {
    this.services = services;
    this.registry = registry;
    this.#access = access;
  }

  /** Rejects with KeelsonError BAD_CONFIG when a section is wrong or something is missing that a plug-in needs. */
  static async open(options: NodeServicesOptions): Promise<NodeServices> {
    const access = new LateAccess();
    const registry = new Registry();
    const services: NodeService[] = [];
    for (const plugin of options.plugins) {
      const service = await plugin.service(contextOf(plugin, options, registry, access));
      if (service.name !== plugin.name)
        throw new KeelsonError("BAD_SERVICE", `plug-in ${plugin.name} gave a service called ${service.name}`);
      services.push(service);
    }
    return new NodeServices(services, registry, access);
  }

  /** Controllers for the manager, of all services. */
  get controllers(): NonNullable<NodeService["controllers"]> {
    return this.services.flatMap(({ controllers = [] }) => controllers);
  }

  /** Gives the services their way to other shards, once there is one. */
  bind(access: FleetAccess): void {
    this.#access.bind(access);
  }

  /** Puts the services' own methods and streams on the node's port. */
  serve(server: WireServer): void {
    for (const { name, wire } of this.services) {
      for (const [method, handler] of Object.entries(wire?.methods ?? {}))
        server.method(`${name}.${method}`, handler);
      for (const [method, handler] of Object.entries(wire?.streams ?? {}))
        server.stream(`${name}.${method}`, handler);
    }
  }

  /** After the node has left. All are stopped, whatever one of them throws; the first failure is thrown in the end. */
  async stop(): Promise<void> {
    const outcomes = await Promise.allSettled(this.services.map(async (service) => service.stop?.()));
    for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
  }
}

function contextOf(
  plugin: AnyPlugin,
  options: NodeServicesOptions,
  registry: Registry,
  access: FleetAccess,
): NodeContext {
  const { name, needs = [] } = plugin;
  const { objects, dataFolder } = options;
  if (needs.includes("objects") && !objects)
    throw new KeelsonError("BAD_CONFIG", `${name} keeps its data in objects: say where with --objects`);
  if (needs.includes("data") && !dataFolder)
    throw new KeelsonError("BAD_CONFIG", `${name} needs a folder of the node: say which with --data`);
  const undeclared = (what: string): never => {
    throw new KeelsonError("BAD_SERVICE", `plug-in ${name} uses ${what} without saying that it needs it`);
  };
  const { fleet, node, address, zone, clock, random } = options;
  return {
    fleet,
    node,
    address,
    zone,
    clock,
    random,
    access,
    tracer: options.tracer,
    config: checkedConfig(plugin, options.config[name]),
    log: options.log.child({ service: name }),
    metrics: new MetricSet(plugin.metrics ?? {}, registry),
    get objects() {
      return objects && needs.includes("objects") ? objects(name) : undeclared("objects");
    },
    get dataFolder() {
      return dataFolder && needs.includes("data") ? dataFolder(name) : undeclared("data");
    },
  };
}

function checkedConfig(plugin: AnyPlugin, section: unknown): unknown {
  const checked = plugin.config.safeParse(section ?? {});
  if (checked.success) return checked.data;
  throw new KeelsonError("BAD_CONFIG", `[${plugin.name}]: ${z.prettifyError(checked.error)}`);
}

/** Given to services before there is a node, and usable once there is. */
class LateAccess implements FleetAccess {
  #access: FleetAccess | undefined;

  bind(access: FleetAccess): void {
    this.#access = access;
  }

  get #bound(): FleetAccess {
    if (this.#access) return this.#access;
    throw new KeelsonError("NOT_STARTED", "the node has not started yet: ask shards once one is open here");
  }

  call: FleetAccess["call"] = (request) => this.#bound.call(request);
  scatter: FleetAccess["scatter"] = (requests, merge, options) =>
    this.#bound.scatter(requests, merge, options);
  many: FleetAccess["many"] = (request) => this.#bound.many(request);
  stream: FleetAccess["stream"] = (request) => this.#bound.stream(request);
  shards: FleetAccess["shards"] = (service) => this.#bound.shards(service);
}
