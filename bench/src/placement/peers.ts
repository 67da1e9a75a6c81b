/**
 * Placements that know no load, each as it is: consistent hashing with and without a bound, weighted rendezvous hashing, and the hash ring of Effect's
 * cluster. All but the last are told about zones.
 */
import { hash, HASH_SPAN, ring, type View } from "@keelson/kernel";
import * as HashRing from "effect/HashRing";
import * as PrimaryKey from "effect/PrimaryKey";
import type { BenchNode, Places, Workload } from "./workload.ts";

export type Peer = (work: Workload) => Places;

export const peers: Readonly<Record<string, Peer>> = {
  ring: (work) => onRing(work, 0),
  "bounded load": (work) => onRing(work, 1.05),
  rendezvous,
  "effect HashRing": effectHashRing,
};

function onRing({ shards, replicas, nodes }: Workload, loadFactor: number): Places {
  const view: View = {
    v: 1,
    n: 1,
    members: nodes.map(({ node, zone, capacity }) => ({ node, zone, weight: capacity })),
    parameters: { shards: shards.length, replicas, placement: { loadFactor } },
    algorithm: "ring/1",
    reason: "bench",
  };
  return Array.from(ring({ service: "bench" }).plan(view).lines.values(), ({ candidates }) => candidates[0]!);
}

/** Each shard goes to the nodes with the highest scores, skipping zones it is in already. A node's chance is as its capacity. */
function rendezvous({ shards, replicas, nodes }: Workload): Places {
  const seeds = nodes.map(({ node }) => hash(node) | 0);
  const places: string[] = [];
  for (const shard of shards) {
    const scores = nodes.map(({ capacity }, i) => {
      const drawn = (hash(shard, seeds[i]) + 1) / (HASH_SPAN + 1);
      return -capacity / Math.log(drawn);
    });
    const zones = new Set<string>();
    for (let replica = 0; replica < replicas; replica++) {
      let best = -1;
      for (let i = 0; i < nodes.length; i++)
        if (!zones.has(nodes[i]!.zone) && (best < 0 || scores[i]! > scores[best]!)) best = i;
      zones.add(nodes[best]!.zone);
      places.push(nodes[best]!.node);
    }
  }
  return places;
}

class EffectNode implements PrimaryKey.PrimaryKey {
  readonly name: string;

  constructor({ node }: BenchNode) {
    this.name = node;
  }

  [PrimaryKey.symbol](): string {
    return this.name;
  }
}

/** It assigns numbered shards and knows neither replicas nor zones: every replica is a shard of its own. */
function effectHashRing({ shards, replicas, nodes }: Workload): Places {
  const effectRing = HashRing.make<EffectNode>();
  for (const node of nodes) HashRing.add(effectRing, new EffectNode(node), { weight: node.capacity });
  const assigned = HashRing.getShards(effectRing, shards.length * replicas) ?? [];
  return assigned.map(({ name }) => name);
}
