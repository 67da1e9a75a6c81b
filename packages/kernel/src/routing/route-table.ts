import type { Epoch } from "../identity/epoch.ts";
import { compareEpochs } from "../identity/epoch.ts";
import { decodeSegment, type ParsedKey } from "../identity/keys.ts";
import type { Member } from "../membership/member.ts";
import type { View } from "../membership/view.ts";
import type { Contender, Primary, Tenure } from "../tenure/tenure.ts";

/** Where a request for a replica goes. Never changed once made, so it may be kept. */
export interface Route {
  readonly node: string;
  readonly address: string;
  readonly replica: number;
  /** The holder's liveness session: one life of that node. */
  readonly session: string;
  /** Of the tenure; of a writer's route in a service with primaries, the write epoch. */
  readonly epoch: Epoch;
}

/** What is known of one shard. */
interface ShardRoutes {
  /** By replica; a hole where nobody holds it. */
  tenures: (Route | undefined)[];
  /** The tenures without holes, made anew when they change so that readers may keep it. */
  held: readonly Route[];
  primary: Route | undefined;
  /** By `replica/node`. */
  contenders: Map<string, Contender> | undefined;
  listeners: Set<() => void> | undefined;
}

interface ServiceRoutes {
  readonly shards: Map<string, ShardRoutes>;
  /** The view says so, or a primary key was seen: then only a primary takes writes. */
  primaries: boolean;
}

const NO_ROUTES: readonly Route[] = [];

/**
 * Who holds what, as far as this process has heard: fed with tenure, primary, contender, member and view keys as they change, and read on
 * every request without a call, a promise or an allocation. It may be late, never invented: a node that is asked in vain says so.
 */
export class RouteTable {
  readonly #services = new Map<string, ServiceRoutes>();
  readonly #members = new Map<string, Member>();
  /** Requests tend to come for the same service again. */
  #lastName: string | undefined;
  #last: ServiceRoutes | undefined;

  /** Takes in a key's value. Kinds that have nothing to do with routing are passed over, and so is a tenure older than the known one. */
  put(key: ParsedKey, value: unknown, revision: number): void {
    const [service = "", shard = "", replica = "", node = ""] = key.rest.split("/");
    switch (key.kind) {
      case "tenure":
        this.#putTenure(service, decodeSegment(shard), Number(replica), value as Tenure, revision);
        break;
      case "primary":
        this.#putPrimary(service, decodeSegment(shard), value as Primary, revision);
        break;
      case "contender": {
        const routes = this.#shard(service, decodeSegment(shard));
        (routes.contenders ??= new Map<string, Contender>()).set(`${replica}/${node}`, value as Contender);
        break;
      }
      case "member":
        this.#members.set(service, value as Member);
        break;
      case "view":
        if ((value as View).parameters.primary === true) this.#service(service).primaries = true;
        break;
      default:
        break;
    }
  }

  /** Takes in that a key is gone. */
  remove(key: ParsedKey): void {
    const [service = "", shard = "", replica = "", node = ""] = key.rest.split("/");
    if (key.kind === "member") {
      this.#members.delete(service);
      return;
    }
    const id = decodeSegment(shard);
    const routes = this.#services.get(service)?.shards.get(id);
    if (!routes) return;
    if (key.kind === "tenure" && routes.tenures[Number(replica)]) {
      routes.tenures[Number(replica)] = undefined;
      routes.held = routes.tenures.filter((route) => route !== undefined);
      notify(routes);
    } else if (key.kind === "primary" && routes.primary) {
      routes.primary = undefined;
      notify(routes);
    } else if (key.kind === "contender") {
      routes.contenders?.delete(`${replica}/${node}`);
    }
    this.#dropIfEmpty(service, id, routes);
  }

  /** Who holds the replica. */
  lookup(service: string, shard: string, replica = 0): Route | undefined {
    return this.#find(service)?.shards.get(shard)?.tenures[replica];
  }

  /** Who takes the shard's writes: its primary where the service has primaries, else the holder of replica 0. */
  writer(service: string, shard: string): Route | undefined {
    const found = this.#find(service);
    const routes = found?.shards.get(shard);
    return found?.primaries === true ? routes?.primary : routes?.tenures[0];
  }

