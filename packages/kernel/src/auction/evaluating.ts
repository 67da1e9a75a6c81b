import { replicaKey, type ReplicaKey } from "../identity/keys.ts";
import { strikeOfLoss } from "../lifecycle/trouble.ts";
import type { Guard } from "../store/contract.ts";
import type { OpenEra } from "../tenure/era-machine.ts";
import type { Tenure } from "../tenure/tenure.ts";
import type { AuctionMachine } from "./auction-machine.ts";
import { formatBytes } from "./bytes.ts";
import type { Close } from "./commits.ts";
import { judgeAuction, type Auction, type BidAnswer, type AuctionVerdict } from "./judge.ts";
import type { Lot } from "./lots.ts";
import type { Award } from "./records.ts";

/** What the evaluator keeps about a round that it is closing, or failed to close. */
export interface Closing {
  readonly round: number;
  busy: boolean;
  tries: number;
  retryAt: number;
  /** Sessions that a failed close showed to have ended. */
  readonly gone: Set<string>;
  /** What the commit that is out means, for when it is reported. */
  how: "won" | "empty" | undefined;
  /** The session that the commit gives it to. */
  readonly winner: string | undefined;
  openedAt: number | undefined;
  /** Since when nobody has held it; undefined when it is held. */
  readonly unheldSince: number | undefined;
  early: boolean;
}

/** The answers of the lot's present round, as this node knows them. One that is older than the lot is as if it had been given when that came up: others must have their time to answer too. */
export function auctionOf(machine: AuctionMachine, lot: Lot): Auction {
  const { market, silent } = machine;
  const { board, bidders } = market;
  const bids: BidAnswer[] = [];
  for (const [node, on] of board.bidsOn(lot.replica)) {
    const { value, revision, seenAt: firstSeenAt } = board.bidders.get(node)!;
    if (!value.bid || !bidders?.has(node) || !market.isCurrent(on)) continue;
    const { freeBytes } = value.bid;
    const { maxBids } = on;
    const neighbours = market.neighbours(lot, node);
    const away = market.away(lot, node);
    const seenAt = Math.max(firstSeenAt, lot.upAt);
    bids.push({ node, revision, seenAt, session: value.session, freeBytes, maxBids, neighbours, away });
  }
  const passes = [...board.passesOn(lot.replica)]
    .filter(([node, { value }]) => bidders?.has(node) && market.isCurrent({ ...value, replica: lot.replica }))
    .map(([node, { value, revision, seenAt }]) => ({
      node,
      revision,
      seenAt: Math.max(seenAt, lot.upAt),
      maxBids: value.maxBids,
    }));
  const expected = new Set<string>();
  for (const node of bidders ?? []) if (node !== lot.holder && !silent.has(node)) expected.add(node);
  return {
    bids,
    passes,
    expected,
    configured: market.configuredMaxBids(lot),
    // What is to be moved for memory's sake is not to share a zone for it.
    neighboursMax: lot.why === "move" ? market.neighbours(lot, lot.holder!) : Infinity,
    awayMax: lot.why === "move" ? market.away(lot, lot.holder!) : Infinity,
    minBytes: board.footprints.get(lot.shardKey)?.value.bytes ?? 0,
    gone: machine.closings.get(lot.replica)?.gone ?? NONE,
  };
}

