/**
 * What zones allow: how many replicas of one shard a zone may have, and what average utilisation each zone can reach at all. A zone that has more
 * than its share of the capacity cannot be filled as much as the others, one that has less is filled more, and neither is a fault that moves could mend.
 */

/** The fewest replicas per zone that let all replicas be placed, given how many nodes each zone has. One replica per zone, if there are enough zones. */
export function zoneLevel(nodesPerZone: readonly number[], replicas: number): number {
  const places = nodesPerZone.reduce((sum, nodes) => sum + nodes, 0);
  const wanted = Math.min(replicas, places);
  let level = 1;
  while (nodesPerZone.reduce((sum, nodes) => sum + Math.min(nodes, level), 0) < wanted) level += 1;
  return level;
}

/**
 * The average utilisation that each zone reaches when load is spread as evenly as the level allows, as a multiple of the fleet's average.
 * `capacityShares` add up to 1. Requires at least one node.
 */
export function zoneAverages(
  nodesPerZone: readonly number[],
  capacityShares: readonly number[],
  replicas: number,
): number[] {
  const level = zoneLevel(nodesPerZone, replicas);
  const placed = Math.min(
    replicas,
    nodesPerZone.reduce((sum, nodes) => sum + nodes, 0),
  );
  const most = nodesPerZone.map((nodes) => Math.min(nodes, level) / placed);
  const mostOfAll = most.reduce((sum, share) => sum + share, 0);
  const least = most.map((share) => Math.max(0, 1 - (mostOfAll - share)));
  const shareAt = (water: number, zone: number): number =>
    Math.min(most[zone]!, Math.max(least[zone]!, water * capacityShares[zone]!));
  let low = 0;
  let high = 1 / Math.min(...capacityShares.filter((share) => share > 0));
  // 50 halvings are as exact as the numbers are.
  for (let i = 0; i < 50; i++) {
    const water = (low + high) / 2;
    const sum = nodesPerZone.reduce((total, _, zone) => total + shareAt(water, zone), 0);
    if (sum < 1) low = water;
    else high = water;
  }
  return nodesPerZone.map((_, zone) =>
    capacityShares[zone]! > 0 ? shareAt(high, zone) / capacityShares[zone]! : 1,
  );
}
