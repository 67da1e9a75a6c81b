import type { Known } from "../lifecycle/facts.ts";
import type { ReplicaKey } from "../identity/keys.ts";
import type {
  AuctionConfig,
  Bidder,
  BidLot,
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
const NONE: ReadonlyMap<string, BidLot> = new Map();

/** What the store says about the auctions of one service, as far as this node knows. It only keeps; what follows from it is decided elsewhere. */
export class Board {
  readonly bidders = new Map<string, Seen<Bidder>>();
  readonly rounds = new Map<ReplicaKey, Seen<Round>>();
  readonly moves = new Map<ReplicaKey, Seen<MoveRequest>>();
  /** By shard key. */
  readonly overrides = new Map<string, Seen<Override>>();
  readonly footprints = new Map<string, Seen<Footprint>>();
  /** Keys below `auction/<service>/` whose value cannot be read, and their revisions: whoever writes there guards on it. */
  readonly unread = new Map<string, number>();
  config: Seen<AuctionConfig> | undefined;
  demand: Seen<Demand> | undefined;

  readonly #passes = new Map<ReplicaKey, Map<string, Seen<Pass>>>();
  readonly #bidsOn = new Map<ReplicaKey, Map<string, BidLot>>();
  readonly #answeredAt = new Map<string, number>();

  /** Returns the replicas that the bidder's former and present bids are on. */
  setBidder(node: string, bidder: Known<Bidder> | undefined, now: number): ReplicaKey[] {
    const touched: ReplicaKey[] = [];
    for (const { replica } of this.bidders.get(node)?.value.bid?.lots ?? []) {
      const on = this.#bidsOn.get(replica);
      on?.delete(node);
      if (on?.size === 0) this.#bidsOn.delete(replica);
      touched.push(replica);
    }
    if (!bidder) {
      this.bidders.delete(node);
      this.#answeredAt.delete(node);
      return touched;
    }
    this.bidders.set(node, { ...bidder, seenAt: now });
    this.#answeredAt.set(node, now);
    for (const lot of bidder.value.bid?.lots ?? []) {
      let on = this.#bidsOn.get(lot.replica);
      if (!on) this.#bidsOn.set(lot.replica, (on = new Map<string, BidLot>()));
      on.set(node, lot);
      touched.push(lot.replica);
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

  /** By node, what its bid says of the replica, in whichever round. */
  bidsOn(replica: ReplicaKey): ReadonlyMap<string, BidLot> {
    return this.#bidsOn.get(replica) ?? NONE;
  }

  /** Replicas that some bid names. */
  *replicasWithBids(): Iterable<ReplicaKey> {
    yield* this.#bidsOn.keys();
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
