import type { PlanLine } from "../placement/plan.ts";
import type { ReplicaFacts } from "./facts.ts";

/**
 * Where a replica should be when no plan says so, under auctions and claims: with the target of its award, else with the node that has it, else
 * nowhere until somebody wins it.
 */
export function targetLine(facts: ReplicaFacts): PlanLine {
  const { award, tenure } = facts;
  if (!tenure) return NOWHERE;
  if (award && award.value.fromSession === tenure.value.session)
    return { candidates: [award.value.node], reason: award.value.reason };
  return { candidates: [tenure.value.node], reason: "stays where it is" };
}

const NOWHERE: PlanLine = { candidates: [], reason: "nobody holds it; it is up for auction or claim" };
