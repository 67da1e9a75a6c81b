import { replicaKey, type ReplicaKey } from "../identity/keys.ts";
import type { DecisionKind } from "../control/decisions.ts";
import { isolated } from "../lifecycle/granting.ts";
import type { HostMachine } from "../lifecycle/host-machine.ts";
import type { Local } from "../lifecycle/local.ts";
import type { ShardMemory } from "../lifecycle/service.ts";
import type { Plan } from "../placement/plan.ts";
import type { Commit } from "../store/contract.ts";
import { WakeQueue } from "../time/wake-queue.ts";
import { Board } from "./board.ts";
import { formatBytes } from "./bytes.ts";
import { DurationHistogram, newCounters } from "./counters.ts";
import { Lots, type Lot } from "./lots.ts";
import type { Bid, BidLot } from "./records.ts";
import { AUCTION_DEFAULTS, auctionTerms, type AuctionTerms } from "./terms.ts";

export type AuctionPurpose =
  | "register"
  | "bid"
  | "withdraw"
  | "pass"
  | "close"
  | "claim"
  | "footprint"
  | "move"
  | "demand"
  | "tidy";

/** What auctions and claims want done. The driver in the runtime does it and reports back. */
export type AuctionAction =
  | {
      readonly kind: "commit";
      readonly purpose: AuctionPurpose;
      /** The replica, shard or key it is about. */
      readonly subject: string;
      readonly commit: Commit;
    }
  | {
      readonly kind: "decided";
      readonly decision: DecisionKind;
      readonly replica: ReplicaKey | undefined;
      readonly reason: string;
    };

/** Why a commit was refused: keys whose guards failed, and sessions it named that have ended. */
export interface CommitTrouble {
  readonly failed: readonly string[];
  readonly gone: readonly string[];
}

export interface MarketOptions {
  readonly service: string;
  /** The host machine of this node, for what it knows and has: facts, session, era, what is held and built. */
  readonly host: HostMachine;
  readonly memory: ShardMemory;
  /** What this node was started with, as `ZOEKT_MAX_BIDS` is; what is stored for the fleet or for a shard comes before it. */
  readonly maxBids?: number;
}

/**
 * What auctions and claims of one service share on one node: the lots, the board, the memory of this node, and what is to be done. It decides nothing but what
 * this node could take.
 */
export class Market {
  readonly service: string;
  readonly host: HostMachine;
  readonly memory: ShardMemory;
  readonly maxBids: number | undefined;
  readonly board = new Board();
  readonly lots: Lots;
  readonly wakes = new WakeQueue();
  readonly counters = newCounters();
  /** From the first bid of a round to its close, as the evaluator saw it. */
  readonly bidWindow = new DurationHistogram();
  /** From the moment a replica was unheld to its grant. */
  readonly claimLatency = new DurationHistogram();
  terms: AuctionTerms = AUCTION_DEFAULTS;
  /** Who may take a lot; undefined while no plan of ours is in force. */
  bidders: ReadonlySet<string> | undefined;
  zones: ReadonlyMap<string, string> = new Map();
  replicas: ReadonlySet<ReplicaKey> = new Set();
  replicasPerShard = 1;
  #actions: AuctionAction[] = [];

  constructor(options: MarketOptions) {
    this.service = options.service;
    this.host = options.host;
    this.memory = options.memory;
    this.maxBids = options.maxBids;
    this.lots = new Lots(options.host, this.board);
  }

  setPlan(plan: Plan | undefined): void {
    this.bidders = plan && new Set(plan.bidders);
    if (plan) {
      this.terms = auctionTerms(plan.parameters.placement);
      this.replicas = new Set(plan.lines.keys());
      this.replicasPerShard = plan.parameters.replicas;
      this.zones = plan.zones ?? new Map();
    }
    this.lots.set(plan ? this.replicas : new Set(), this.bidders ?? new Set(), this.terms.graceMs);
  }

  touchShard(shard: string): void {
    for (let r = 0; r < this.replicasPerShard; r++) this.lots.touch(`${shard}/${r}`);
  }

  /** This node is to take part: it is a bidder, and not about to leave. */
  get takesPart(): boolean {
    return this.bidders?.has(this.host.self.node) === true && this.host.leavingSince === undefined;
  }

  emit(purpose: AuctionPurpose, subject: string, commit: Commit): void {
    this.#actions.push({ kind: "commit", purpose, subject, commit });
  }

  decide(decision: DecisionKind, replica: ReplicaKey | undefined, reason: string): void {
    this.#actions.push({ kind: "decided", decision, replica, reason });
  }

  takeActions(): AuctionAction[] {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }

  /** How much memory a shard is expected to take: what it took last, or what the service thinks; more when it was found to need more since. */
  sizeOf({ shard, shardKey: key }: Pick<Lot, "shard" | "shardKey">): number {
    const bytes = this.board.footprints.get(key)?.value.bytes ?? this.memory.sizeOf(shard);
    return Math.max(bytes, this.memory.leastSizeOf?.(shard) ?? 0);
  }

