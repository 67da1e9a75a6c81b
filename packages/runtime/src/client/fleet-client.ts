import {
  Keys,
  RouteTable,
  terms as allTerms,
  type Clock,
  type ImageChange,
  type Random,
  type Store,
  type Terms,
  type Transport,
} from "@keelson/kernel";
import { fleetMirror } from "../mirror/fleet-mirror.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { RouterOptions } from "../router/options.ts";
import { Router, type RouterAnswer, type RouterRequest } from "../router/router.ts";

export interface FleetClientOptions {
  readonly fleet: string;
  readonly store: Store;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly terms?: Partial<Terms>;
  readonly router?: Partial<RouterOptions>;
}

/**
 * A process that holds nothing and asks for shards: a gateway, a tool, a test. It follows the store for who holds what and routes from memory; when
 * the store is out of reach it goes on with what it knew.
 */
export class FleetClient {
  readonly keys: Keys;
  readonly mirror: Mirror;
  readonly table = new RouteTable();
  readonly router: Router;

  constructor(options: FleetClientOptions) {
    const { clock, random, transport } = options;
    this.keys = new Keys(options.fleet);
    this.mirror = fleetMirror(options.fleet, options, allTerms(options.terms));
    this.router = new Router({
      table: this.table,
      transport,
      clock,
      random,
      ...(options.router ? { options: options.router } : {}),
    });
    this.mirror.subscribe({
      changed: (changes) => feedRoutes(this.table, this.keys, changes),
      listed: () => undefined,
    });
  }

  start(): void {
    this.mirror.start();
  }

  stop(): void {
    this.mirror.stop();
  }

  call(request: RouterRequest): Promise<RouterAnswer> {
    return this.router.call(request);
  }
}

/** Tells a route table what changed in the copy of the store. */
export function feedRoutes(table: RouteTable, keys: Keys, changes: readonly ImageChange[]): void {
  for (const { key, entry } of changes) {
    const parsed = keys.parse(key);
    if (!parsed) continue;
    if (entry) table.put(parsed, JSON.parse(entry.value), entry.revision);
    else table.remove(parsed);
  }
}