/** Judges one lot, as the evaluator, and closes its round when it is due. */
export function evaluate(machine: AuctionMachine, replica: ReplicaKey, office: Guard, now: number): void {
  const { market, closings } = machine;
  const { counters, terms, host, wakes } = market;
  const lot = market.lots.get(replica);
  const round = market.board.roundOf(replica);
  // The copy may show what a commit did before its outcome is reported.
  if (closings.get(replica)?.busy) return;
  if (closings.get(replica)?.round !== round || !lot) closings.delete(replica);
  if (!lot || !host.era) return;
  // Others may have seen it unheld before we did.
  if (now < lot.at && !isBidOnSinceStrike(machine, lot, now)) return wakes.sooner(`judge ${replica}`, lot.at);
  const closing = closings.get(replica);
  if (closing && now < closing.retryAt) return wakes.sooner(`judge ${replica}`, closing.retryAt);
  const auction = auctionOf(machine, lot);
  if (auction.bids.length === 0 && auction.passes.length === 0) return;
  counters.auction_evaluations++;
  machine.noteStarted(lot, round, auction);
  let verdict = judgeAuction(auction, terms.windowMs, now, host.rules);
  if (verdict.kind === "won") {
    // Where the others of the shard are is known when their rounds have ended.
    if (isClosingAnother(machine, lot)) return;
    verdict = judgeAuction(lessWon(machine, lot, auction), terms.windowMs, now, host.rules);
  }
  switch (verdict.kind) {
    case "resting":
    case "open": {
      const answers = [...auction.bids, ...auction.passes];
      const waitsSince =
        verdict.kind === "open" ? verdict.openedAt : Math.min(...answers.map(({ seenAt }) => seenAt));
      if (machine.fallSilent(verdict.missing, waitsSince, now))
        return evaluate(machine, replica, office, now);
      const until = verdict.kind === "open" ? verdict.until : Infinity;
      wakes.sooner(`judge ${replica}`, Math.min(until, nextSilence(machine, verdict.missing, waitsSince)));
      return;
    }
    case "won":
    case "empty":
      if (!machine.limiter.take(now)) {
        counters.auction_evaluations_deferred++;
        wakes.sooner(`judge ${replica}`, machine.limiter.nextAt(now));
        return;
      }
      close(machine, lot, auction, verdict, office, host.era, now);
  }
}

/** Whoever bids on a shard with strikes has waited as these impose. An evaluator that has heard of them later would let it sit on its one bid until it has waited too: for minutes, when the shard was quarantined. */
function isBidOnSinceStrike({ market }: AuctionMachine, lot: Lot, now: number): boolean {
  const { trouble } = market.host.facts.shard(lot.shardKey, now);
  if (!trouble) return false;
  for (const node of market.board.bidsOn(lot.replica).keys())
    if (market.board.bidders.get(node)!.revision > trouble.revision) return true;
  return false;
}

/**
 * A bid is for several lots, and its memory is there once: what it has been given, or is being given, is no longer free. What one of them takes may have been found to be more than the bidder
 * knew; together they need not fit then.
 */
function lessWon(machine: AuctionMachine, lot: Lot, auction: Auction): Auction {
  const { board, host } = machine.market;
  if (!host.rules.spentOnce) return auction;
  const bids = auction.bids.map((bid) => {
    let { freeBytes } = bid;
    for (const { replica, bytes } of board.bidders.get(bid.node)?.value.bid?.lots ?? []) {
      if (replica === lot.replica) continue;
      const closing = machine.closings.get(replica);
      const { tenure, award } = host.facts.known(replica) ?? {};
      const target = award?.value.fromSession === tenure?.value.session ? award?.value.session : undefined;
      const won = tenure?.value.session === bid.session || target === bid.session;
      if (won || (closing?.busy === true && closing.winner === bid.session))
        freeBytes -= Math.max(
          bytes,
          board.footprints.get(replica.slice(0, replica.lastIndexOf("/")))?.value.bytes ?? 0,
        );
    }
    return { ...bid, freeBytes };
  });
  return { ...auction, bids };
}

function isClosingAnother({ market, closings }: AuctionMachine, lot: Lot): boolean {
  for (let r = 0; r < market.replicasPerShard; r++) {
    const replica = replicaKey(market.service, lot.shard, r);
    if (replica !== lot.replica && closings.get(replica)?.busy === true) return true;
  }
  return false;
}

function nextSilence(machine: AuctionMachine, missing: readonly string[], waitsSince: number): number {
  const { board, terms } = machine.market;
  let at = Infinity;
  for (const node of missing)
    at = Math.min(at, Math.max(waitsSince, board.answeredAt(node)) + terms.silentMs);
  return at;
}

