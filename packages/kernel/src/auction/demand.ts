import type { Guard } from "../store/contract.ts";
import type { AuctionCommits } from "./commits.ts";
import { formatBytes } from "./bytes.ts";
import type { Lot } from "./lots.ts";
import type { Market } from "./market.ts";
import type { Demand } from "./records.ts";

/** So many replicas are named; all are counted. */
const NAMED_MAX = 100;

/** Keeps `demand`, the signal that autoscalers read, in step with the lots that nobody has room for. */
export function keepDemand(
  market: Market,
  commits: AuctionCommits,
  isDemanded: (lot: Lot) => boolean,
  office: Guard,
): boolean {
  const { board, lots, counters, host } = market;
  const wanted = lots.ordered().filter(isDemanded);
  counters.demanded = wanted.length;
  const known = board.demand;
  if (wanted.length === 0) {
    if (!known) return false;
    market.decide("demand", undefined, "everything that was demanded has a holder");
    market.emit("demand", market.service, commits.demand(undefined, known.revision, office));
    return true;
  }
  const bytes = wanted.reduce((sum, lot) => sum + market.sizeOf(lot), 0);
  const replicas = wanted.slice(0, NAMED_MAX).map(({ replica }) => replica);
  const told = known?.value;
  if (told?.count === wanted.length && told.bytes === bytes && String(told.replicas) === String(replicas))
    return false;
  const value: Demand = {
    v: 1,
    replicas,
    count: wanted.length,
    bytes,
    reason: `${wanted.length} replicas (${formatBytes(bytes)}) found no room: add nodes or memory`,
    since: known?.value.since ?? host.wall(),
  };
  if (!known) market.decide("demand", undefined, value.reason);
  market.emit("demand", market.service, commits.demand(value, known?.revision ?? 0, office));
  return true;
}
