import { formatBytes } from "../auction/bytes.ts";
import { readRecordText, type AuctionRecords } from "../auction/reading.ts";
import type { Keys, ReplicaKey } from "../identity/keys.ts";
import type { Entry } from "../store/contract.ts";
import type { Tenure } from "../tenure/tenure.ts";

/** What the store says of the auctions of one replica: who has bid what and who has passed, why, in the round that is open; how the last one ended; who was awarded it. */
export interface AuctionExplanation {
  /** The round in which answers count now. */
  readonly round: number;
  /** The highest first. */
  readonly bids: readonly { readonly node: string; readonly freeBytes: number }[];
  readonly passes: readonly { readonly node: string; readonly reason: string }[];
  /** Rounds in a row in which nobody had room. */
  readonly empties: number;
  readonly last?: string;
  readonly award?: { readonly node: string; readonly reason: string };
  readonly move?: { readonly by: string; readonly reason: string };
}

export interface AuctionSources {
  readonly keys: Keys;
  get(key: string): Entry | undefined;
  entries(): Iterable<Entry>;
}

/** Empty when the replica was never auctioned, and nobody is about to. */
export function explainAuction(
  sources: AuctionSources,
  service: string,
  replica: ReplicaKey,
  tenure: Entry | undefined,
): { readonly auction?: AuctionExplanation } {
  const { keys } = sources;
  const record = read("round", sources.get(keys.auction(service, "round", replica)));
  const round = (record?.n ?? 0) + 1;
  const held = tenure?.revision ?? 0;
  const bidders = `${keys.auction(service, "bidder")}/`;
  const passed = `${keys.auction(service, "pass", replica)}/`;
  const bids: { node: string; freeBytes: number }[] = [];
  const passes: { node: string; reason: string }[] = [];
  for (const entry of sources.entries()) {
    if (entry.key.startsWith(bidders)) {
      const bidder = read("bidder", entry);
      const bid = bidder?.bid;
      const on = bid?.lots.find((lot) => lot.replica === replica);
      if (bidder && bid && on?.round === round && on.tenure === held)
        bids.push({ node: bidder.node, freeBytes: bid.freeBytes });
    } else if (entry.key.startsWith(passed)) {
      const pass = read("pass", entry);
      if (pass?.round === round && pass.tenure === held)
        passes.push({ node: pass.node, reason: pass.reason });
    }
  }
  const session = tenure && (JSON.parse(tenure.value) as Tenure).session;
  const award = read("award", sources.get(keys.auction(service, "award", replica)));
  const move = read("move", sources.get(keys.auction(service, "move", replica)));
  if (!record && bids.length === 0 && passes.length === 0) return {};
  return {
    auction: {
      round,
      bids: bids.sort((a, b) => b.freeBytes - a.freeBytes || (a.node < b.node ? -1 : 1)),
      passes: passes.sort((a, b) => (a.node < b.node ? -1 : 1)),
      empties: record?.empties ?? 0,
      ...(record ? { last: record.last } : {}),
      ...(award && award.fromSession === session
        ? { award: { node: award.node, reason: award.reason } }
        : {}),
      ...(move && move.fromSession === session ? { move: { by: move.by, reason: move.reason } } : {}),
    },
  };
}

/** What cannot be read says nothing here either. */
function read<P extends keyof AuctionRecords>(
  part: P,
  entry: Entry | undefined,
): AuctionRecords[P] | undefined {
  return entry && readRecordText(part, entry.value).value;
}

/** For people, one line each. */
export function auctionLines({
  round,
  bids,
  passes,
  empties,
  last,
  award,
  move,
}: AuctionExplanation): string[] {
  const lines: string[] = [];
  if (last !== undefined) lines.push(`last auction: ${last}`);
  if (award) lines.push(`awarded to ${award.node}: ${award.reason}`);
  if (move) lines.push(`to be moved, says ${move.by}: ${move.reason}`);
  for (const { node, freeBytes } of bids)
    lines.push(`round ${round}: ${node} bids ${formatBytes(freeBytes)} free`);
  for (const { node, reason } of passes) lines.push(`round ${round}: ${node} passes: ${reason}`);
  if (empties > 0)
    lines.push(`nobody had room in ${empties === 1 ? "the last round" : `${empties} rounds in a row`}`);
  return lines;
}
