import { ALL_RULES, type Rules } from "@keelson/kernel";

/** Rules of the parts that the simulator itself plays: the resource, the store and the service. */
export interface OwnRules {
  readonly epochCheck: boolean;
  readonly fullTtl: boolean;
  readonly activateRaise: boolean;
  readonly incarnation: boolean;
}

/** A rule that can be broken, by its name on the command line. */
export interface BreakableRule {
  readonly name: string;
  readonly about: string;
}

const ABOUT: Readonly<Record<keyof Rules | keyof OwnRules, string>> = {
  selfFencing: "admission and answers check the session's deadline",
  sendTime: "the deadline counts from when the renewal was sent, not from when its reply came",
  rateFactor: "the deadline is 0.9 × TTL, so that clocks may run at different rates",
  sessionDeadline: "a deadline belongs to one session id",
  revisionGuard: "a hand-over and a re-stamp guard on the revision of the tenure they replace",
  createIfAbsent: "a grant creates if absent and never overwrites",
  successorSession: "a hand-over fails when the successor's session has ended",
  stopBeforeCommit: "the holder stops admitting before it sends the hand-over",
  reStamp: "after an unknown hand-over a node admits again only under a re-stamped epoch",
  adoption: "a tenure that bears our session is adopted, however it came to be",
  adoptOnce: "one epoch is activated at most once per process",
  ownerRevokes: "only its owner revokes a liveness session",
  era: "a new incarnation begins a new era",
  eraWait: "a closed era opens only after one maximum TTL",
  eraRevoke: "sessions of older eras are revoked by their owners",
  eraUnique: "an era's number is never used twice",
  eraGuard: "whatever writes a tenure or a primary guards on the record of the open era",
  viewGuard: "views are guarded on the keys of the members they add and remove",
  lowerRanks: "lower ranks may grant after a step each",
  leavingFinal: "leaving is final for the process",
  drainWait: "a holder waits for requests in flight before it hands over",
  primaryGuard: "a promotion guards on its own tenure, and a hand-over on the primary",
  bidRounds:
    "a bid, and whatever takes one back, guards on the rounds of the bid before and on its first lot",
  closeBids: "a round's close guards on every bid that it considered",
  closeRound: "a round's close guards on the round",
  fitTogether: "all lots of a bid fit into its memory together",
  spentOnce: "what a bid has won of its lots is not offered for the others",
  highestBid: "the highest bid wins",
  oneWinner: "a round that has a bid which can take the lot has a winner",
  allAnswers: "a round waits for everybody's answer, or for its window",
  epochCheck: "a resource refuses a lower epoch than it has seen",
  fullTtl: "a restarted store gives every session a full TTL",
  activateRaise: "activate raises the epoch at the resource before it reads",
  incarnation: "a store refuses a commit that was made for another incarnation of it",
};

const OWN: OwnRules = { epochCheck: true, fullTtl: true, activateRaise: true, incarnation: true };

/** Other names for the same rule. */
const ALIASES: Readonly<Record<string, string>> = { guard: "revision-guard" };

export const BREAKABLE: readonly BreakableRule[] = [...Object.keys(ALL_RULES), ...Object.keys(OWN)].map(
  (key) => ({
    name: kebab(key),
    about: ABOUT[key as keyof typeof ABOUT],
  }),
);

/** Where a broken rule shows sooner than in `small-hunt`: most need a fault or two of many kinds, these the same few over and over. */
const HUNTS: Readonly<Record<string, string>> = {
  "primary-guard": "replicas-hunt",
  "session-deadline": "sessions-hunt",
  "lower-ranks": "losses-hunt",
  era: "eras-hunt",
  "era-wait": "eras-hunt",
  "era-revoke": "eras-hunt",
  "era-unique": "eras-hunt",
  "era-guard": "silent-hunt",
  incarnation: "eras-hunt",
  "bid-rounds": "bids-hunt",
  "close-bids": "bids-hunt",
  "close-round": "bids-hunt",
  "fit-together": "bids-hunt",
  "spent-once": "bids-hunt",
  "highest-bid": "bids-hunt",
  "one-winner": "bids-hunt",
  "all-answers": "bids-hunt",
};

/** The scenario in which a broken rule shows soonest. */
export function huntFor(name: string): string {
  return HUNTS[name] ?? "small-hunt";
}

/** All rules, without the one named; undefined when there is no such rule. */
export function rulesWithout(
  name: string | undefined,
): { readonly rules: Rules; readonly own: OwnRules } | undefined {
  if (name === undefined) return { rules: ALL_RULES, own: OWN };
  const wanted = ALIASES[name] ?? name;
  const key = [...Object.keys(ALL_RULES), ...Object.keys(OWN)].find((each) => kebab(each) === wanted);
  if (key === undefined) return undefined;
  if (key in OWN) return { rules: ALL_RULES, own: { ...OWN, [key]: false } };
  return { rules: { ...ALL_RULES, [key]: false }, own: OWN };
}

function kebab(camel: string): string {
  return camel.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
