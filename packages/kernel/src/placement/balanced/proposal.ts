/**
 * What `balanced/1` answers. Targets are by replica index, as in the input; everything that people read names shards and nodes.
 */
export interface BalancedProposal {
  readonly viewN: number;
  /** Where each replica should be. Undefined when nobody can hold it; then a refusal says why. */
  readonly targets: readonly (string | undefined)[];
  /** Why each replica is where it should be; `stays` for those whose target did not change in this round. */
  readonly whys: readonly Why[];
  /** What begins to move now. */
  readonly moves: readonly PlannedMove[];
  /** What shall move later: the limits on moves leave no room for it now. Its target is where it is. */
  readonly waiting: readonly WaitingMove[];
  /** What cannot be had. */
  readonly refusals: readonly Refusal[];
}

/** The phase that chose a replica's target. */
export type Why =
  | "stays"
  /** Nobody held it. */
  | "new"
  | "lost"
  | "draining"
  | "pinned"
  /** It makes way for one that is pinned, or has no holder and can be nowhere else. */
  | "displaced"
  | "zones"
  | "peak"
  | "floor"
  | "swap";

export interface PlannedMove {
  /** Index of the replica. */
  readonly index: number;
  readonly shard: string;
  readonly replica: number;
  /** Undefined when nobody holds it any more. */
  readonly from: string | undefined;
  readonly to: string;
  readonly cost: number;
  readonly why: Why;
  /** `why` in words, with the numbers. */
  readonly because: string;
}

export interface WaitingMove extends PlannedMove {
  /** Which limit it waits for. */
  readonly waitsFor: string;
}

/** Something that the input asks for and no plan can give. */
export interface Refusal {
  readonly kind:
    | "unplaced" // a replica that no node can take
    | "stranded" // a replica that cannot leave its draining node
    | "pin"
    | "zones" // a shard with more replicas in one zone than need be
    | "heavy" // a replica that no node can hold within the band
    | "ceiling" // a node that stays above it
    | "floor"; // a node that stays below it
  readonly shard?: string;
  readonly replica?: number;
  readonly node?: string;
  readonly because: string;
}

/** At most this many refusals of one kind are listed; the last one says how many more there are. */
export const refusalsPerKindMax = 100;
