import { compareEpochs, type Epoch } from "../identity/epoch.ts";
import { decodeSegment, type ParsedKey } from "../identity/keys.ts";
import type { Member } from "../membership/member.ts";
import type { View } from "../membership/view.ts";
import type { Contender, Primary, Tenure } from "../tenure/tenure.ts";
import { ShardIndex } from "./shard-index.ts";

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

interface ServiceRoutes {
  /** By replica. */
  readonly holders: ShardIndex<Route>[];
  readonly primary: ShardIndex<Route>;
  /** The view says so, or a primary key was seen: then only a primary takes writes. */
  primaries: boolean;
  /** By shard, and then by `replica/node`. */
  readonly contenders: Map<string, Map<string, Contender>>;
  /** By shard. */
  readonly listeners: Map<string, Set<() => void>>;
}

/** Who a route leads to. */
type Holder = Pick<Route, "node" | "address" | "session">;

/** Sessions whose strings are kept once. Sessions come and go; when there are more, it begins anew. */
const holdersMax = 4_096;

/** More replicas of a shard than any service has; a key that names a higher one is not ours. */
const replicasMax = 64;

/**
 * Who holds what, as far as this process has heard: fed with tenure, primary, contender, member and view keys as they change, and read on
 * every request without a call, a promise or an allocation. It may be late, never invented: a node that is asked in vain says so.
 */
export class RouteTable {
  readonly #services = new Map<string, ServiceRoutes>();
  readonly #members = new Map<string, Member>();
  /** By session. Every key brings strings of its own; a node that holds a thousand replicas needs them once. */
  readonly #holders = new Map<string, Holder>();
  /** Requests tend to come for the same service again. */
  #lastName: string | undefined;
  #last: ServiceRoutes | undefined;

  /** Takes in a key's value. Kinds that have nothing to do with routing are passed over, and so is a tenure older than the known one. */
  put(key: ParsedKey, value: unknown, revision: number): void {
    const [first = "", shard = "", replica = "", node = ""] = key.rest.split("/");
    switch (key.kind) {
      case "tenure":
        this.#putTenure(first, decodeSegment(shard), Number(replica), value as Tenure, revision);
        break;
      case "primary":
        this.#putPrimary(first, decodeSegment(shard), value as Primary, revision);
        break;
      case "contender": {
        const { contenders } = this.#service(first);
        const id = decodeSegment(shard);
        const ofShard = contenders.get(id) ?? new Map<string, Contender>();
        contenders.set(id, ofShard.set(`${replica}/${node}`, value as Contender));
        break;
      }
      case "member":
        this.#members.set(first, value as Member);
        break;
      case "view":
        if ((value as View).parameters.primary === true) this.#service(first).primaries = true;
        break;
      default:
        break;
    }
  }

  /** Takes in that a key is gone. */
  remove(key: ParsedKey): void {
    const [first = "", shard = "", replica = "", node = ""] = key.rest.split("/");
    if (key.kind === "member") this.#members.delete(first);
    const service = this.#services.get(first);
    if (!service) return;
    const id = decodeSegment(shard);
    if (key.kind === "tenure" && service.holders[Number(replica)]?.delete(id) === true) notify(service, id);
    else if (key.kind === "primary" && service.primary.delete(id)) notify(service, id);
    else if (key.kind === "contender") {
      const ofShard = service.contenders.get(id);
      ofShard?.delete(`${replica}/${node}`);
      if (ofShard?.size === 0) service.contenders.delete(id);
    }
  }

  /** Who holds the replica. */
  lookup(service: string, shard: string, replica = 0): Route | undefined {
    return this.#find(service)?.holders[replica]?.get(shard);
  }

  /** Who takes the shard's writes: its primary where the service has primaries, else the holder of replica 0. */
  writer(service: string, shard: string): Route | undefined {
    const found = this.#find(service);
    return found?.primaries === true ? found.primary.get(shard) : found?.holders[0]?.get(shard);
  }

  /** All holders of the shard's replicas, in the order of replicas. */
  holders(service: string, shard: string): Route[] {
    const found: Route[] = [];
    for (const holders of this.#find(service)?.holders ?? []) {
      const route = holders.get(shard);
      if (route) found.push(route);
    }
    return found;
  }

  /** Whether writes of this service carry a write epoch, which does not compare with the epochs of tenures. */
  hasPrimaries(service: string): boolean {
    return this.#find(service)?.primaries === true;
  }

  /** Calls `listener` whenever the shard gets or loses a holder or its primary, until the returned function is called. */
  onChange(service: string, shard: string, listener: () => void): () => void {
    const { listeners } = this.#service(service);
    const ofShard = listeners.get(shard) ?? new Set<() => void>();
    listeners.set(shard, ofShard.add(listener));
    return () => {
      ofShard.delete(listener);
      if (ofShard.size === 0 && listeners.get(shard) === ofShard) listeners.delete(shard);
    };
  }

  /** Why nobody can be asked, as a clause for an error. */
  explainAbsence(service: string, shard: string): string {
    for (const [name, { phase, progress }] of this.#find(service)?.contenders.get(shard) ?? []) {
      const node = name.slice(name.indexOf("/") + 1);
      return phase === "ready"
        ? `node ${node} is ready to take it over`
        : `node ${node} is preparing it (${Math.floor(progress * 100)} %)`;
    }
    if (this.#members.size === 0) return "no member of the fleet is known here";
    let offering = 0;
    for (const member of this.#members.values()) if (member.services.includes(service)) offering += 1;
    if (offering === 0) return "no member of the fleet offers the service";
    return this.holders(service, shard).length > 0
      ? "it has no primary at the moment"
      : `none of ${offering} nodes has taken it yet`;
  }

  #putTenure(service: string, shard: string, replica: number, tenure: Tenure, revision: number): void {
    if (!(replica < replicasMax)) return;
    const routes = this.#service(service);
    while (routes.holders.length <= replica) routes.holders.push(new ShardIndex());
    const { node, address, session } = this.#holder(tenure);
    const route = { node, address, replica, session, epoch: { era: tenure.era, revision } };
    if (replace(routes.holders[replica], shard, route)) notify(routes, shard);
  }

  #putPrimary(service: string, shard: string, primary: Primary, revision: number): void {
    const routes = this.#service(service);
    routes.primaries = true;
    const { node, address, session } = this.#holder(primary);
    const { replica } = primary;
    const route = { node, address, replica, session, epoch: { era: primary.era, revision } };
    if (replace(routes.primary, shard, route)) notify(routes, shard);
  }

  #holder({ node, address, session }: Holder): Holder {
    const known = this.#holders.get(session);
    if (known && known.node === node && known.address === address) return known;
    if (this.#holders.size >= holdersMax) this.#holders.clear();
    const holder = { node, address, session };
    this.#holders.set(session, holder);
    return holder;
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
      found = {
        holders: [],
        primary: new ShardIndex(),
        primaries: false,
        contenders: new Map(),
        listeners: new Map(),
      };
      this.#services.set(name, found);
    }
    return found;
  }
}

/** Puts the newer of the known route and this one; false when the known one is newer. */
function replace(routes: ShardIndex<Route> | undefined, shard: string, route: Route): boolean {
  const known = routes?.get(shard);
  if (known && compareEpochs(route.epoch, known.epoch) < 0) return false;
  routes?.set(shard, route);
  return true;
}

/** To those who listen now: a listener may take itself off the list, or put itself on again. */
function notify(service: ServiceRoutes, shard: string): void {
  if (service.listeners.size === 0) return;
  const listening = [...(service.listeners.get(shard) ?? [])];
  for (const listener of listening) listener();
}
