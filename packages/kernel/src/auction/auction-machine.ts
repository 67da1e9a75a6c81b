import type { Guard } from "../store/contract.ts";
import {
  parseReplicaKey,
  replicaKey,
  shardKey,
  type AuctionPart,
  type ReplicaKey,
} from "../identity/keys.ts";
import { Election, type ManagerRecord } from "../control/election.ts";
import type { CommitReport } from "../lifecycle/host-actions.ts";
import type { Known } from "../lifecycle/facts.ts";
import type { Plan } from "../placement/plan.ts";
import { bid } from "./bidding.ts";
import { AuctionCommits } from "./commits.ts";
import { keepDemand } from "./demand.ts";
import { auctionOf, evaluate, type Closing } from "./evaluating.ts";
import { feed, readKnown } from "./feed.ts";
import { Front } from "./front.ts";
import { judgeAuction, type Auction } from "./judge.ts";
import { clearOffice, keepFootprints, tidy } from "./keeping.ts";
import { levelMemory, voidMoves } from "./level-requests.ts";
import { Limiter } from "./limiter.ts";
import type { Lot } from "./lots.ts";
import { Market, type AuctionAction, type CommitTrouble, type MarketOptions } from "./market.ts";
import { compareLots } from "./order.ts";
import { pass } from "./passing.ts";

/** This node's seat: whether a write of it is out, and when nothing was found to bid on. */
export interface Seat {
  busy: boolean;
  tries: number;
  retryAt: number;
  nothing: { readonly freeBytes: number; readonly until: number } | undefined;
  /** Lots that came or changed since then. */
  readonly fresh: Set<ReplicaKey>;
}

/** How often the small duties are looked after: footprints, what was left lying, demand. */
const KEEP_MS = 1_000;
/** After so many times the wait a silent bidder gets another chance: it may be well again and have had nothing to say. */
const SILENT_TIMES = 10;
/** Lots without a bid that are looked at when this node's memory changes. */
const LOOK_MAX = 64;

/**
 * The auctions of one service on one node: bids and passes for this node and, while it is the evaluator, closes rounds for all. It is level-triggered like the host machine: facts in, and at every
 * step it looks at what was touched and decides. Pure: it acts only through the actions it returns.
 */
export class AuctionMachine {
  readonly market: Market;
  readonly commits: AuctionCommits;
  readonly election: Election;
  readonly limiter: Limiter;

  // For the parts of the machine in the sibling files.
  readonly seat: Seat = {
    busy: false,
    tries: 0,
    retryAt: -Infinity,
    nothing: undefined,
    fresh: new Set(),
  };
  readonly front: Front;
  /** Lots that a pass of this node is under way for. */
  readonly passing = new Set<ReplicaKey>();
  passRetryAt = -Infinity;
  readonly closings = new Map<ReplicaKey, Closing>();
  /** Bidders that let a round wait and have not answered anything since, and until when they are not waited for. */
  readonly silent = new Map<string, number>();
  /** Moves asked for to level memory, and until when they are not asked for again. */
  readonly asked = new Map<ReplicaKey, number>();

  readonly #looks = new Set<ReplicaKey>();
  readonly #judgements = new Set<ReplicaKey>();
  readonly #started = new Map<ReplicaKey, number>();
  readonly #told = new Set<string>();
  #freeBytes = NaN;
  #office: Guard | undefined;
  #eraRevision: number | undefined;
  #keepAt = -Infinity;
  #levelAt = -Infinity;

  constructor(options: MarketOptions) {
    this.market = new Market(options);
    const { host, service } = options;
    this.commits = new AuctionCommits(host.keys, service, host.rules);
    this.front = new Front(this.market);
    this.limiter = new Limiter(this.market.terms.evaluationsPerSecond);
    this.election = new Election(
      host.keys,
      host.self.node,
      host.random,
      host.keys.auction(service, "evaluator"),
    );
  }

  // What is known.

  /** Undefined: the view asks for another placement than ours. */
  setPlan(plan: Plan | undefined): void {
    this.market.setPlan(plan);
    this.limiter.setRate(this.market.terms.evaluationsPerSecond);
    for (const node of this.silent.keys()) if (!this.market.bidders?.has(node)) this.silent.delete(node);
    this.seat.nothing = undefined;
  }