  /** Memory that is neither taken nor promised. */
  freeBytes(): number {
    let free = this.memory.freeBytes();
    for (const local of this.host.locals()) {
      if (local.id.service !== this.service) continue;
      const { builds } = this.host.service(local);
      // What is prepared (or open, where nothing is built) the service has taken off itself.
      if (builds ? local.data === "prepared" : local.shard !== "none") continue;
      const wanted = local.hold !== undefined || this.#isTarget(local.key) || this.#mayBeGranted(local);
      if (!wanted && (!builds || local.data === "none")) continue;
      free -= this.sizeOf({ shard: local.id.shard, shardKey: local.shardKey });
    }
    return free;
  }

  /** Why this node will not take the lot; undefined when it would. */
  refusal(lot: Lot, freeBytes: number, now: number): string | undefined {
    const { host } = this;
    if (!this.takesPart) return "is leaving";
    const suspended = host.suspensionOf(this.service);
    if (suspended !== undefined) return `cannot work here: ${suspended}`;
    const local = host.local(lot.replica);
    if (local && now < local.retryAt) return `failed to open it ${local.failures} times`;
    if (this.replicasPerShard > 1 && this.#hasAnother(lot)) return "has another replica of it";
    const size = this.sizeOf(lot);
    if (freeBytes < size) return `needs ${formatBytes(size)}, has ${formatBytes(Math.max(0, freeBytes))}`;
    if (isolated(host, { key: lot.replica, shardKey: lot.shardKey }, now))
      return "is watching another shard that lost its holders";
    return undefined;
  }

  /** How many other replicas of the shard are, or are about to be, in the zone of the node. */
  neighbours(lot: Pick<Lot, "replica" | "shard">, node: string): number {
    const zone = this.zones.get(node);
    let count = 0;
    for (let r = 0; r < this.replicasPerShard && zone !== undefined; r++) {
      const replica = replicaKey(this.service, lot.shard, r);
      if (replica === lot.replica) continue;
      const facts = this.host.facts.known(replica);
      const holder = facts?.tenure?.value;
      if (!holder) continue;
      const award = facts?.award?.value;
      const at = award?.fromSession === holder.session ? award.node : holder.node;
      if (this.zones.get(at) === zone) count++;
    }
    return count;
  }

  /** How far a node is from where the shard should be: 0 in the first of its zones, or when it has none. */
  away(lot: Pick<Lot, "shardKey">, node: string): number {
    const zones = this.board.overrides.get(lot.shardKey)?.value.zones;
    if (!zones || zones.length === 0) return 0;
    const at = zones.indexOf(this.zones.get(node) ?? "");
    return at === -1 ? zones.length : at;
  }

  /** Does an answer still count? Its round is not over, and the lot is as it was. */
  isCurrent(answer: Pick<BidLot, "replica" | "round" | "tenure">): boolean {
    const { replica, round, tenure } = answer;
    const lot = this.lots.get(replica);
    return lot !== undefined && lot.tenure === tenure && this.board.roundOf(replica) === round;
  }

  /** The lots that a bid still counts for. */
  standing(bid: Bid | undefined): readonly BidLot[] {
    return bid?.lots.filter((each) => this.isCurrent(each)) ?? [];
  }

  /** What this node's bid still counts for. */
  outstanding(): readonly BidLot[] {
    const own = this.board.bidders.get(this.host.self.node)?.value;
    return own?.session === this.host.liveness?.id ? this.standing(own?.bid) : [];
  }

  /** What is configured for the lot; undefined when live bidders are counted. */
  configuredMaxBids(lot: Pick<Lot, "shardKey">): number | undefined {
    const { overrides, config } = this.board;
    return overrides.get(lot.shardKey)?.value.maxBids ?? config?.value.maxBids ?? this.maxBids;
  }

  /** This node asked for it when it had it ready, and has let go of that since. Who is seen to hold it may have let go too before the grant lands; it was asked for long ago when the outcome is unknown. */
  #mayBeGranted({ key, sentGrant, granting }: Local): boolean {
    if (!sentGrant || sentGrant.session !== this.host.liveness?.id) return false;
    const facts = this.host.facts.known(key);
    return facts?.round === sentGrant.round && (granting || !facts.tenure);
  }

  #isTarget(replica: ReplicaKey): boolean {
    const facts = this.host.facts.known(replica);
    const award = facts?.award?.value;
    return (
      award !== undefined &&
      award.session === this.host.liveness?.id &&
      award.fromSession === facts?.tenure?.value.session
    );
  }

  #hasAnother(lot: Lot): boolean {
    for (let r = 0; r < this.replicasPerShard; r++) {
      const replica = replicaKey(this.service, lot.shard, r);
      if (replica === lot.replica) continue;
      const local = this.host.local(replica);
      if (local && (local.hold || local.data !== "none" || this.#isTarget(replica))) return true;
      // Granted, and not adopted yet.
      const granted = this.host.facts.known(replica)?.tenure?.value.session;
      if (granted !== undefined && granted === this.host.liveness?.id) return true;
    }
    return false;
  }
}
