import type { Known } from "../lifecycle/facts.ts";
import type { ReplicaKey } from "../identity/keys.ts";
import type {
  AuctionConfig,
  Bidder,
  Demand,
  Footprint,
  MoveRequest,
  Override,
  Pass,
  Round,
} from "./records.ts";

/** A stored value and when this node first saw it, on its own clock. */
export interface Seen<T> extends Known<T> {
  readonly seenAt: number;
}

const NOBODY: ReadonlyMap<string, Seen<Pass>> = new Map();
const NONE: ReadonlySet<string> = new Set();

/** What the store says about the auctions of one service, as far as this node knows. It only keeps; what follows from it is decided elsewhere. */
export class Board {
  readonly bidders = new Map<string, Seen<Bidder>>();
  readonly rounds = new Map<ReplicaKey, Seen<Round>>();
  readonly moves = new Map<ReplicaKey, Seen<MoveRequest>>();
  /** By shard key. */
  readonly overrides = new Map<string, Seen<Override>>();
  readonly footprints = new Map<string, Seen<Footprint>>();
  config: Seen<AuctionConfig> | undefined;
  demand: Seen<Demand> | undefined;

  readonly #passes = new Map<ReplicaKey, Map<string, Seen<Pass>>>();
  readonly #bidsOn = new Map<ReplicaKey, Set<string>>();
  readonly #answeredAt = new Map<string, number>();

  /** Returns the replicas that the bidder's former and present bids are on. */
  setBidder(node: string, bidder: Known<Bidder> | undefined, now: number): ReplicaKey[] {
    const touched: ReplicaKey[] = [];
    const before = this.bidders.get(node)?.value.bid;
    if (before) {
      this.#bidsOn.get(before.replica)?.delete(node);
      touched.push(before.replica);
    }
    if (!bidder) {
      this.bidders.delete(node);
      this.#answeredAt.delete(node);
      return touched;
    }
    this.bidders.set(node, { ...bidder, seenAt: now });
    this.#answeredAt.set(node, now);
    const { bid } = bidder.value;
    if (bid) {
      let on = this.#bidsOn.get(bid.replica);
      if (!on) this.#bidsOn.set(bid.replica, (on = new Set()));
      on.add(node);
      touched.push(bid.replica);
    }
    return touched;
  }

  setPass(replica: ReplicaKey, node: string, pass: Known<Pass> | undefined, now: number): void {
    let passes = this.#passes.get(replica);
    if (!passes) this.#passes.set(replica, (passes = new Map<string, Seen<Pass>>()));
    if (pass) {
      passes.set(node, { ...pass, seenAt: now });
      this.#answeredAt.set(node, now);
    } else passes.delete(node);
    if (passes.size === 0) this.#passes.delete(replica);
  }

  /** Nodes whose bid names the replica, in whichever round. */
  bidsOn(replica: ReplicaKey): ReadonlySet<string> {
    return this.#bidsOn.get(replica) ?? NONE;
  }

  /** Replicas that some bid names. */
  *replicasWithBids(): Iterable<ReplicaKey> {
    for (const [replica, nodes] of this.#bidsOn) if (nodes.size > 0) yield replica;
  }

  passesOn(replica: ReplicaKey): ReadonlyMap<string, Seen<Pass>> {
    return this.#passes.get(replica) ?? NOBODY;
  }

  replicasWithPasses(): Iterable<ReplicaKey> {
    return this.#passes.keys();
  }

  /** When a node last bid or passed. */
  answeredAt(node: string): number {
    return this.#answeredAt.get(node) ?? -Infinity;
  }

  /** The round in which answers count now. */
  roundOf(replica: ReplicaKey): number {
    return (this.rounds.get(replica)?.value.n ?? 0) + 1;
  }
}
