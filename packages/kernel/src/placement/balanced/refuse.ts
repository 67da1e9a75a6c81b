import { NOWHERE, type Draft } from "./draft.ts";
import { refusalsPerKindMax, type Refusal } from "./proposal.ts";
import { crowded } from "./spread.ts";
import { times } from "./words.ts";

/** Rounding is no reason to call a node too high. */
const tolerance = 1e-9;

/** What the finished draft could not give, each with what would help. Requires the draft before it is trimmed: what only waits is not refused. */
export function refuse(draft: Draft): Refusal[] {
  return [...replicas(draft), ...heavy(draft), ...zones(draft), ...bands(draft)];
}

/** Keeps lists short: a refused fleet is refused for the same reason thousands of times. */
export function shorten(refusals: readonly Refusal[]): Refusal[] {
  const counts = new Map<Refusal["kind"], number>();
  const kept: Refusal[] = [];
  for (const refusal of refusals) {
    const count = (counts.get(refusal.kind) ?? 0) + 1;
    counts.set(refusal.kind, count);
    if (count <= refusalsPerKindMax) kept.push(refusal);
  }
  for (const [kind, count] of counts)
    if (count > refusalsPerKindMax)
      kept.push({ kind, because: `${count - refusalsPerKindMax} more of this kind` });
  return kept;
}

function* replicas(draft: Draft): Iterable<Refusal> {
  const { fleet, at, home } = draft;
  for (let index = 0; index < fleet.count; index++) {
    const node = at[index]!;
    if (node !== NOWHERE && fleet.open[node] === 1) continue;
    const who = replicaOf(draft, index);
    const why = nobody(draft, index);
    if (node === NOWHERE) yield { kind: "unplaced", ...who, because: why };
    else if (node === home[index])
      yield {
        kind: "stranded",
        ...who,
        node: fleet.members[node]!.node,
        because: `it cannot leave ${fleet.members[node]!.node}: ${why}`,
      };
  }
}

/** Why no node can take the replica. */
function nobody(draft: Draft, index: number): string {
  const { fleet } = draft;
  if (fleet.openCount === 0)
    return "no member can get replicas: start a node, or give one a capacity above 0";
  draft.ask(index);
  let most = NOWHERE;
  for (let node = 0; node < fleet.nodes; node++)
    if (draft.apart(node) && (most === NOWHERE || draft.height[node]! < draft.height[most]!)) most = node;
  if (most === NOWHERE)
    return `${fleet.replicas} replicas on distinct nodes need as many nodes that are not draining, and there ${fleet.openCount === 1 ? "is 1" : `are ${fleet.openCount}`}`;
  const needs = fleet.input.dimensions.flatMap(({ name, hard }, d) =>
    hard ? [`${fleet.needs[index * fleet.dimensions + d]} of ${name}`] : [],
  );
  return `no node has room for it: it needs ${needs.join(" and ")}; add capacity, split it, or move something else away`;
}

function* heavy(draft: Draft): Iterable<Refusal> {
  const { fleet } = draft;
  const said = new Set<number>();
  for (const [d, { heavy: indices }] of fleet.averages.entries()) {
    let least = Infinity;
    for (let node = 0; node < fleet.nodes; node++)
      if (fleet.open[node] === 1) least = Math.min(least, fleet.scale[node * fleet.dimensions + d]!);
    for (const index of indices) {
      const shard = draft.shardOf(index);
      if (said.has(shard) || least === Infinity) continue;
      said.add(shard);
      const alone = fleet.weights[index * fleet.dimensions + d]! * least;
      const { name } = fleet.input.dimensions[d]!;
      yield {
        kind: "heavy",
        ...replicaOf(draft, index),
        because: `infeasible, because shard ${fleet.input.shards[shard]} alone is heavier than the band allows: ${times(alone)} of ${name} on the largest node, the ceiling is ${times(1 + fleet.input.limits.ceilingShare)}; split it or add replicas`,
      };
    }
  }
}

function* zones(draft: Draft): Iterable<Refusal> {
  const { fleet, at } = draft;
  for (let first = 0; first < fleet.count; first += fleet.replicas) {
    for (let index = first; index < first + fleet.replicas; index++) {
      if (!crowded(draft, index)) continue;
      const { zone } = fleet.members[at[index]!]!;
      yield {
        kind: "zones",
        ...replicaOf(draft, index),
        because: `zone ${zone} has more than ${fleet.level} of the shard's replicas: they are pinned or on their way there, or no other zone has room`,
      };
      break;
    }
  }
}

function* bands(draft: Draft): Iterable<Refusal> {
  const { fleet, height } = draft;
  if (fleet.count === 0) return;
  for (let node = 0; node < fleet.nodes; node++) {
    if (fleet.open[node] === 0) continue;
    const { node: name } = fleet.members[node]!;
    const stands = `${name} stays at ${times(height[node]!)}`;
    if (draft.overfull(node))
      yield {
        kind: "ceiling",
        node: name,
        because: `${name} has more than its hard capacity, and nothing on it fits elsewhere: add capacity`,
      };
    else if (height[node]! > draft.ceiling[node]! + tolerance)
      yield {
        kind: "ceiling",
        node: name,
        because: `${stands}, its ceiling is ${times(draft.ceiling[node]!)}: nothing that may leave it would make the fleet more even`,
      };
    else if (!fleet.rolling && height[node]! < fleet.bottom[node]! - tolerance)
      yield {
        kind: "floor",
        node: name,
        because: `${stands}, its floor is ${times(fleet.bottom[node]!)}: nothing that may go there would make the fleet more even`,
      };
  }
}

function replicaOf(draft: Draft, index: number): { shard: string; replica: number } {
  const { fleet } = draft;
  return { shard: fleet.input.shards[draft.shardOf(index)]!, replica: index % fleet.replicas };
}
