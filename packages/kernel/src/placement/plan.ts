import type { ServiceParameters, View } from "../membership/view.ts";
import type { ReplicaKey } from "../identity/keys.ts";
import type { PlanChunk } from "./balanced/plan-chunk.ts";

/**
 * A placement says which node should hold which replica. It is a pure function: no clock, no I/O, no chance of its own, so that it
 * can be simulated, replayed, explained and dry-run.
 */
export interface Placement {
  /** Name and version of the algorithm, as written in views: `ring/1`. */
  readonly algorithm: string;
  /** Who grants a replica that nobody holds: the candidates of its line by rank (when left out), or an auction, or whoever claims it first. */
  readonly kind?: "plan" | "auction" | "claim";
  /**
   * The manager makes its plans and keeps them in the store, and `plan` is given what is stored. Without that it says only where replicas go until there
   * is a plan.
   */
  readonly stored?: true;
  plan(view: View, stored?: Iterable<PlanChunk>): Plan;
}

/** A placement's answer. */
export interface Plan {
  readonly viewN: number;
  readonly parameters: ServiceParameters;
  /** One line per replica. */
  readonly lines: ReadonlyMap<ReplicaKey, PlanLine>;
  /** For auctions and claims, whose lines name no candidates: the nodes that may take a replica, in order of their ids. */
  readonly bidders?: readonly string[];
  /** Likewise: the zones of the members. */
  readonly zones?: ReadonlyMap<string, string>;
}

export interface PlanLine {
  /** The node that should hold the replica first, then who takes over, in order. Empty when nobody can. */
  readonly candidates: readonly string[];
  /** Why the first candidate is the first; for `explain`. */
  readonly reason: string;
  /**
   * Nobody has yet decided where it should be now: the candidates are who takes over when nobody holds it. While somebody does, leaving or not, they leave it
   * where it is.
   */
  readonly interim?: boolean;
}