  /** A key below `auction/<service>/` changed. Awards go to the host machine; what they change here is told by `noticed`. */
  feed(part: AuctionPart, about: string, stored: Known<unknown> | undefined, now: number): void {
    const known = readKnown(this.market, part, about, stored);
    if (part === "evaluator") return this.election.observe(known as Known<ManagerRecord> | undefined);
    const { replicas, answered } = feed(this.market, part, about, known, now);
    for (const replica of replicas) this.#judge(replica);
    // Another number of answers may open what was decided.
    if (part === "config") this.seat.nothing = undefined;
    if (!answered) return;
    this.silent.delete(answered.node);
    if (!this.#office) return;
    if (answered.how === "bid") this.market.counters.bids_received += this.#lotsBidOn(answered.node);
    else if (answered.how === "pass") this.market.counters.passes_received++;
  }

  /** The tenure, a contender or the award of a replica changed. `vacatedAt` is the revision at which its tenure went. */
  noticed(replica: ReplicaKey, vacatedAt?: number): void {
    if (vacatedAt === undefined) this.market.lots.touch(replica);
    else this.market.lots.vacated(replica, vacatedAt);
  }

  /** What is held against a shard changed. */
  noticedShard(shard: string): void {
    this.market.touchShard(shard);
  }

  /** Decides everything that is due and returns what to do. */
  step(now: number): AuctionAction[] {
    const { market } = this;
    const { host } = market;
    if (host.era?.revision !== this.#eraRevision) {
      this.#eraRevision = host.era?.revision;
      market.lots.eraOpened(now);
    }
    for (const replica of market.lots.refresh(now)) {
      this.#judge(replica);
      this.seat.fresh.add(replica);
    }
    for (const name of market.wakes.due(now)) {
      const [what, replica] = name.split(" ");
      if (what === "pass") this.#looks.add(replica!);
      else if (what === "judge") this.#judgements.add(replica!);
    }
    if (!market.bidders || !host.era) return market.takeActions();
    this.#answer(now);
    this.#evaluate(now);
    if (now >= this.#keepAt) this.#keep(now);
    market.wakes.sooner("keep", this.#keepAt);
    return market.takeActions();
  }

  wakeAt(): number {
    return this.market.wakes.next() ?? Infinity;
  }

  /** What became of a commit. What it wrote has already been told. */
  reported(
    action: AuctionAction & { kind: "commit" },
    report: CommitReport,
    trouble: CommitTrouble,
    now: number,
  ): void {
    const { market, seat } = this;
    const { counters, host } = market;
    const { subject } = action;
    switch (action.purpose) {
      case "register":
      case "bid":
      case "withdraw":
        seat.busy = false;
        seat.tries = report === "committed" ? 0 : seat.tries + 1;
        seat.retryAt = report === "committed" ? -Infinity : now + host.pause(seat.tries);
        if (action.purpose === "bid") {
          if (report === "committed") counters.bids_placed += this.#lotsBidOn(host.self.node);
          else if (trouble.failed.includes(host.keys.auction(market.service, "bidder", host.self.node)))
            counters.bids_rejected_already_pending++;
        }
        seat.nothing = undefined;
        return;
      case "pass":
        this.passing.delete(subject);
        this.#looks.add(subject);
        if (report === "committed") counters.passes_placed++;
        else this.passRetryAt = now + host.pause(1);
        return;
      case "close":
        this.#closed(subject, report, trouble.gone, now);
        return;
      case "footprint":
        this.#told.delete(subject);
        return;
      case "claim":
      case "move":
      case "demand":
      case "tidy":
        return;
    }
  }

  /** The guard on the evaluator's office, while this node has it. */
  get office(): Guard | undefined {
    return this.#office;
  }

  // For the parts of the machine in the sibling files.

  /** Has the round got all the answers it needs? Another one would come too late. */
  isDecided(lot: Lot, now: number): boolean {
    if (this.market.configuredMaxBids(lot) === undefined) return false;
    return judgeAuction(auctionOf(this, lot), this.market.terms.windowMs, now).kind === "won";
  }

  bytesOf(replica: ReplicaKey): number {
    const { service, shard } = parseReplicaKey(replica);
    return this.market.sizeOf({ shard, shardKey: shardKey(service, shard) });
  }

  /** Counts the round once, when it has its first bid. */
  noteStarted(lot: Lot, round: number, auction: Auction): void {
    if (auction.bids.length === 0 || this.#started.get(lot.replica) === round) return;
    this.#started.set(lot.replica, round);
    this.market.counters.auctions_started++;
  }

  /** Gives up waiting for those who have kept a round waiting too long. True when that changed anything. */
  fallSilent(missing: readonly string[], waitsSince: number, now: number): boolean {
    const { board, terms } = this.market;
    let changed = false;
    for (const node of missing) {
      // Whoever waits for other rounds of its own will answer when those are over.
      if (this.market.standing(board.bidders.get(node)?.value.bid).length > 0) continue;
      if (now < Math.max(waitsSince, board.answeredAt(node)) + terms.silentMs) continue;
      this.silent.set(node, now + SILENT_TIMES * terms.silentMs);
      changed = true;
    }
    return changed;
  }

  #lotsBidOn(node: string): number {
    return this.market.board.bidders.get(node)?.value.bid?.lots.length ?? 0;
  }

  #judge(replica: ReplicaKey): void {
    this.#looks.add(replica);
    this.#judgements.add(replica);
  }

  #answer(now: number): void {
    const { market } = this;
    if (!market.host.session(now)) return;
    const free = market.freeBytes();
    if (free !== this.#freeBytes) {
      this.#freeBytes = free;
      for (const replica of market.board.replicasWithBids()) this.#looks.add(replica);
      for (const { replica } of market.lots.ordered().slice(0, LOOK_MAX)) this.#looks.add(replica);
    }
    bid(this, free, now);
    for (const replica of this.#looks) pass(this, replica, free, now);
    this.#looks.clear();
  }

  #evaluate(now: number): void {
    const { market } = this;
    const office = this.election.elected(market.host.session(now), now);
    if (office && office.revision !== this.#office?.revision) {
      for (const replica of market.board.replicasWithBids()) this.#judgements.add(replica);
      for (const replica of market.board.replicasWithPasses()) this.#judgements.add(replica);
      if (!this.#office) this.#receiveStanding();
    }
    this.#office = office;
    for (const [node, until] of this.silent) if (now >= until) this.silent.delete(node);
    // In the order of the lots: who wins the first has less for the next.
    if (office) for (const replica of inOrder(market, this.#judgements)) evaluate(this, replica, office, now);
    this.#judgements.clear();
    if (office && now >= this.#levelAt) {
      this.#levelAt = now + market.terms.levelEveryMs;
      levelMemory(this, office, now);
    }
  }

  /** What came while nobody judged, or somebody else did, is judged by this node too. */
  #receiveStanding(): void {
    const { board, counters } = this.market;
    for (const { value } of board.bidders.values())
      counters.bids_received += this.market.standing(value.bid).length;
    for (const replica of board.replicasWithPasses())
      for (const { value } of board.passesOn(replica).values())
        if (this.market.isCurrent({ ...value, replica })) counters.passes_received++;
  }

  #keep(now: number): void {
    const { market, commits } = this;
    const { counters, board, bidders } = market;
    this.#keepAt = now + KEEP_MS;
    for (const replica of this.front.refresh(this.#keepAt)) this.#looks.add(replica);
    counters.configured_max_bids = board.config?.value.maxBids ?? this.market.maxBids ?? 0;
    counters.live_bidders = bidders?.size ?? 0;
    counters.unheld = 0;
    for (const { why } of market.lots.ordered()) if (why === "unheld") counters.unheld++;
    keepFootprints(market, commits, this.#told);
    tidy(market, commits, now);
    clearOffice(market, commits);
    const office = this.#office;
    if (!office) return;
    const { emptiesMax } = market.terms;
    keepDemand(
      market,
      commits,
      (lot) => (board.rounds.get(lot.replica)?.value.empties ?? 0) >= emptiesMax,
      office,
    );
    for (const { replica, revision } of voidMoves(this))
      market.emit("tidy", replica, commits.remove("move", replica, revision));
  }

  #closed(replica: ReplicaKey, report: CommitReport, gone: readonly string[], now: number): void {
    const { market, closings } = this;
    const { counters, host } = market;
    const closing = closings.get(replica);
    const { service, shard } = parseReplicaKey(replica);
    // Other replicas of the shard waited for this one's end.
    for (let r = 0; r < market.replicasPerShard; r++) this.#judgements.add(replicaKey(service, shard, r));
    if (!closing) return;
    closing.busy = false;
    if (report !== "committed") {
      for (const session of gone) closing.gone.add(session);
      // With somebody known to be gone the next best is tried at once; otherwise the copy has to catch up first.
      closing.retryAt = gone.length > 0 ? now : now + host.pause(closing.tries);
      if (report === "conflict" && gone.length === 0 && !market.lots.get(replica))
        counters.auctions_no_winner++;
      return;
    }
    closings.delete(replica);
    if (closing.how === "empty") {
      counters.auctions_no_winner++;
      market.decide("refused", replica, market.board.rounds.get(replica)?.value.last ?? "nobody has room");
      return;
    }
    counters.auctions_won++;
    if (closing.early) counters.auctions_short_circuited++;
    else counters.auctions_timed_out++;
    if (closing.openedAt !== undefined) market.bidWindow.add(now - closing.openedAt);
    if (closing.unheldSince !== undefined) market.claimLatency.add(now - closing.unheldSince);
    market.decide("awarded", replica, market.board.rounds.get(replica)?.value.last ?? "");
  }
}

/** Lots in their order first; then what is none, or has no answer: those are many at times, and in no order. */
function inOrder({ lots, board }: Market, replicas: ReadonlySet<ReplicaKey>): ReplicaKey[] {
  const answered: Lot[] = [];
  const others: ReplicaKey[] = [];
  for (const replica of replicas) {
    const lot = lots.get(replica);
    if (lot && board.bidsOn(replica).size > 0) answered.push(lot);
    else others.push(replica);
  }
  return [...answered.sort(compareLots).map(({ replica }) => replica), ...others];
}
