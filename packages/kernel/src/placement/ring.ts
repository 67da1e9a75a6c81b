import { shardKey, type ReplicaKey } from "../identity/keys.ts";
import { shardIds, type View, type ViewMember } from "../membership/view.ts";
import type { Placement, Plan, PlanLine } from "./plan.ts";
import { RingSeats } from "./ring-seats.ts";
import { ringOptions } from "./ring-options.ts";

/**
 * The placement `ring/1`: a consistent-hash ring with weights, zones and bounded load. It needs no coordinator, because the plan
 * follows from the view alone, and it balances counts, never load.
 *
 * Each replica slot of a shard walks the ring from its own place, so the slots' targets are independent of each other, and passes over
 *   1. nodes that hold another replica of the shard: always;
 *   2. zones that are not for it: with more zones than replicas, those that hold another replica; otherwise all but the slot's own zone, which
 *      is chosen first, so that zones with room differ by at most one replica: always;
 *   3. nodes that are full, that is at `loadFactor` times their fair share: unless all that are left are full.
 * Where two slots want the same node or zone, the slot whose place is nearer gets it. A slot that lost its node comes from farther away
 * than one that is at home, so the loss of a node moves what it held and seldom anything else.
 * Shards take their seats in the order of their ids; an early shard is never moved by a later one.
 */
export function ring(options: { readonly service: string }): Placement {
  // Nodes of one process that share their declaration ask for the plan of the very same view; those that hear of it late ask after the next.
  const plans = new WeakMap<View, Plan>();
  return {
    algorithm: RING,
    plan(view) {
      let made = plans.get(view);
      if (!made) plans.set(view, (made = plan(options.service, view)));
      return made;
    },
  };
}

/** The algorithm's name in views. Any change of a plan for the same view needs a new number. */
export const RING = "ring/1";

function plan(service: string, view: View): Plan {
  const { parameters } = view;
  const members = view.members.filter((member) => member.weight > 0).sort(byNode);
  const ids = shardIds(parameters);
  const slots = Math.min(parameters.replicas, members.length);
  const seats = new RingSeats(members, ids.length, slots, ringOptions(parameters.placement));
  const nobody = emptyLine(members.length, parameters.replicas);
  const lines = new Map<ReplicaKey, PlanLine>();
  for (const id of ids) {
    const shard = shardKey(service, id);
    const placed = seats.place(shard);
    for (let slot = 0; slot < parameters.replicas; slot++)
      lines.set(`${shard}/${slot}`, placed[slot] ?? nobody);
  }
  return { viewN: view.n, parameters, lines };
}

/** By UTF-16 code units, which is the same everywhere; a locale's order is not. */
function byNode(a: ViewMember, b: ViewMember): number {
  return a.node < b.node ? -1 : a.node > b.node ? 1 : 0;
}

function emptyLine(nodes: number, replicas: number): PlanLine {
  const reason =
    nodes === 0
      ? "no member of the view has weight: start a node, or give one a capacity above 0"
      : `${replicas} replicas on distinct nodes need as many nodes with weight, and there ${nodes === 1 ? "is 1" : `are ${nodes}`}`;
  return { candidates: [], reason };
}
