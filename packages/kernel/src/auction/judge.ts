import { ALL_RULES, type Rules } from "../tenure/rules.ts";

/**
 * The rules of an auction, and nothing else: from the answers of one round to what becomes of it. Pure; the evaluator acts on the verdict, the bidders look at it
 * to see whether their answer is still needed, and the simulator's checker has rules of its own to compare.
 */

export interface Answer {
  readonly node: string;
  /** Of the key that carries it: the lower, the earlier. */
  readonly revision: number;
  /** When this node saw it, on its own clock. */
  readonly seenAt: number;
  /** As configured when it was given; 0 for the number of live bidders. */
  readonly maxBids: number;
}

export interface BidAnswer extends Answer {
  readonly session: string;
  readonly freeBytes: number;
  /** How many other replicas of the shard are in the bidder's zone. */
  readonly neighbours: number;
  /** How far the bidder's zone is from where the shard should be: 0 there, or when it does not matter. */
  readonly away: number;
}

export interface Auction {
  readonly bids: readonly BidAnswer[];
  readonly passes: readonly Answer[];
  /** Whose answer is waited for when no number is configured: live bidders other than the holder, silent ones left out. */
  readonly expected: ReadonlySet<string>;
  /** The number configured now, if one is. */
  readonly configured: number | undefined;
  /** Lower bids do not win: the shard was larger than that. */
  readonly minBytes: number;
  /** Bids from zones with more other replicas of the shard do not win: the replica is well where it is. */
  readonly neighboursMax: number;
  /** Bids from farther away do not win: the replica is nearer where it is. */
  readonly awayMax: number;
  /** Sessions that are known to have ended, though the copy still shows their bids. */
  readonly gone: ReadonlySet<string>;
}

export type AuctionVerdict =
  /** Nobody has bid, and not everyone has passed. */
  | { readonly kind: "resting"; readonly missing: readonly string[] }
  | {
      readonly kind: "open";
      readonly openedAt: number;
      readonly until: number;
      readonly needed: number;
      readonly answers: number;
      readonly missing: readonly string[];
    }
  | {
      readonly kind: "won";
      readonly how: "short-circuited" | "timed out";
      readonly openedAt: number;
      readonly answers: number;
      readonly needed: number;
      /** All that may win, best first; at least one. */
      readonly ranked: readonly BidAnswer[];
    }
  /** Nobody who answered can take it. */
  | { readonly kind: "empty"; readonly answers: number; readonly openedAt: number | undefined };

export function judgeAuction(
  auction: Auction,
  windowMs: number,
  now: number,
  rules: Pick<Rules, "highestBid" | "oneWinner" | "allAnswers"> = ALL_RULES,
): AuctionVerdict {
  const bids = auction.bids.filter(({ session }) => !auction.gone.has(session));
  const answered = new Set([...bids, ...auction.passes].map(({ node }) => node));
  const dead = new Set(
    auction.bids.filter(({ session }) => auction.gone.has(session)).map(({ node }) => node),
  );
  const missing = [...auction.expected].filter((node) => !answered.has(node) && !dead.has(node));
  const answers = answered.size;
  if (bids.length === 0) {
    // No bid, no window: it is empty only when everyone has said so.
    return missing.length === 0 && answers > 0
      ? { kind: "empty", answers, openedAt: undefined }
      : { kind: "resting", missing };
  }
  const openedAt = Math.min(...bids.map(({ seenAt }) => seenAt));
  const until = openedAt + windowMs;
  const needed = maxBidsInForce(bids, auction.configured, answers + missing.length);
  const early = answers >= needed || !rules.allAnswers;
  if (!early && now < until) return { kind: "open", openedAt, until, needed, answers, missing };
  const ranked = bids
    .filter(
      ({ freeBytes, neighbours, away, seenAt }) =>
        freeBytes >= auction.minBytes &&
        neighbours <= auction.neighboursMax &&
        away <= auction.awayMax &&
        seenAt <= until,
    )
    .sort(
      (a, b) =>
        a.neighbours - b.neighbours ||
        a.away - b.away ||
        (rules.highestBid ? b.freeBytes - a.freeBytes : 0) ||
        a.revision - b.revision,
    );
  if (ranked.length === 0 || !rules.oneWinner) return { kind: "empty", answers, openedAt };
  return { kind: "won", how: early ? "short-circuited" : "timed out", openedAt, answers, needed, ranked };
}

/** Fixed by the bid that opened the round: what is configured lower afterwards does not cut it short, what is configured higher is honoured. */
function maxBidsInForce(bids: readonly BidAnswer[], configured: number | undefined, live: number): number {
  const opener = bids.reduce((first, bid) => (bid.revision < first.revision ? bid : first));
  return Math.max(opener.maxBids === 0 ? live : opener.maxBids, configured ?? live);
}
