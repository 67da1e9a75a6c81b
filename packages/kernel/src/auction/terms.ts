import type { ServiceParameters } from "../membership/view.ts";

/** Times and limits of auctions and claims, as they stand in a view's `parameters.placement`, so that all nodes go by the same. Where the defaults come from: docs/design/auctions.md, section 11. */
export interface AuctionTerms {
  /** A round closes this long after its first bid, whoever is missing. */
  readonly windowMs: number;
  /** An unheld replica is left this long to those who have it ready. */
  readonly graceMs: number;
  /** Whoever has its bid on another lot passes after this long. */
  readonly elsewhereMs: number;
  /** Whoever lets a round wait this long is not waited for again until it answers. */
  readonly silentMs: number;
  /** After so many empty rounds in a row a lot is demanded. */
  readonly emptiesMax: number;
  /** The pause after an empty round; doubles with every further one, four times. */
  readonly emptyPauseMs: number;
  /** Rounds that one evaluator closes in a second, at most. */
  readonly evaluationsPerSecond: number;
  /** Memory is levelled when a node has this share of the mean load more than its part; 0 switches it off. */
  readonly levelAt: number;
  readonly levelEveryMs: number;
  readonly levelMovesMax: number;
  readonly claimJitterMs: number;
  /** What a node has claimed and not yet prepared, at most. */
  readonly claimsMax: number;
  /** Claims: a lot unheld this long is demanded. */
  readonly unclaimedMs: number;
}

export const AUCTION_DEFAULTS: AuctionTerms = {
  windowMs: 60_000,
  graceMs: 300,
  elsewhereMs: 100,
  silentMs: 2_000,
  emptiesMax: 5,
  emptyPauseMs: 1_000,
  evaluationsPerSecond: 200,
  levelAt: 0.05,
  levelEveryMs: 1_000,
  levelMovesMax: 4,
  claimJitterMs: 1_000,
  claimsMax: 8,
  unclaimedMs: 30_000,
};

/** Undefined when a service may declare these placement options; otherwise what is wrong, as one sentence that says what to do. */
export function auctionProblem(placement: ServiceParameters["placement"]): string | undefined {
  const names = Object.keys(AUCTION_DEFAULTS);
  for (const [name, value] of Object.entries(placement)) {
    if (!names.includes(name))
      return `placement option ${JSON.stringify(name)} is not one of auctions and claims: they know ${names.join(", ")}`;
    const least = name === "levelAt" ? 0 : 1;
    if (typeof value !== "number" || !Number.isFinite(value) || value < least)
      return `placement option ${name} is ${JSON.stringify(value)}: make it a number from ${least}`;
  }
  return undefined;
}

/** The terms of a view, with defaults for those it does not name. Throws on options that {@link auctionProblem} refuses. */
export function auctionTerms(placement: ServiceParameters["placement"]): AuctionTerms {
  const problem = auctionProblem(placement);
  if (problem !== undefined) throw new RangeError(problem);
  return { ...AUCTION_DEFAULTS, ...(placement as Partial<AuctionTerms>) };
}
