import type { AuctionPart } from "../identity/keys.ts";
import type { Known } from "../lifecycle/facts.ts";
import type { Seen } from "./board.ts";
import type { Market } from "./market.ts";
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
  }
}
