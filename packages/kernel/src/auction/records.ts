import type { ReplicaKey } from "../identity/keys.ts";

/**
 * What auctions and claims keep in the store, below `auction/<service>/`. Who writes which, bound to what and guarded by what: docs/design/auctions.md,
 * sections 3 and 4.
 */

/** `config`: what an operator or an autoscaler sets for all lots of a service, at run time. */
export interface AuctionConfig {
  readonly v: 1;
  /** A round closes at so many answers. Left out: at as many as there are live bidders. */
  readonly maxBids?: number;
}

/** `override/<shard>`: what an operator sets for one shard. */
export interface Override {
  readonly v: 1;
  /** Goes before all shards that are not. */
  readonly pinned?: boolean;
  readonly maxBids?: number;
  /** Where it should be if it can, best first: near those who read it, or what it is built from. */
  readonly zones?: readonly string[];
}

/** `bidder/<node>`: a node's seat at the auctions of a service, and its one outstanding bid. */
export interface Bidder {
  readonly v: 1;
  readonly node: string;
  readonly boot: string;
  /** The liveness session it is bound to. */
  readonly session: string;
  readonly address: string;
  readonly budgetBytes: number;
  readonly bid?: Bid;
}

/** One amount of memory for several lots, which fit into it together: so it does not matter which of them it wins. */
export interface Bid {
  readonly freeBytes: number;
  /** In the order in which all go through them; at least one. */
  readonly lots: readonly BidLot[];
}

export interface BidLot {
  readonly replica: ReplicaKey;
  /** Counts in this round only, and only while the tenure is the one named. */
  readonly round: number;
  /** Revision of the tenure that is to be moved; 0 when the lot is unheld. */
  readonly tenure: number;
  /** As configured when the bid was made; 0 for the number of live bidders. */
  readonly maxBids: number;
  /** What the bidder expects it to take. */
  readonly bytes: number;
}

/** `pass/<replica>/<node>`: that node will not take the lot in this round. */
export interface Pass {
  readonly v: 1;
  readonly node: string;
  readonly session: string;
  readonly round: number;
  readonly tenure: number;
  readonly maxBids: number;
  readonly reason: string;
}

/** `round/<replica>`: how many rounds of this replica are over, and how the last one ended. */
export interface Round {
  readonly v: 1;
  readonly n: number;
  /** Rounds in a row in which nobody bid. */
  readonly empties: number;
  /** The revision at which it became unheld, as far as was known when an empty round closed; 0 otherwise. */
  readonly unheldAt: number;
  /** How the last round ended, for people. */
  readonly last: string;
}

/** `award/<replica>`: who shall take it over. Valid while its tenure bears `fromSession`. */
export interface Award {
  readonly v: 1;
  readonly node: string;
  /** The target's liveness session, which the key is bound to. */
  readonly session: string;
  readonly from: string;
  readonly fromSession: string;
  readonly reason: string;
}

/** `move/<replica>`: somebody wants it moved away from the node that has it. Valid while its tenure bears `fromSession`. */
export interface MoveRequest {
  readonly v: 1;
  readonly fromSession: string;
  /** The node that levels memory, or an operator's name. */
  readonly by: string;
  readonly reason: string;
}

/** `footprint/<shard>`: how large it was when it was last prepared. */
export interface Footprint {
  readonly v: 1;
  readonly bytes: number;
}

/** `demand`: lots that nobody has room for. Absent when there are none. Autoscalers read it. */
export interface Demand {
  readonly v: 1;
  /** The first of them, in order. */
  readonly replicas: readonly ReplicaKey[];
  readonly count: number;
  readonly bytes: number;
  readonly reason: string;
  /** Wall clock of the writer, for people. */
  readonly since: number;
}
