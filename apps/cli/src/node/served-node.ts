/**
 * A node, its plug-ins, and the server that others reach it by. This is the composition that every process with a node needs: it knows of no
 * store and no service; both are given.
 */
import {
  maxBidsFromEnvironment,
  type Clock,
  type Decision,
  type EraSource,
  type Random,
  type Store,
} from "@keelson/kernel";
import type { Objects } from "@keelson/objects";
import {
  FleetClient,
  KeelsonError,
  KeelsonNode,
  MeasuredStore,
  NodeMetrics,
  NodeReporter,
  NodeServices,
  serveFleetNode,
  type AnyPlugin,
  type NodeMemory,
  type NodeOptions,
  type Tracer,
} from "@keelson/runtime";
import { WirePool, WireServer, WireTransport, type HostPort, type WireTls } from "@keelson/wire";
import type { Logger } from "pino";
import type { NodeCondition } from "./status-server.ts";
import { processFigures } from "./process-figures.ts";
import { tellRefusals } from "./refusals.ts";

export interface ServedNodeOptions extends Omit<NodeOptions, "address" | "services" | "controllers"> {
  readonly listen: HostPort;
  /** Where others reach it; where it listens, if left out. */
  readonly address?: string | undefined;
  readonly plugins: readonly AnyPlugin[];
  /** Each plug-in's section. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly objects?: ((service: string) => Objects) | undefined;
  readonly dataFolder?: ((service: string) => string) | undefined;
  readonly log: Logger;
  /** Between nodes; left out, in plain text. */
  readonly tls?: WireTls | undefined;
  /** For people: who was not let in, and why. */
  readonly onRefused?: ((line: string) => void) | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly eras: EraSource;
  readonly memory?: NodeMemory | undefined;
  readonly tracer?: Tracer | undefined;
}

/** How long calls that are being answered may take once the node has left. */
const CLOSE_GRACE_MS = 1_000;

export class ServedNode {
  readonly node: KeelsonNode;
  readonly address: string;
  readonly #server: WireServer;
  readonly #pool: WirePool;
  readonly #services: NodeServices;

  private constructor(
    node: KeelsonNode,
    address: string,
    server: WireServer,
    pool: WirePool,
    services: NodeServices,
  ) {
    this.node = node;
    this.address = address;
    this.#server = server;
    this.#pool = pool;
    this.#services = services;
  }

  /** Listens, opens the plug-ins and makes the node; `node.start()` joins the fleet. Rejects when the address cannot be had. */
  static async listen(options: ServedNodeOptions): Promise<ServedNode> {
    const { listen, plugins, config, objects, dataFolder, log, tls, onRefused, tracer, ...others } = options;
    const { store, clock, random, eras, memory, ...rest } = others;
    const { fleet, node: name, zone = "" } = rest;
    const onConnectionEnd = tellRefusals(clock, (line) => onRefused?.(line));
    const server = new WireServer({ clock, name, ...tls?.server, onConnectionEnd });
    await server.listen(listen);
    const address = options.address ?? server.address;
    const pool = new WirePool({ clock, random, name, ...tls?.client });
    try {
      const services = await NodeServices.open({
        plugins,
        fleet,
        node: name,
        address,
        zone,
        config,
        objects,
        dataFolder,
        log,
        clock,
        random,
        tracer,
      });
      const transport = new WireTransport(pool);
      const { maxBids, problem } = maxBidsFromEnvironment(process.env);
      if (problem !== undefined) throw new KeelsonError("BAD_CONFIG", problem);
      const bids = maxBids === undefined ? {} : { maxBids };
      const metrics = new NodeMetrics(services.registry);
      const onDecision = (decision: Decision): void => {
        metrics.decided(decision);
        rest.onDecision?.(decision);
      };
      const { services: hosted, controllers } = services;
      const node = new KeelsonNode(
        { ...rest, ...bids, address, services: hosted, controllers, onDecision },
        {
          store: new MeasuredStore(store, clock, metrics.called.bind(metrics)),
          clock,
          random,
          eras,
          transport,
          ...(memory ? { memory } : {}),
        },
      );
      metrics.watch(node, clock, processFigures);
      const reporter = new NodeReporter({
        node,
        name,
        figures: processFigures,
        wall: () => clock.wall(),
        replied: (reply) => metrics.replied(reply),
      });
      serveFleetNode(server, node, { clock, services, tracer, reporter });
      services.bind(new FleetClient({ fleet, copy: node.mirror, transport, clock, random }));
      return new ServedNode(node, address, server, pool, services);
    } catch (error) {
      pool.close();
      await server.close({ graceMs: 0 });
      throw error;
    }
  }

  /** As Prometheus reads them. */
  metrics(): Promise<string> {
    return this.#services.registry.metrics();
  }

  /** For probes. */
  condition(clock: Clock): NodeCondition {
    const { mirror, keys, host } = this.node;
    return {
      member: mirror.image.get(keys.member(host.self.node)) !== undefined,
      storeLive: mirror.live,
      mayServeMs: this.node.mayServeMs(clock.now()),
      held: [...this.node.held()].length,
    };
  }

  /** Hands everything over, then stops listening. */
  async leave(): Promise<void> {
    await this.node.leave();
    await this.close();
  }

  /** As a crash: nothing is handed over, connections are cut, sessions are left to expire. */
  async kill(): Promise<void> {
    this.node.abandon();
    this.#pool.close();
    await this.#server.close({ graceMs: 0 });
    await this.#services.stop();
  }

  /** Stops listening, once the node has ended by itself. */
  async close(): Promise<void> {
    await this.#server.close({ graceMs: CLOSE_GRACE_MS });
    this.#pool.close();
    await this.#services.stop();
  }
}
