import type { ReplicaKey } from "../identity/keys.ts";
import type { HeldSession } from "../membership/session-machine.ts";
import type { AuctionMachine } from "./auction-machine.ts";
import type { Seen } from "./board.ts";
import { formatBytes } from "./bytes.ts";
import type { Lot, Lots } from "./lots.ts";
import { compareLots } from "./order.ts";
import type { Bid, Bidder } from "./records.ts";

/**
 * This node's seat and its one outstanding bid: takes a seat, bids on the first lot in order that it can take, and takes the bid back when it can no longer
 * keep it. A bid whose round is over needs no taking back; the next one is written over it.
 */
export function bid(machine: AuctionMachine, freeBytes: number, now: number): void {
  const { market, seat } = machine;
  const { host, board } = market;
  const session = host.session(now);
  if (!session || seat.busy) return;
  if (now < seat.retryAt) return market.wakes.sooner("seat", seat.retryAt);
  const own = board.bidders.get(host.self.node);
  const ours = own?.value.session === session.id && own.value.boot === host.self.boot;
  if (!own || !ours || own.value.budgetBytes !== market.memory.budgetBytes) {
    if (market.takesPart) send(machine, "register", own?.revision ?? 0, bidder(machine, session, undefined));
    return;
  }
  const { bid: placed } = own.value;
  if (placed && market.isCurrent(placed)) {
    const lot = market.lots.get(placed.replica)!;
    const refusal = market.refusal(lot, freeBytes, now);
    if (refusal !== undefined) withdraw(machine, session, own, placed, refusal);
    return;
  }
  if (!market.takesPart) return;
  const lot = choose(machine, freeBytes, now);
  if (lot) place(machine, session, own, lot, freeBytes);
}

/** The bid of this node that still counts, if there is one. */
export function outstanding(machine: AuctionMachine): Bid | undefined {
  const { host, board } = machine.market;
  const own = board.bidders.get(host.self.node)?.value;
  if (own?.session !== host.liveness?.id) return undefined;
  return own?.bid && machine.market.isCurrent(own.bid) ? own.bid : undefined;
}

function choose(machine: AuctionMachine, freeBytes: number, now: number): Lot | undefined {
  const { market, seat } = machine;
  const { lots, host } = market;
  const { nothing, fresh } = seat;
  // With no more memory than when nothing fitted, nothing fits that has not changed since.
  const known = nothing && freeBytes <= nothing.freeBytes && now < nothing.until ? nothing : undefined;
  let until = known?.until ?? Infinity;
  for (const lot of known ? inOrder(lots, fresh) : lots.ordered()) {
    if (lot.holder === host.self.node) continue;
    if (now < lot.at) {
      until = Math.min(until, lot.at);
      continue;
    }
    // The host machine takes what is still prepared here by itself.
    const local = host.local(lot.replica);
    if (local?.data === "prepared" && host.service(local).builds) continue;
    if (local && now < local.retryAt) until = Math.min(until, local.retryAt);
    if (market.refusal(lot, freeBytes, now) !== undefined || machine.isDecided(lot, now)) continue;
    return lot;
  }
  // Isolation, and what the host machine is about to do, change without notice: look again before long.
  until = Math.min(until, now + Math.max(LOOK_AGAIN_MS, lots.size * LOOK_AGAIN_MS_PER_LOT));
  seat.nothing = { freeBytes, until };
  fresh.clear();
  if (lots.size > 0) market.wakes.sooner("seat", until);
  return undefined;
}

function inOrder(lots: Lots, replicas: ReadonlySet<ReplicaKey>): Lot[] {
  const found: Lot[] = [];
  for (const replica of replicas) {
    const lot = lots.get(replica);
    if (lot) found.push(lot);
  }
  return found.sort(compareLots);
}

function place(
  machine: AuctionMachine,
  session: HeldSession,
  own: Seen<Bidder>,
  lot: Lot,
  freeBytes: number,
): void {
  const { market } = machine;
  const { board } = market;
  const placed: Bid = {
    replica: lot.replica,
    round: board.roundOf(lot.replica),
    tenure: lot.tenure,
    freeBytes: Math.floor(freeBytes),
    maxBids: market.configuredMaxBids(lot) ?? 0,
  };
  const value = bidder(machine, session, placed);
  machine.seat.busy = true;
  market.emit(
    "bid",
    lot.replica,
    machine.commits.bid(value, own.revision, board.rounds.get(lot.replica)?.revision ?? 0),
  );
}

function withdraw(
  machine: AuctionMachine,
  session: HeldSession,
  own: Seen<Bidder>,
  placed: Bid,
  why: string,
): void {
  const { market, seat, commits } = machine;
  const { replica } = placed;
  seat.busy = true;
  market.decide("refused", replica, `takes back its bid of ${formatBytes(placed.freeBytes)}: ${why}`);
  const round = market.board.rounds.get(replica)?.revision ?? 0;
  market.emit(
    "withdraw",
    replica,
    commits.withdraw(bidder(machine, session, undefined), own.revision, replica, round),
  );
}

function send(machine: AuctionMachine, purpose: "register", known: number, value: Bidder): void {
  machine.seat.busy = true;
  machine.market.emit(purpose, value.node, machine.commits.register(value, known));
}

function bidder(machine: AuctionMachine, session: HeldSession, placed: Bid | undefined): Bidder {
  const { host, memory } = machine.market;
  const { node, boot, address } = host.self;
  return {
    v: 1,
    node,
    boot,
    session: session.id,
    address,
    budgetBytes: memory.budgetBytes,
    ...(placed ? { bid: placed } : {}),
  };
}

const LOOK_AGAIN_MS = 1_000;
/** The more lots there are, the less often all of them are looked at: it takes the same share of the time then. */
const LOOK_AGAIN_MS_PER_LOT = 0.1;