function close(
  machine: AuctionMachine,
  lot: Lot,
  auction: Auction,
  verdict: AuctionVerdict & { kind: "won" | "empty" },
  office: Guard,
  era: OpenEra,
  now: number,
): void {
  const { market, commits, closings } = machine;
  const { board } = market;
  const known = board.rounds.get(lot.replica);
  const n = board.roundOf(lot.replica);
  const before = closings.get(lot.replica);
  const won = verdict.kind === "won";
  const winner = won ? board.bidders.get(verdict.ranked[0]!.node)!.value : undefined;
  const closing: Closing = {
    round: n,
    busy: true,
    tries: (before?.tries ?? 0) + 1,
    retryAt: now,
    gone: before?.gone ?? new Set(),
    how: verdict.kind,
    winner: winner?.session,
    openedAt: verdict.openedAt,
    unheldSince: lot.tenure === 0 ? market.host.facts.replica(lot.replica, now).since : undefined,
    early: verdict.kind === "won" && verdict.how === "short-circuited",
  };
  closings.set(lot.replica, closing);
  const last = won
    ? reasonOf(lot, n, verdict, auction)
    : `round ${n}: nobody of ${verdict.answers} can take it (${passReasons(machine, lot)})`;
  const shared: Close = {
    replica: lot.replica,
    round: {
      v: 1,
      n,
      empties: won ? 0 : (known?.value.empties ?? 0) + 1,
      unheldAt: won ? 0 : lot.since,
      last,
    },
    known: known?.revision ?? 0,
    office,
    era,
    bids: won ? verdict.ranked : [],
    passes: [...board.passesOn(lot.replica).keys()],
    move: board.moves.has(lot.replica),
  };
  if (!winner) {
    market.emit("close", lot.replica, commits.empty(shared));
    return;
  }
  if (lot.tenure === 0) {
    const facts = market.host.facts.replica(lot.replica, now);
    const { trouble } = market.host.facts.shard(lot.shardKey, now);
    const strike = strikeOfLoss(market.host.keys, facts, trouble, lot.shardKey, market.host.terms);
    const tenure: Tenure = {
      v: 1,
      node: winner.node,
      boot: winner.boot,
      session: winner.session,
      era: era.era,
      address: winner.address,
      how: "grant",
      reason: last,
      since: market.host.wall(),
    };
    market.emit("close", lot.replica, commits.grant(shared, tenure, strike));
    return;
  }
  const award: Award = {
    v: 1,
    node: winner.node,
    session: winner.session,
    from: lot.holder!,
    fromSession: lot.holderSession!,
    reason: last,
  };
  const stale = market.host.facts.replica(lot.replica, now).award?.revision ?? 0;
  market.emit("close", lot.replica, commits.award(shared, award, stale, lot.tenure));
}

/** Why the first few bidders passed. */
function passReasons({ market }: AuctionMachine, lot: Lot): string {
  const passes = [...market.board.passesOn(lot.replica)]
    .filter(([, { value }]) => market.isCurrent({ ...value, replica: lot.replica }))
    .map(([node, { value }]) => `${node}: ${value.reason}`);
  const shown = passes.sort().slice(0, PASSES_SHOWN);
  return [...shown, ...(passes.length > shown.length ? ["…"] : [])].join("; ") || "its bids were too low";
}

const PASSES_SHOWN = 3;

function reasonOf(
  lot: Lot,
  round: number,
  verdict: AuctionVerdict & { kind: "won" },
  auction: Auction,
): string {
  const [winner, second] = verdict.ranked;
  const most =
    second === undefined
      ? "the only bid"
      : second.neighbours > winner!.neighbours &&
          verdict.ranked.some((bid) => bid.freeBytes > winner!.freeBytes)
        ? `the highest of ${verdict.ranked.length} bids from a zone with fewest replicas of it`
        : second.freeBytes === winner!.freeBytes
          ? `the earliest of the highest of ${verdict.ranked.length} bids`
          : `the highest of ${verdict.ranked.length} bids`;
  const why = lot.why === "unheld" ? "" : lot.why === "leaving" ? `, ${lot.holder} leaves` : ", to be moved";
  return `won round ${round} with ${formatBytes(winner!.freeBytes)} free, ${most} (${auction.passes.length} passes, ${verdict.how}${why})`;
}

const NONE: ReadonlySet<string> = new Set();
