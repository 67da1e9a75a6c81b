import type { AuctionPart } from "../identity/keys.ts";
import type { Known } from "../lifecycle/facts.ts";
import type { Seen } from "./board.ts";
import type { Market } from "./market.ts";
import { NOTHING_SAID, readRecord } from "./reading.ts";
import type {
  AuctionConfig,
  Bidder,
  Demand,
  Footprint,
  MoveRequest,
  Override,
  Pass,
  Round,
} from "./records.ts";

/** What a changed key means beyond the board: which lots have other answers, and who has just answered, and how. */
export interface Fed {
  readonly replicas: Iterable<string>;
  readonly answered?: { readonly node: string; readonly how: "bid" | "pass" | "seat" };
}

const NOTHING: Fed = { replicas: [] };

/**
 * A changed key as far as it can be read. What cannot be is told of, once, and stands there as if it said nothing.
 */
export function readKnown(
  market: Market,
  part: AuctionPart,
  about: string,
  known: Known<unknown> | undefined,
): Known<unknown> | undefined {
  const { unread } = market.board;
  const name = about === "" ? part : `${part}/${about}`;
  unread.delete(name);
  if (!known) return undefined;
  const { value, problem } = readRecord(part, known.value);
  if (problem === undefined) return known;
  unread.set(name, known.revision);
  market.decide("refused", undefined, `ignores auction/${market.service}/${name}: it ${problem}`);
  const { revision } = known;
  if (value !== undefined) return { value, revision };
  return part in NOTHING_SAID
    ? { value: NOTHING_SAID[part as keyof typeof NOTHING_SAID], revision }
    : undefined;
}

/** Puts a changed key below `auction/<service>/` on the board, and marks the lots that may have come, gone or changed. */
export function feed(
  market: Market,
  part: Exclude<AuctionPart, "evaluator">,
  about: string,
  known: Known<unknown> | undefined,
  now: number,
): Fed {
  const { board, lots, service } = market;
  const key = `${service}/${about}`;
  const seen = <T>(): Seen<T> | undefined => known && { ...(known as Known<T>), seenAt: now };
  const keep = <T>(map: Map<string, Seen<T>>, name: string): void => {
    const value = seen<T>();
    if (value) map.set(name, value);
    else map.delete(name);
  };
  switch (part) {
    case "config":
      board.config = seen<AuctionConfig>();
      return { replicas: board.replicasWithBids() };
    case "override":
      keep<Override>(board.overrides, key);
      market.touchShard(key);
      return NOTHING;
    case "bidder": {
      const bidder = known as Known<Bidder> | undefined;
      const replicas = board.setBidder(about, bidder, now);
      if (!bidder) return { replicas };
      return { replicas, answered: { node: about, how: bidder.value.bid ? "bid" : "seat" } };
    }
    case "pass": {
      const slash = key.lastIndexOf("/");
      const replica = key.slice(0, slash);
      const node = key.slice(slash + 1);
      board.setPass(replica, node, known as Known<Pass> | undefined, now);
      return known ? { replicas: [replica], answered: { node, how: "pass" } } : { replicas: [replica] };
    }
    case "round":
      keep<Round>(board.rounds, key);
      market.host.facts.setRound(key, known?.revision ?? 0, now);
      lots.touch(key);
      return NOTHING;
    case "move":
      keep<MoveRequest>(board.moves, key);
      lots.touch(key);
      return NOTHING;
    case "footprint":
      keep<Footprint>(board.footprints, key);
      market.touchShard(key);
      return NOTHING;
    case "demand":
      board.demand = seen<Demand>();
      return NOTHING;
    case "award":
      // The host machine keeps it among its facts; that it changed is told apart.
      return NOTHING;
    default:
      // A part of a later version.
      return NOTHING;
  }
}
