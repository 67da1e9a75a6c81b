import type { ReplicaKey } from "../identity/keys.ts";
import type { HeldSession } from "../membership/session-machine.ts";
import type { AuctionMachine } from "./auction-machine.ts";
import type { Seen } from "./board.ts";
import { formatBytes } from "./bytes.ts";
import type { KnownRound } from "./commits.ts";
import type { Lot, Lots } from "./lots.ts";
import { compareLots } from "./order.ts";
import type { Bid, Bidder, BidLot } from "./records.ts";

/**
 * Lots that one bid is for, at most. The more there are, the fewer times bidders and evaluator wait for each other when a node is lost that held many; and the longer each of them takes, because all are
 * answered, decided and written together. With 32, on a busy machine and etcd, 2 to 10 of 100 auctions with two replicas took longer than a second, with 12 up to one, with 8 none.
 */
const LOTS_MAX = 8;
/**
 * Lots that are looked at beyond the first that is chosen. No more than fit into a bid: all nodes go through lots in one order, so their bids are on the same ones. With four times as many, nodes
 * that hold some of the replicas already chose others, and half of all auctions waited for an answer for more than a second.
 */
const FURTHER_MAX = LOTS_MAX - 1;

/**
 * This node's seat and its one outstanding bid: takes a seat, bids on the first lots in order that it can take together, and takes the bid back when it can no longer
 * keep it. A bid whose rounds are over needs no taking back; the next one is written over it.
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
    if (market.takesPart) register(machine, session, own, ours);
    return;
  }
  const standing = market.standing(own.value.bid);
  if (standing.length > 0) {
    const refused = refusalOf(machine, standing, freeBytes, now);
    if (refused) withdraw(machine, session, own, standing, refused);
    return;
  }
  if (!market.takesPart) return;
  const lots = choose(machine, freeBytes, now);
  if (lots.length > 0) place(machine, session, own, lots, freeBytes);
}

interface Refused {
  readonly replica: ReplicaKey;
  readonly why: string;
}

/** The first of the lots that this node will not take any more, or not beside those before it. */
function refusalOf(
  { market }: AuctionMachine,
  standing: readonly BidLot[],
  freeBytes: number,
  now: number,
): Refused | undefined {
  let left = freeBytes;
  for (const { replica } of standing) {
    const lot = market.lots.get(replica)!;
    // It would keep this node from all others as long as it waits.
    const waits = lot.at > now + market.terms.elsewhereMs;
    const why = waits ? "nobody may take it for a while" : market.refusal(lot, left, now);
    if (why !== undefined) return { replica, why };
    if (market.host.rules.fitTogether) left -= market.sizeOf(lot);
  }
  return undefined;
}

function choose(machine: AuctionMachine, freeBytes: number, now: number): Lot[] {
  const { market, seat } = machine;
  const { lots, host } = market;
  const { nothing, fresh } = seat;
  // With no more memory than when nothing fitted, nothing fits that has not changed since.
  const known = nothing && freeBytes <= nothing.freeBytes && now < nothing.until ? nothing : undefined;
  let until = known?.until ?? Infinity;
  const chosen: Lot[] = [];
  let left = freeBytes;
  let further = 0;
  for (const lot of known ? inOrder(lots, fresh) : lots.ordered()) {
    if (chosen.length > 0 && ++further > FURTHER_MAX) break;
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
    if (chosen.length > 0 && isApart(machine, lot, chosen, now)) continue;
    // It would fit without those before it, and may yet: what comes after it waits with it.
    const size = market.sizeOf(lot);
    if (size > left) break;
    chosen.push(lot);
    if (host.rules.fitTogether) left -= size;
    if (chosen.length >= LOTS_MAX || hasTrouble(machine, lot, now)) break;
  }
  if (chosen.length > 0) return chosen;
  // Isolation, and what the host machine is about to do, change without notice: look again before long.
  until = Math.min(until, now + Math.max(LOOK_AGAIN_MS, lots.size * LOOK_AGAIN_MS_PER_LOT));
  seat.nothing = { freeBytes, until };
  fresh.clear();
  if (lots.size > 0) market.wakes.sooner("seat", until);
  return [];
}

/** Not to be won together with those: a shard that lost its holders is watched alone, and a node has one replica of a shard. */
function isApart(machine: AuctionMachine, lot: Lot, chosen: readonly Lot[], now: number): boolean {
  return hasTrouble(machine, lot, now) || chosen.some(({ shardKey }) => shardKey === lot.shardKey);
}

function hasTrouble({ market }: AuctionMachine, lot: Lot, now: number): boolean {
  return market.host.facts.shard(lot.shardKey, now).trouble !== undefined;
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
  lots: readonly Lot[],
  freeBytes: number,
): void {
  const { market, commits } = machine;
  const { board } = market;
  const placed: Bid = {
    freeBytes: Math.floor(freeBytes),
    lots: lots.map((lot) => ({
      replica: lot.replica,
      round: board.roundOf(lot.replica),
      tenure: lot.tenure,
      maxBids: market.configuredMaxBids(lot) ?? 0,
      bytes: market.sizeOf(lot),
    })),
  };
  const replicas = new Set([lots[0]!, ...notEnded(machine, own)].map(({ replica }) => replica));
  const rounds = knownRounds(machine, replicas);
  machine.seat.busy = true;
  market.emit("bid", lots[0]!.replica, commits.bid(bidder(machine, session, placed), own.revision, rounds));
}

function withdraw(
  machine: AuctionMachine,
  session: HeldSession,
  own: Seen<Bidder>,
  standing: readonly BidLot[],
  { replica, why }: Refused,
): void {
  const { market, seat, commits } = machine;
  seat.busy = true;
  const free = formatBytes(own.value.bid?.freeBytes ?? 0);
  market.decide("refused", replica, `takes back its bid of ${free}: ${why}`);
  const rounds = knownRounds(machine, new Set(standing.map((lot) => lot.replica)));
  market.emit("withdraw", replica, commits.seat(bidder(machine, session, undefined), own.revision, rounds));
}

function knownRounds({ market }: AuctionMachine, replicas: ReadonlySet<ReplicaKey>): KnownRound[] {
  return [...replicas].map((replica) => ({
    replica,
    revision: market.board.rounds.get(replica)?.revision ?? 0,
  }));
}

/** Takes a seat, or the same one with another budget. */
function register(
  machine: AuctionMachine,
  session: HeldSession,
  own: Seen<Bidder> | undefined,
  ours: boolean,
): void {
  const { market, seat, commits } = machine;
  const value = bidder(machine, session, undefined);
  const unsure = own && ours ? notEnded(machine, own) : [];
  const rounds = knownRounds(machine, new Set(unsure.map(({ replica }) => replica)));
  seat.busy = true;
  const unread = market.board.unread.get(`bidder/${value.node}`);
  market.emit("register", value.node, commits.seat(value, own?.revision ?? unread ?? 0, rounds));
}

/** What the last bid was on and was not seen to end. What is no lot any more, as far as is known here, may have been won all the same. */
function notEnded({ market }: AuctionMachine, { value }: Seen<Bidder>): BidLot[] {
  return (value.bid?.lots ?? []).filter(({ replica, round }) => market.board.roundOf(replica) === round);
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
