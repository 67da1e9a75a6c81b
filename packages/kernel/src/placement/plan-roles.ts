import type { ReplicaKey } from "../identity/keys.ts";
import type { Plan } from "./plan.ts";

/** What a plan wants of one node: the replicas it should hold, and those it takes over when others fail. */
export interface PlanRole {
  readonly first: readonly ReplicaKey[];
  readonly later: readonly ReplicaKey[];
}

const NO_ROLE: PlanRole = { first: [], later: [] };

/** Nodes of one process that compute from the same view have the very same plan: it is sorted by node once for all of them. */
const sorted = new WeakMap<Plan, ReadonlyMap<string, PlanRole>>();

export function roleOf(plan: Plan, node: string): PlanRole {
  let roles = sorted.get(plan);
  if (!roles) sorted.set(plan, (roles = sort(plan)));
  return roles.get(node) ?? NO_ROLE;
}

function sort(plan: Plan): ReadonlyMap<string, PlanRole> {
  const roles = new Map<string, { first: ReplicaKey[]; later: ReplicaKey[] }>();
  for (const [key, { candidates }] of plan.lines) {
    let first = true;
    for (const node of candidates) {
      let role = roles.get(node);
      if (!role) roles.set(node, (role = { first: [], later: [] }));
      (first ? role.first : role.later).push(key);
      first = false;
    }
  }
  return roles;
}
