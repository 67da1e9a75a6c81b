/** The fleet at a glance: services, nodes, and what operators wished. Pure: counted from the facts, nothing is asked of anyone. */
import { parseReplicaKey, replicaKey, serviceOf, shardIds } from "@keelson/kernel";
import type { DrainStatus, FleetStatus, NodeStatus, PinStatus, ServiceStatus } from "./contract.ts";
import type { FleetFacts } from "./facts.ts";
import type { Plans } from "./plans.ts";

export interface StatusTerms {
  readonly quarantineStrikes: number;
}

export function fleetStatus(
  facts: FleetFacts,
  plans: Plans,
  terms: StatusTerms,
  about: Pick<FleetStatus, "at" | "store">,
): FleetStatus {
  const { era, protocol, manager } = facts;
  return {
    fleet: facts.keys.fleet,
    ...about,
    era: era && { era: era.era, phase: era.phase },
    protocol: protocol?.active,
    manager: manager && { node: manager.node, since: manager.since },
    members: facts.members.size,
    services: [...facts.views.keys()].sort().map((service) => serviceStatus(facts, plans, terms, service)),
    drains: drainStatuses(facts),
    pins: pinStatuses(facts),
  };
}

function serviceStatus(facts: FleetFacts, plans: Plans, terms: StatusTerms, service: string): ServiceStatus {
  const view = facts.views.get(service)!.value;
  const { parameters } = view;
  const shards = shardIds(parameters).length;
  const lines = plans.of(facts, service)?.lines;
  let held = 0;
  let misplaced = 0;
  for (const [replica, { value }] of facts.tenures) {
    if (serviceOf(replica) !== service) continue;
    held++;
    const target = lines?.get(replica)?.candidates[0];
    if (target !== undefined && target !== value.node) misplaced++;
  }
  let contenders = 0;
  for (const [replica, nodes] of facts.contenders)
    if (serviceOf(replica) === service) contenders += nodes.size;
  const troubles = [...facts.troubles].filter(([shard]) => serviceOf(shard) === service);
  return {
    service,
    placement: view.algorithm,
    view: view.n,
    members: view.members.length,
    shards,
    replicas: parameters.replicas,
    wanted: shards * parameters.replicas,
    held,
    misplaced,
    contenders,
    troubled: troubles.length,
    quarantined: troubles.filter(([, { value }]) => value.strikes >= terms.quarantineStrikes).length,
  };
}

/** Members, and nodes that are none but still hold something. */
export function nodeStatuses(facts: FleetFacts): NodeStatus[] {
  const held = new Map<string, Map<string, number>>();
  const addresses = new Map<string, string>();
  for (const [replica, { value }] of facts.tenures) {
    let services = held.get(value.node);
    if (!services) held.set(value.node, (services = new Map<string, number>()));
    const service = serviceOf(replica);
    services.set(service, (services.get(service) ?? 0) + 1);
    addresses.set(value.node, value.address);
  }
  const contending = new Map<string, number>();
  for (const nodes of facts.contenders.values())
    for (const node of nodes.keys()) contending.set(node, (contending.get(node) ?? 0) + 1);
  const drained = new Set(facts.wishes.drains.map(({ node }) => node));
  const names = [...new Set([...facts.members.keys(), ...held.keys()])].sort();
  return names.map((node) => {
    const member = facts.members.get(node)?.value;
    const services = held.get(node) ?? new Map<string, number>();
    return {
      node,
      address: member?.address ?? addresses.get(node) ?? "",
      zone: member?.zone ?? "",
      version: member?.version ?? "",
      protocol: member?.protocol ?? { min: 0, max: 0 },
      capacity: member?.capacity ?? 0,
      startedAt: member?.startedAt ?? 0,
      manager: facts.manager?.node === node,
      drained: drained.has(node),
      member: member !== undefined,
      held: [...services.values()].reduce((sum, count) => sum + count, 0),
      contending: contending.get(node) ?? 0,
      services: Object.fromEntries([...services].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  });
}

function drainStatuses({ wishes, tenures }: FleetFacts): DrainStatus[] {
  return wishes.drains.map(({ node, wish: { by, reason, since } }) => {
    let held = 0;
    for (const { value } of tenures.values()) if (value.node === node) held++;
    return { node, by, reason, since, held };
  });
}

export function pinStatuses({ wishes, tenures }: FleetFacts): PinStatus[] {
  return wishes.pins.map(({ service, shard, replica, node, wish }) => {
    const { once = false, by, reason, since } = wish;
    const kept =
      replica === undefined
        ? [...tenures].some(([key, { value }]) => {
            if (value.node !== node) return false;
            const id = parseReplicaKey(key);
            return id.service === service && id.shard === shard;
          })
        : tenures.get(replicaKey(service, shard, replica))?.value.node === node;
    return { service, shard, replica, node, once, by, reason, since, kept };
  });
}
