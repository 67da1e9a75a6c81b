/**
 * Every safety rule of the ownership protocol, and of auctions, that is a line of code rather than a guard in the store. All are always on; only the
 * simulator switches one off (`npm run sim -- --break <rule>`), to show that its checkers would notice.
 * Why each exists: docs/design/protocol.md and auctions.md. What breaks without it: `npm run sim -- --break`.
 */
export interface Rules {
  /** Admission and answers check the session's deadline. */
  readonly selfFencing: boolean;
  /** The deadline counts from when the renewal was sent, not from when its reply came. */
  readonly sendTime: boolean;
  /** The deadline is 0.9 × TTL, so that clocks may run at different rates. */
  readonly rateFactor: boolean;
  /** A deadline belongs to one session id: a new session does not revive the tenures of an old one. */
  readonly sessionDeadline: boolean;
  /** A hand-over and a re-stamp guard on the revision of the tenure they replace. */
  readonly revisionGuard: boolean;
  /** A grant creates if absent and never overwrites. */
  readonly createIfAbsent: boolean;
  /** A hand-over fails when the successor's session has ended. */
  readonly successorSession: boolean;
  /** The holder stops admitting before it sends the hand-over. */
  readonly stopBeforeCommit: boolean;
  /** After an unknown hand-over a node admits again only under a re-stamped epoch. */
  readonly reStamp: boolean;
  /** A tenure that bears our session is adopted, however it came to be. */
  readonly adoption: boolean;
  /** One epoch is activated at most once per process. */
  readonly adoptOnce: boolean;
  /** Only its owner revokes a liveness session. */
  readonly ownerRevokes: boolean;
  /** A new incarnation begins a new era. */
  readonly era: boolean;
  /** A closed era opens only after one maximum TTL. */
  readonly eraWait: boolean;
  /** Sessions of older eras are revoked by their owners. */
  readonly eraRevoke: boolean;
  /** An era's number is never used twice. */
  readonly eraUnique: boolean;
  /** Grants, hand-overs, re-stamps and promotions guard on the record of the open era. */
  readonly eraGuard: boolean;
  /** Views are guarded on the keys of the members they add and remove. */
  readonly viewGuard: boolean;
  /** Lower ranks may grant after a step each. */
  readonly lowerRanks: boolean;
  /** Leaving is final for the process. */
  readonly leavingFinal: boolean;
  /** A holder waits for requests in flight before it hands over. */
  readonly drainWait: boolean;
  /** A promotion guards on its own tenure, and a hand-over on the primary. */
  readonly primaryGuard: boolean;
  /** Bids, and whatever takes one back, guard on the rounds of the bid before, any of which may have been won unseen; a bid also on its first lot as it was. */
  readonly bidRounds: boolean;
  /** A close guards on every bid that it considered. */
  readonly closeBids: boolean;
  /** A close guards on the round that it closes. */
  readonly closeRound: boolean;
  /** All lots of a bid fit into its memory together. */
  readonly fitTogether: boolean;
  /** What a bid has won of its lots is not offered for the others. */
  readonly spentOnce: boolean;
  /** The highest bid wins. */
  readonly highestBid: boolean;
  /** A round that has a bid which can take the lot has a winner. */
  readonly oneWinner: boolean;
  /** A round waits for everybody's answer, or for its window. */
  readonly allAnswers: boolean;
}

export const ALL_RULES: Rules = {
  selfFencing: true,
  sendTime: true,
  rateFactor: true,
  sessionDeadline: true,
  revisionGuard: true,
  createIfAbsent: true,
  successorSession: true,
  stopBeforeCommit: true,
  reStamp: true,
  adoption: true,
  adoptOnce: true,
  ownerRevokes: true,
  era: true,
  eraWait: true,
  eraRevoke: true,
  eraUnique: true,
  eraGuard: true,
  viewGuard: true,
  lowerRanks: true,
  leavingFinal: true,
  drainWait: true,
  primaryGuard: true,
  bidRounds: true,
  closeBids: true,
  closeRound: true,
  fitTogether: true,
  spentOnce: true,
  highestBid: true,
  oneWinner: true,
  allAnswers: true,
};
