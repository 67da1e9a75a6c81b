/** What a node's copy of the store tells about the whole fleet of the service: who has how much memory, what is held, and what fits nowhere. Only reads. */
import type { Bidder, Demand, Footprint, Tenure } from "@keelson/kernel";
import type { KeelsonNode } from "@keelson/runtime";
import type { Repository } from "./repository.ts";

interface Room {
  readonly node: string;
  readonly budgetBytes: number;
  takenBytes: number;
}

export interface FleetFigures {
  readonly nodes: ReadonlyMap<string, Room>;
  /** By `<shard>/<replica>`. */
  readonly tenures: ReadonlyMap<string, Tenure>;
  readonly demand: Demand | undefined;
  /** By shard. */
  readonly footprints: ReadonlyMap<string, number>;
}

export function fleetFigures(node: Pick<KeelsonNode, "mirror" | "keys">, service: string): FleetFigures {
  const nodes = new Map<string, Room>();
  const tenures = new Map<string, Tenure>();
  const footprints = new Map<string, number>();
  const { keys } = node;
  const tenurePrefix = keys.tenure(`${service}/`);
  const bidderPrefix = `${keys.auction(service, "bidder")}/`;
  const footprintPrefix = `${keys.auction(service, "footprint")}/`;
  for (const { key, value } of node.mirror.image.entries()) {
    if (key.startsWith(tenurePrefix))
      tenures.set(key.slice(tenurePrefix.length), JSON.parse(value) as Tenure);
    else if (key.startsWith(footprintPrefix))
      footprints.set(key.slice(footprintPrefix.length), (JSON.parse(value) as Footprint).bytes);
    else if (key.startsWith(bidderPrefix)) {
      const { node: name, budgetBytes } = JSON.parse(value) as Bidder;
      nodes.set(name, { node: name, budgetBytes, takenBytes: 0 });
    }
  }
  for (const [replica, tenure] of tenures) {
    const holder = nodes.get(tenure.node);
    if (holder) holder.takenBytes += footprints.get(replica.slice(0, replica.lastIndexOf("/"))) ?? 0;
  }
  return { nodes, tenures, demand: demandOf(node, service), footprints };
}

/** What fits on no node, as the auctions say; undefined when everything does. */
export function demandOf(node: Pick<KeelsonNode, "mirror" | "keys">, service: string): Demand | undefined {
  const entry = node.mirror.image.get(node.keys.auction(service, "demand"));
  return entry && (JSON.parse(entry.value) as Demand);
}

export function tenureOf(node: Pick<KeelsonNode, "mirror" | "keys">, replica: string): Tenure | undefined {
  const entry = node.mirror.image.get(node.keys.tenure(replica));
  return entry && (JSON.parse(entry.value) as Tenure);
}

/** Replicas of active repositories that nobody holds. */
export function unclaimed(
  figures: FleetFigures,
  repositories: Iterable<Repository>,
  replicas: number,
): string[] {
  const missing: string[] = [];
  for (const { id, state } of repositories) {
    if (state !== "active") continue;
    for (let replica = 0; replica < replicas; replica++)
      if (!figures.tenures.has(`${id}/${replica}`)) missing.push(`${id}/${replica}`);
  }
  return missing;
}

export function saturation({ nodes }: FleetFigures): number {
  let taken = 0;
  let budget = 0;
  for (const each of nodes.values()) {
    taken += each.takenBytes;
    budget += each.budgetBytes;
  }
  return budget === 0 ? 0 : taken / budget;
}

/** The node with the most room, and how much it is. */
export function roomiest({ nodes }: FleetFigures): number {
  let free = 0;
  for (const { budgetBytes, takenBytes } of nodes.values()) free = Math.max(free, budgetBytes - takenBytes);
  return free;
}
