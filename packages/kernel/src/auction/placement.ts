import { shardKey, type ReplicaKey } from "../identity/keys.ts";
import { shardIds, type View } from "../membership/view.ts";
import type { Placement, Plan, PlanLine } from "../placement/plan.ts";
import { auctionTerms } from "./terms.ts";

/**
 * The placements `auction/1` and `claim/1`. Their plan names no candidates: it lists the replicas there are and the nodes that may take one. Who takes which
 * is found out in the store, by bids or by whoever is first.
 */
export function auction(options: { readonly service: string }): Placement {
  return { algorithm: AUCTION, kind: "auction", plan: (view) => plan(options.service, view, BY_AUCTION) };
}

export function claim(options: { readonly service: string }): Placement {
  return { algorithm: CLAIM, kind: "claim", plan: (view) => plan(options.service, view, BY_CLAIM) };
}

/** The algorithms' names in views. */
export const AUCTION = "auction/1";
export const CLAIM = "claim/1";

const BY_AUCTION: PlanLine = { candidates: [], reason: "goes to the highest bid" };
const BY_CLAIM: PlanLine = { candidates: [], reason: "goes to whoever claims it first" };

function plan(service: string, view: View, line: PlanLine): Plan {
  const { parameters } = view;
  auctionTerms(parameters.placement);
  const lines = new Map<ReplicaKey, PlanLine>();
  for (const id of shardIds(parameters))
    for (let replica = 0; replica < parameters.replicas; replica++)
      lines.set(`${shardKey(service, id)}/${replica}`, line);
  const bidders = view.members.filter(({ weight }) => weight > 0).map(({ node }) => node);
  const zones = new Map(view.members.map(({ node, zone }) => [node, zone]));
  return { viewN: view.n, parameters, lines, bidders: bidders.sort(), zones };
}
