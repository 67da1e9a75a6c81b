import type { Keys, ReplicaKey } from "../identity/keys.ts";
import type { Strike } from "../lifecycle/trouble.ts";
import { STORE_LIMITS, type Commit, type Guard, type Write } from "../store/contract.ts";
import type { OpenEra } from "../tenure/era-machine.ts";
import { ALL_RULES, type Rules } from "../tenure/rules.ts";
import type { Tenure } from "../tenure/tenure.ts";
import type { Award, Bidder, Demand, Footprint, MoveRequest, Pass, Round } from "./records.ts";

/** The commits of auctions and claims, each spelled once. The table is in docs/design/auctions.md, section 4. */
export class AuctionCommits {
  readonly #keys: Keys;
  readonly #service: string;
  readonly #rules: Rules;

  /** Bids that a close guards on: so many that it stays below the store's limit whatever else it carries. */
  static readonly bidsMax = 60;

  constructor(keys: Keys, service: string, rules: Rules = ALL_RULES) {
    this.#keys = keys;
    this.#service = service;
    this.#rules = rules;
  }

  /**
   * One outstanding bid per node: it is written over the last one, which must be the one we know. Guards the rounds given: of its first lot, and of what the last bid was on and has not been
   * seen to end. That its further lots are as they were is not guarded: a lot that has changed is one that it does not count for.
   */
  bid(bidder: Bidder, known: number, rounds: readonly KnownRound[]): Commit {
    const { replica, tenure } = bidder.bid!.lots[0]!;
    const { guards, writes } = this.seat(bidder, known, rounds);
    if (!this.#rules.bidRounds) return { guards, writes };
    return { guards: [...guards, { key: this.#keys.tenure(replica), revision: tenure }], writes };
  }

  /** Takes a seat, or takes the bid there back. Guards the rounds of that bid: any of them may have been won with it, unseen. */
  seat(bidder: Bidder, known: number, rounds: readonly KnownRound[]): Commit {
    const key = this.#key("bidder", bidder.node);
    const guarded = this.#rules.bidRounds ? rounds : [];
    const of = guarded.map(({ replica, revision }) => ({ key: this.#key("round", replica), revision }));
    return { guards: [{ key, revision: known }, ...of], writes: [put(key, bidder, bidder.session)] };
  }

  pass(replica: ReplicaKey, pass: Pass, known: number, round: number): Commit {
    const key = this.#key("pass", `${replica}/${pass.node}`);
    return {
      guards: [
        { key, revision: known },
        { key: this.#key("round", replica), revision: round },
      ],
      writes: [put(key, pass, pass.session)],
    };
  }

  /**
   * A first tenure, on behalf of the winner. An award that still lies there goes with it, known or not: it was from a holder that is none any more, and would count again when that one wins.
   */
  grant(close: Close, tenure: Tenure, strike: Strike | undefined): Commit {
    const key = this.#keys.tenure(close.replica);
    const award: Write = { kind: "delete", key: this.#key("award", close.replica) };
    const struck = withStrike([{ key, revision: 0 }], [put(key, tenure, tenure.session), award], strike);
    return this.#close(close, struck.guards, struck.writes);
  }

  /** Who shall take over what is still held. */
  award(close: Close, award: Award, known: number, tenure: number): Commit {
    const key = this.#key("award", close.replica);
    const guards: Guard[] = [
      { key, revision: known },
      { key: this.#keys.tenure(close.replica), revision: tenure },
    ];
    return this.#close(close, guards, [put(key, award, award.session)]);
  }

  empty(close: Close): Commit {
    return this.#close(close, [], []);
  }

  /** Create-if-absent for oneself. It rewrites the round, so that an earlier claim that comes late cannot land after this one's end. */
  claim(
    replica: ReplicaKey,
    tenure: Tenure,
    era: OpenEra,
    strike: Strike | undefined,
    round: { readonly value: Round; readonly known: number },
  ): Commit {
    const key = this.#keys.tenure(replica);
    const roundKey = this.#key("round", replica);
    return withStrike(
      [this.#era(era), { key, revision: 0 }, { key: roundKey, revision: round.known }],
      [
        put(key, tenure, tenure.session),
        put(roundKey, round.value, undefined),
        { kind: "delete", key: this.#key("award", replica) },
      ],
      strike,
    );
  }

  claimSuccession(replica: ReplicaKey, award: Award, known: number, tenure: number, era: OpenEra): Commit {
    const key = this.#key("award", replica);
    return {
      guards: [
        this.#era(era),
        { key, revision: known },
        { key: this.#keys.tenure(replica), revision: tenure },
      ],
      writes: [put(key, award, award.session), { kind: "delete", key: this.#key("move", replica) }],
    };
  }

  /** `office` is the evaluator's; an operator has none. */
  requestMove(
    replica: ReplicaKey,
    move: MoveRequest,
    known: number,
    tenure: number,
    office: Guard | undefined,
  ): Commit {
    const key = this.#key("move", replica);
    return {
      guards: [
        ...(office ? [office] : []),
        { key, revision: known },
        { key: this.#keys.tenure(replica), revision: tenure },
      ],
      writes: [put(key, move, undefined)],
    };
  }

  footprint(shard: string, footprint: Footprint, known: number): Commit {
    const key = this.#key("footprint", shard);
    return { guards: [{ key, revision: known }], writes: [put(key, footprint, undefined)] };
  }

  /** Undefined takes the signal back. */
  demand(demand: Demand | undefined, known: number, office: Guard): Commit {
    const key = this.#key("demand");
    const write: Write = demand ? put(key, demand, undefined) : { kind: "delete", key };
    return { guards: [office, { key, revision: known }], writes: [write] };
  }

  remove(part: "award" | "evaluator" | "move" | "pass", about: string, known: number): Commit {
    const key = this.#key(part, about);
    return { guards: [{ key, revision: known }], writes: [{ kind: "delete", key }] };
  }

  #close(close: Close, guards: readonly Guard[], writes: readonly Write[]): Commit {
    const { replica, round, known, office, era, bids, passes, move } = close;
    const roundKey = this.#key("round", replica);
    const all: Guard[] = [this.#era(era), office, ...guards];
    if (this.#rules.closeRound) all.push({ key: roundKey, revision: known });
    const considered = this.#rules.closeBids ? bids.slice(0, AuctionCommits.bidsMax) : [];
    for (const { node, revision } of considered) all.push({ key: this.#key("bidder", node), revision });
    const changes: Write[] = [put(roundKey, round, undefined), ...writes];
    if (move) changes.push({ kind: "delete", key: this.#key("move", replica) });
    const room = STORE_LIMITS.operationsMax - all.length - changes.length;
    for (const node of passes.slice(0, Math.max(0, room)))
      changes.push({ kind: "delete", key: this.#key("pass", `${replica}/${node}`) });
    return { guards: all, writes: changes };
  }

  #era(era: OpenEra): Guard {
    return { key: this.#keys.era, revision: era.revision };
  }

  #key(part: Parameters<Keys["auction"]>[1], about?: string): string {
    return this.#keys.auction(this.#service, part, about);
  }
}

/** The round of a replica, and the revision of its key. */
export interface KnownRound {
  readonly replica: ReplicaKey;
  readonly revision: number;
}

/** What every close of a round carries. */
export interface Close {
  readonly replica: ReplicaKey;
  readonly round: Round;
  /** Revision of the round key. */
  readonly known: number;
  /** The evaluator's key: one that was deposed closes nothing. */
  readonly office: Guard;
  readonly era: OpenEra;
  /** Every bid considered, best first. */
  readonly bids: readonly { readonly node: string; readonly revision: number }[];
  /** Nodes whose pass key lies there. */
  readonly passes: readonly string[];
  /** There is a request to move it, which ends with the round. */
  readonly move: boolean;
}

function withStrike(guards: Guard[], writes: Write[], strike: Strike | undefined): Commit {
  if (!strike) return { guards, writes };
  return {
    guards: [...guards, { key: strike.key, revision: strike.revision }],
    writes: [...writes, put(strike.key, strike.value, undefined)],
  };
}

function put(key: string, value: object, session: string | undefined): Write {
  const text = JSON.stringify(value);
  return session === undefined
    ? { kind: "put", key, value: text }
    : { kind: "put", key, value: text, session };
}
