import {
  parseAuctionKey,
  type Award,
  type Commit,
  type Keys,
  type ReplicaKey,
  type Round,
} from "@keelson/kernel";

/** A round's close as an evaluator sent it, whether it landed or not. */
export interface SentClose {
  /** Closes are sent in the order in which they are judged. */
  readonly order: number;
  readonly node: string;
  readonly atMs: number;
  readonly round: number;
  /** Whom it gives the lot to; undefined when it is empty. */
  readonly session: string | undefined;
  /** By node, the revision of each bid that the commit guards on: what its sender has surely seen. */
  readonly bids: ReadonlyMap<string, number>;
  /** It shares its commit with closes of other rounds, and its guards with theirs. */
  readonly shared: boolean;
}

/** What evaluators have sent to close rounds, of the last rounds of each replica: it says what they took for given away when they judged the next one. */
export class Closes {
  readonly #keys: Keys;
  readonly #service: string;
  readonly #sent = new Map<ReplicaKey, SentClose[]>();
  #order = 0;

  constructor(keys: Keys, service: string) {
    this.#keys = keys;
    this.#service = service;
  }

  sent(node: string, { guards, writes }: Commit, atMs: number): void {
    const rounds: [ReplicaKey, Round][] = [];
    const given = new Map<ReplicaKey, string>();
    for (const write of writes) {
      if (write.kind !== "put") continue;
      const parsed = this.#keys.parse(write.key);
      if (parsed?.kind === "tenure") given.set(parsed.rest, sessionIn(write.value));
      if (parsed?.kind !== "auction") continue;
      const { service, part, about } = parseAuctionKey(parsed.rest);
      if (service !== this.#service) continue;
      const replica = `${service}/${about}`;
      if (part === "award") given.set(replica, sessionIn(write.value));
      else if (part === "round") rounds.push([replica, JSON.parse(write.value) as Round]);
    }
    if (rounds.length === 0) return;
    const bids = new Map<string, number>();
    for (const { key, revision } of guards) {
      const parsed = this.#keys.parse(key);
      const about = parsed?.kind === "auction" ? parseAuctionKey(parsed.rest) : undefined;
      if (about?.part === "bidder") bids.set(about.about, revision);
    }
    const shared = rounds.length > 1;
    for (const [replica, { n }] of rounds) {
      const before = (this.#sent.get(replica) ?? []).filter(({ round }) => round >= n - 1).slice(-keptMax);
      const close = { order: ++this.#order, node, atMs, round: n, session: given.get(replica), bids, shared };
      this.#sent.set(replica, [...before, close]);
    }
  }

  /** The last one that gives the lot to the session in this round. */
  last(replica: ReplicaKey, round: number, session: string): SentClose | undefined {
    return this.#of(replica, round, session).at(-1);
  }

  /** The first one. */
  first(replica: ReplicaKey, round: number, session: string): SentClose | undefined {
    return this.#of(replica, round, session)[0];
  }

  #of(replica: ReplicaKey, round: number, session: string): SentClose[] {
    return (this.#sent.get(replica) ?? []).filter((one) => one.round === round && one.session === session);
  }
}

function sessionIn(value: string): string {
  return (JSON.parse(value) as Pick<Award, "session">).session;
}

/** Closes of a round that are kept; it is sent again only when something is wrong. */
const keptMax = 32;
