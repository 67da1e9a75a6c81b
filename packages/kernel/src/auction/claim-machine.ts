import { Election, type ManagerRecord } from "../control/election.ts";
import type { AuctionPart, ReplicaKey } from "../identity/keys.ts";
import type { Known } from "../lifecycle/facts.ts";
import type { CommitReport } from "../lifecycle/host-actions.ts";
import { strikeOfLoss } from "../lifecycle/trouble.ts";
import type { HeldSession } from "../membership/session-machine.ts";
import type { Plan } from "../placement/plan.ts";
import type { Tenure } from "../tenure/tenure.ts";
import { AuctionCommits } from "./commits.ts";
import { keepDemand } from "./demand.ts";
import { feed, readKnown } from "./feed.ts";
import { clearOffice, keepFootprints, tidy } from "./keeping.ts";
import type { Lot } from "./lots.ts";
import { Market, type AuctionAction, type MarketOptions } from "./market.ts";

/** This node's claim of one lot. */
interface Claim {
  /** Not before this; a jitter, so that a fleet does not rush at one lot, or to one node. */
  at: number;
  busy: boolean;
  tries: number;
  /** It was sent, and may yet land: its memory stays promised until somebody holds the lot. */
  sent: boolean;
}

const KEEP_MS = 1_000;
/** How often a lot that does not fit is looked at again, at the latest. */
const LOOK_AGAIN_MS = 1_000;

/**
 * The claims of one service on one node, in place of auctions: whoever creates the tenure first has it. The tenure is the seed's catalogue row, the liveness session its lease and heartbeat, and a release
 * gives it back. A node claims what fits, after a jitter, a few builds at a time; what a leaving holder still serves it claims the succession of. Pure, and level-triggered.
 */
export class ClaimMachine {
  readonly market: Market;
  readonly commits: AuctionCommits;
  /** For the one record that one node writes for all: what is demanded. */
  readonly election: Election;
  readonly #claims = new Map<ReplicaKey, Claim>();
  readonly #told = new Set<string>();
  #eraRevision: number | undefined;
  #keepAt = -Infinity;

  constructor(options: MarketOptions) {
    this.market = new Market(options);
    const { host, service } = options;
    this.commits = new AuctionCommits(host.keys, service, host.rules);
    this.election = new Election(
      host.keys,
      host.self.node,
      host.random,
      host.keys.auction(service, "evaluator"),
    );
  }

  /** Undefined: the view asks for another placement than ours. */
  setPlan(plan: Plan | undefined): void {
    this.market.setPlan(plan);
  }

  feed(part: AuctionPart, about: string, stored: Known<unknown> | undefined, now: number): void {
    const known = readKnown(this.market, part, about, stored);
    if (part === "evaluator") this.election.observe(known as Known<ManagerRecord> | undefined);
    else feed(this.market, part, about, known, now);
  }

  noticed(replica: ReplicaKey, vacatedAt?: number): void {
    if (vacatedAt === undefined) this.market.lots.touch(replica);
    else this.market.lots.vacated(replica, vacatedAt);
  }

  noticedShard(shard: string): void {
    this.market.touchShard(shard);
  }