  /** All holders of the shard's replicas, in the order of replicas. */
  holders(service: string, shard: string): readonly Route[] {
    return this.#find(service)?.shards.get(shard)?.held ?? NO_ROUTES;
  }

  /** Whether writes of this service carry a write epoch, which does not compare with the epochs of tenures. */
  hasPrimaries(service: string): boolean {
    return this.#find(service)?.primaries === true;
  }

  /** Calls `listener` whenever the shard gets or loses a holder or its primary, until the returned function is called. */
  onChange(service: string, shard: string, listener: () => void): () => void {
    const routes = this.#shard(service, shard);
    const listeners = (routes.listeners ??= new Set());
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) {
        routes.listeners = undefined;
        this.#dropIfEmpty(service, shard, routes);
      }
    };
  }

  /** Why nobody can be asked, as a clause for an error. */
  explainAbsence(service: string, shard: string): string {
    const routes = this.#services.get(service)?.shards.get(shard);
    for (const [name, { phase, progress }] of routes?.contenders ?? []) {
      const node = name.slice(name.indexOf("/") + 1);
      return phase === "ready"
        ? `node ${node} is ready to take it over`
        : `node ${node} is preparing it (${Math.floor(progress * 100)} %)`;
    }
    if (this.#members.size === 0) return "no member of the fleet is known here";
    let offering = 0;
    for (const member of this.#members.values()) if (member.services.includes(service)) offering += 1;
    if (offering === 0) return "no member of the fleet offers the service";
    return routes?.held.length
      ? "it has no primary at the moment"
      : `none of ${offering} nodes has taken it yet`;
  }

  #putTenure(service: string, shard: string, replica: number, tenure: Tenure, revision: number): void {
    const routes = this.#shard(service, shard);
    const epoch = { era: tenure.era, revision };
    if (older(epoch, routes.tenures[replica])) return;
    while (routes.tenures.length < replica) routes.tenures.push(undefined);
    const { node, address, session } = tenure;
    routes.tenures[replica] = { node, address, replica, session, epoch };
    routes.held = routes.tenures.filter((route) => route !== undefined);
    notify(routes);
  }

  #putPrimary(service: string, shard: string, primary: Primary, revision: number): void {
    this.#service(service).primaries = true;
    const routes = this.#shard(service, shard);
    const epoch = { era: primary.era, revision };
    if (older(epoch, routes.primary)) return;
    const { node, address, replica, session } = primary;
    routes.primary = { node, address, replica, session, epoch };
    notify(routes);
  }

  #find(service: string): ServiceRoutes | undefined {
    if (service === this.#lastName) return this.#last;
    const found = this.#services.get(service);
    if (found) {
      this.#lastName = service;
      this.#last = found;
    }
    return found;
  }

  #service(name: string): ServiceRoutes {
    let found = this.#services.get(name);
    if (!found) {
      found = { shards: new Map(), primaries: false };
      this.#services.set(name, found);
    }
    return found;
  }

  #shard(service: string, shard: string): ShardRoutes {
    const { shards } = this.#service(service);
    let routes = shards.get(shard);
    if (!routes) {
      routes = {
        tenures: [],
        held: NO_ROUTES,
        primary: undefined,
        contenders: undefined,
        listeners: undefined,
      };
      shards.set(shard, routes);
    }
    return routes;
  }

  #dropIfEmpty(service: string, shard: string, routes: ShardRoutes): void {
    const { held, primary, contenders, listeners } = routes;
    if (held.length > 0 || primary || listeners || (contenders && contenders.size > 0)) return;
    this.#services.get(service)?.shards.delete(shard);
  }
}

function older(epoch: Epoch, known: Route | undefined): boolean {
  return known !== undefined && compareEpochs(epoch, known.epoch) < 0;
}

/** To those who listen now: a listener may take itself off the list, or put itself on again. */
function notify(routes: ShardRoutes): void {
  if (!routes.listeners) return;
  const listening = [...routes.listeners];
  for (const listener of listening) listener();
}
