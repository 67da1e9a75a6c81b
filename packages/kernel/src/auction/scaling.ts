import type { Keys } from "../identity/keys.ts";
import type { Known } from "../lifecycle/facts.ts";
import type { Commit } from "../store/contract.ts";
import type { AuctionConfig } from "./records.ts";

/**
 * `maxBids` at run time. Nothing here is needed while live bidders are counted, which is the default; a number that is configured must follow the size of the fleet: raised before nodes join, so
 * that the rounds of that time wait for them, and lowered after others have drained, so that none waits for those who are gone.
 */

/** Sets the number for a whole service, or with undefined goes back to counting live bidders. */
export function setMaxBids(
  keys: Keys,
  service: string,
  known: Known<AuctionConfig> | undefined,
  maxBids: number | undefined,
): Commit {
  const key = keys.auction(service, "config");
  const { maxBids: _former, ...rest } = known?.value ?? { v: 1 as const };
  const value: AuctionConfig = maxBids === undefined ? rest : { ...rest, maxBids };
  return {
    guards: [{ key, revision: known?.revision ?? 0 }],
    writes: [{ kind: "put", key, value: JSON.stringify(value) }],
  };
}

/** To be committed before so many nodes are started. Undefined when no number is configured: they will be counted when they are there. */
export function raiseBeforeJoin(
  keys: Keys,
  service: string,
  known: Known<AuctionConfig> | undefined,
  joining: number,
): Commit | undefined {
  const maxBids = known?.value.maxBids;
  return maxBids === undefined ? undefined : setMaxBids(keys, service, known, maxBids + joining);
}

/** To be committed after so many nodes have drained and gone. */
export function lowerAfterDrain(
  keys: Keys,
  service: string,
  known: Known<AuctionConfig> | undefined,
  gone: number,
): Commit | undefined {
  const maxBids = known?.value.maxBids;
  if (maxBids === undefined) return undefined;
  return setMaxBids(keys, service, known, Math.max(1, maxBids - gone));
}

/** The variable of the seed, and what it says. Undefined when it is not set; a sentence in `problem` when it is not a number. */
export function maxBidsFromEnvironment(environment: Readonly<Record<string, string | undefined>>): {
  readonly maxBids?: number;
  readonly problem?: string;
} {
  const text = environment["ZOEKT_MAX_BIDS"];
  if (text === undefined || text.trim() === "") return {};
  const maxBids = Number(text);
  if (Number.isSafeInteger(maxBids) && maxBids >= 1) return { maxBids };
  return { problem: `ZOEKT_MAX_BIDS is ${JSON.stringify(text)}: make it a whole number from 1, or unset it` };
}

/** True when a configured number has little to do with the fleet: rounds then wait for nobody, or close before most have answered. */
export function maxBidsDiverges(configured: number | undefined, liveBidders: number): boolean {
  if (configured === undefined || liveBidders === 0) return false;
  return configured > 1.5 * liveBidders || configured < 0.5 * liveBidders;
}
