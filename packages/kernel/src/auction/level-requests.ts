import type { Guard } from "../store/contract.ts";
import { parseReplicaKey, replicaKey, shardKey, type ReplicaKey } from "../identity/keys.ts";
import type { AuctionMachine } from "./auction-machine.ts";
import { formatBytes } from "./bytes.ts";
import { levellingMove, relievingMove, type Load, type Movable } from "./levelling.ts";

/** A move that nobody took is not asked for again for so long. */
const REFUSED_MS = 60_000;

/** As the evaluator: asks for the moves that relieve nodes, spread shards over zones, bring them near, and level memory, a few at a time, while nothing waits for a first holder. */
export function levelMemory(machine: AuctionMachine, office: Guard, now: number): void {
  const { market, asked } = machine;
  const { host, board, lots, terms, bidders } = market;
  if (terms.levelAt === 0 || !bidders) return;
  for (const lot of lots.ordered()) {
    if (lot.why !== "unheld") break;
    // What has found no room is not waited for: levelling may even make some.
    if (
      (board.rounds.get(lot.replica)?.value.empties ?? 0) === 0 &&
      now >= lot.at &&
      machine.front.has(lot.replica)
    )
      return;
  }
  for (const [replica, until] of asked) if (now >= until) asked.delete(replica);
  const used = new Map<string, number>();
  const add = (node: string, bytes: number): void => void used.set(node, (used.get(node) ?? 0) + bytes);
  const movable: Movable[] = [];
  let underWay = 0;
  for (const replica of market.replicas) {
    const facts = host.facts.known(replica);
    const tenure = facts?.tenure;
    if (!tenure) continue;
    const bytes = machine.bytesOf(replica);
    const award = facts.award?.value;
    const target = award?.fromSession === tenure.value.session ? award.node : undefined;
    add(target ?? tenure.value.node, bytes);
    // Until the hand-over is done both have it.
    if (target !== undefined) underWay++;
    else if (board.moves.get(replica)?.value.fromSession === tenure.value.session) underWay++;
    else if (!asked.has(replica) && facts.contenders.size === 0)
      movable.push({ replica, node: tenure.value.node, bytes });
  }
  if (underWay >= terms.levelMovesMax) return;
  const loads: Load[] = [];
  for (const node of bidders) {
    const bidder = board.bidders.get(node)?.value;
    if (bidder) loads.push({ node, budgetBytes: bidder.budgetBytes, usedBytes: used.get(node) ?? 0 });
  }
  const relief = relievingMove(loads, movable, (node, replica) => hasAnother(machine, node, replica));
  if (relief) {
    const reason = `${relief.node} needs more memory than it has for its shards; moves ${formatBytes(relief.bytes)}`;
    return request(machine, relief, reason, office, now);
  }
  const spread = spreadingMove(machine, loads, movable);
  if (spread) {
    const zone = market.zones.get(spread.node) ?? "";
    request(machine, spread, `spreads replicas: zone ${zone} has another of the shard`, office, now);
    return;
  }
  const near = nearingMove(machine, loads, movable);
  if (near)
    return request(machine, near, "a node in a zone that it should rather be in has room", office, now);
  // What is to be in certain zones is not moved for memory's sake: who would take it is seldom there.
  const free = movable.filter(({ replica }) => !hasZones(machine, replica));
  const move = levellingMove(loads, free, terms.levelAt);
  if (!move) return;
  const reason = `levels memory: ${move.node} is the fullest; moves ${formatBytes(move.bytes)}`;
  request(machine, move, reason, office, now);
}

/** Who has one replica of a shard, or is about to, takes no other. */
function hasAnother({ market }: AuctionMachine, node: string, replica: ReplicaKey): boolean {
  const { service, shard } = parseReplicaKey(replica);
  for (let r = 0; r < market.replicasPerShard; r++) {
    const other = replicaKey(service, shard, r);
    if (other === replica) continue;
    const { tenure, award } = market.host.facts.known(other) ?? {};
    if (tenure?.value.node === node) return true;
    if (award?.value.node === node && award.value.fromSession === tenure?.value.session) return true;
  }
  return false;
}

/** A replica that shares its zone with another of its shard, although a node in a zone with fewer has room for it. */
function spreadingMove(
  { market }: AuctionMachine,
  loads: readonly Load[],
  movable: readonly Movable[],
): Movable | undefined {
  if (market.replicasPerShard === 1 || new Set(market.zones.values()).size < 2) return undefined;
  return movable.find(({ replica, node, bytes }) => {
    const lot = { replica, shard: parseReplicaKey(replica).shard };
    const here = market.neighbours(lot, node);
    return (
      here > 0 &&
      loads.some(
        (load) => load.budgetBytes - load.usedBytes >= bytes && market.neighbours(lot, load.node) < here,
      )
    );
  });
}

function hasZones({ market }: AuctionMachine, replica: ReplicaKey): boolean {
  return (market.board.overrides.get(shardOf(replica))?.value.zones?.length ?? 0) > 0;
}

/** A replica that is farther from where it should be than a node that has room for it, and shares no more zones there. */
function nearingMove(
  { market }: AuctionMachine,
  loads: readonly Load[],
  movable: readonly Movable[],
): Movable | undefined {
  return movable.find(({ replica, node, bytes }) => {
    const key = shardOf(replica);
    const away = market.away({ shardKey: key }, node);
    if (away === 0) return false;
    const lot = { replica, shard: parseReplicaKey(replica).shard };
    return loads.some(
      (load) =>
        load.budgetBytes - load.usedBytes >= bytes &&
        market.away({ shardKey: key }, load.node) < away &&
        market.neighbours(lot, load.node) <= market.neighbours(lot, node),
    );
  });
}

function shardOf(replica: ReplicaKey): string {
  const { service, shard } = parseReplicaKey(replica);
  return shardKey(service, shard);
}

function request(machine: AuctionMachine, move: Movable, reason: string, office: Guard, now: number): void {
  const { market, commits, asked } = machine;
  const tenure = market.host.facts.replica(move.replica, now).tenure!;
  asked.set(move.replica, now + REFUSED_MS);
  market.decide("move", move.replica, reason);
  const value = { v: 1, fromSession: tenure.value.session, by: market.host.self.node, reason } as const;
  const known = market.board.moves.get(move.replica)?.revision ?? 0;
  market.emit("move", move.replica, commits.requestMove(move.replica, value, known, tenure.revision, office));
}

/** Requests whose replica has another holder by now, for removal. */
export function* voidMoves(machine: AuctionMachine): Iterable<{ replica: ReplicaKey; revision: number }> {
  const { board, host } = machine.market;
  for (const [replica, { value, revision }] of board.moves)
    if (host.facts.known(replica)?.tenure?.value.session !== value.fromSession) yield { replica, revision };
}