  step(now: number): AuctionAction[] {
    const { market } = this;
    const { host, lots } = market;
    if (host.era?.revision !== this.#eraRevision) {
      this.#eraRevision = host.era?.revision;
      lots.eraOpened(now);
    }
    for (const replica of lots.refresh(now)) if (!lots.get(replica)) this.#claims.delete(replica);
    market.wakes.due(now);
    if (!market.bidders || !host.era) return market.takeActions();
    const session = host.session(now);
    if (session && market.takesPart) this.#claimWhatFits(session, now);
    if (now >= this.#keepAt) this.#keep(now);
    market.wakes.sooner("keep", this.#keepAt);
    return market.takeActions();
  }

  wakeAt(): number {
    return this.market.wakes.next() ?? Infinity;
  }

  reported(
    action: AuctionAction & { kind: "commit" },
    report: CommitReport,
    _trouble: unknown,
    now: number,
  ): void {
    const { market } = this;
    if (action.purpose === "footprint") this.#told.delete(action.subject);
    if (action.purpose !== "claim") return;
    const claim = this.#claims.get(action.subject);
    if (report === "committed") market.counters.claims_won++;
    else if (report === "conflict") market.counters.claims_lost++;
    if (!claim) return;
    claim.busy = false;
    // A refused one cannot land any more; one that may have got lost can.
    if (report === "conflict") claim.sent = false;
    claim.at = now + market.host.pause(claim.tries) + market.terms.claimJitterMs * market.host.random();
  }

  #claimWhatFits(session: HeldSession, now: number): void {
    const { market } = this;
    const { lots, terms, host, wakes } = market;
    let free = market.freeBytes();
    let unfinished = 0;
    for (const local of host.locals())
      if (local.id.service === market.service && local.hold && local.data !== "prepared") unfinished++;
    for (const [replica, { sent }] of this.#claims) {
      const lot = sent ? lots.get(replica) : undefined;
      if (!lot) continue;
      free -= market.sizeOf(lot);
      unfinished++;
    }
    for (const lot of lots.ordered()) {
      let claim = this.#claims.get(lot.replica);
      if (!claim) {
        const at = Math.max(now, lot.at) + terms.claimJitterMs * host.random();
        this.#claims.set(lot.replica, (claim = { at, busy: false, tries: 0, sent: false }));
      }
      const at = Math.max(claim.at, lot.at);
      if (claim.busy || lot.holder === host.self.node) continue;
      if (now < at) {
        wakes.sooner("claim", at);
        continue;
      }
      if (!claim.sent && (unfinished >= terms.claimsMax || market.refusal(lot, free, now) !== undefined)) {
        wakes.sooner("claim", now + LOOK_AGAIN_MS);
        continue;
      }
      if (!claim.sent) {
        free -= market.sizeOf(lot);
        unfinished++;
      }
      this.#claim(lot, claim, session, now);
    }
  }

  #claim(lot: Lot, claim: Claim, session: HeldSession, now: number): void {
    const { market, commits } = this;
    const { host } = market;
    const { node, boot, address } = host.self;
    claim.busy = true;
    claim.sent = true;
    claim.tries++;
    market.counters.claims_placed++;
    const facts = host.facts.replica(lot.replica, now);
    if (lot.tenure !== 0) {
      const reason = `claimed the succession: ${lot.holder} ${lot.why === "leaving" ? "leaves" : "is to give it away"}`;
      const award = {
        v: 1,
        node,
        session: session.id,
        from: lot.holder!,
        fromSession: lot.holderSession!,
        reason,
      } as const;
      market.emit(
        "claim",
        lot.replica,
        commits.claimSuccession(lot.replica, award, facts.award?.revision ?? 0, lot.tenure, host.era!),
      );
      return;
    }
    const { trouble } = host.facts.shard(lot.shardKey, now);
    const tenure: Tenure = {
      v: 1,
      node,
      boot,
      session: session.id,
      era: host.era!.era,
      address,
      how: "grant",
      reason: "claimed it first",
      since: host.wall(),
    };
    const strike = strikeOfLoss(host.keys, facts, trouble, lot.shardKey, host.terms);
    market.claimLatency.add(now - facts.since);
    const known = market.board.rounds.get(lot.replica)?.revision ?? 0;
    const n = market.board.roundOf(lot.replica);
    const round = { v: 1, n, empties: 0, unheldAt: 0, last: `claimed by ${node}` } as const;
    market.emit(
      "claim",
      lot.replica,
      commits.claim(lot.replica, tenure, host.era!, strike, { value: round, known }),
    );
  }

  #keep(now: number): void {
    const { market, commits } = this;
    this.#keepAt = now + KEEP_MS;
    keepFootprints(market, commits, this.#told);
    tidy(market, commits, now);
    clearOffice(market, commits);
    const office = this.election.elected(market.host.session(now), now);
    if (!office) return;
    const { unclaimedMs } = market.terms;
    const waits = (lot: Lot): boolean => lot.why === "unheld" && now - lot.at > unclaimedMs;
    keepDemand(market, commits, waits, office);
  }
}
