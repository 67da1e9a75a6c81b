import type { View } from "../../membership/view.ts";
import type { Placement, Plan } from "../plan.ts";
import { BALANCED } from "./balanced.ts";
import type { PlanChunk } from "./plan-chunk.ts";
import { StoredPlans } from "./stored-plan.ts";

/**
 * The placement `balanced/1` as a service declares it. The manager computes and stores the plans (BalanceController); what is here makes of a view and
 * the stored chunks the plan that hosts follow.
 */
export function balancedPlacement(options: { readonly service: string }): Placement {
  // Nodes of one process that share their copy of the store ask with the very same view and chunks; others have their own.
  const known = new WeakMap<View, Latest>();
  return {
    algorithm: BALANCED,
    stored: true,
    plan(view, stored = []) {
      const chunks = [...stored];
      const latest = known.get(view) ?? { plans: new StoredPlans(options.service), chunks, plan: undefined };
      known.set(view, latest);
      if (!latest.plan || !same(latest.chunks, chunks)) {
        latest.plan = latest.plans.plan(view, chunks);
        latest.chunks = chunks;
      }
      return latest.plan;
    },
  };
}

interface Latest {
  readonly plans: StoredPlans;
  chunks: readonly PlanChunk[];
  plan: Plan | undefined;
}

function same(a: readonly PlanChunk[], b: readonly PlanChunk[]): boolean {
  return a.length === b.length && a.every((chunk, i) => chunk === b[i]);
}
