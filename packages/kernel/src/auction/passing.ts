import type { ReplicaKey } from "../identity/keys.ts";
import type { AuctionMachine } from "./auction-machine.ts";
import type { Lot } from "./lots.ts";
import type { Pass } from "./records.ts";

/**
 * Says no to a lot that this node will not take, so that its round need not wait: at once when somebody has bid on it; otherwise after a pause that doubles with every
 * empty round. A node that would take it and has its bid elsewhere gives that bid a moment to be settled, and then passes too: two lots whose
 * bidders each wait for the other would both run to the end of the window. Of many lots that nobody has bid on only the {@link Front} is passed on, and what others have passed on.
 */
export function pass(machine: AuctionMachine, replica: ReplicaKey, freeBytes: number, now: number): void {
  const { market, passing } = machine;
  const { host, board } = market;
  const lot = market.lots.get(replica);
  const session = host.session(now);
  if (!lot || !session || !market.takesPart || lot.holder === host.self.node) return;
  const mine = market.outstanding();
  if (passing.has(replica) || mine.some((each) => each.replica === replica)) return;
  const given = board.passesOn(replica).get(host.self.node);
  if (given && given.value.session === session.id && market.isCurrent({ ...given.value, replica })) return;
  const local = host.local(replica);
  if (local?.data === "prepared" && host.service(local).builds && lot.tenure === 0) return;

  const refusal = market.refusal(lot, freeBytes, now);
  const bidAt = firstBidAt(machine, lot);
  if (refusal === undefined && (bidAt === undefined || mine.length === 0)) return;
  // Nobody wants it, and it is not its turn to be asked for: the front looks at it again when it is.
  if (bidAt === undefined && !machine.front.has(replica) && board.passesOn(replica).size === 0) return;
  const dueAt =
    refusal === undefined
      ? bidAt! + market.terms.elsewhereMs
      : bidAt === undefined
        ? pausedUntil(machine, lot)
        : -Infinity;
  const at = Math.max(lot.at, dueAt, machine.passRetryAt);
  if (now < at) return market.wakes.sooner(`pass ${replica}`, at);
  if (refusal === undefined) market.counters.bids_rejected_already_pending++;
  const value: Pass = {
    v: 1,
    node: host.self.node,
    session: session.id,
    round: board.roundOf(replica),
    tenure: lot.tenure,
    maxBids: market.configuredMaxBids(lot) ?? 0,
    reason: refusal ?? `its bid is on ${mine[0]!.replica}`,
  };
  passing.add(replica);
  const round = board.rounds.get(replica)?.revision ?? 0;
  market.emit("pass", replica, machine.commits.pass(replica, value, given?.revision ?? 0, round));
}

/** When the earliest bid that counts was seen. */
function firstBidAt(machine: AuctionMachine, lot: Lot): number | undefined {
  const { board } = machine.market;
  let first: number | undefined;
  for (const [node, on] of board.bidsOn(lot.replica))
    if (machine.market.isCurrent(on)) first = Math.min(first ?? Infinity, board.bidders.get(node)!.seenAt);
  return first;
}

function pausedUntil(machine: AuctionMachine, lot: Lot): number {
  const round = machine.market.board.rounds.get(lot.replica);
  const empties = round?.value.empties ?? 0;
  if (!round || empties === 0) return -Infinity;
  return round.seenAt + machine.market.terms.emptyPauseMs * 2 ** Math.min(empties - 1, DOUBLINGS_MAX);
}

const DOUBLINGS_MAX = 4;
