import {
  parseAuctionKey,
  type AuctionConfig,
  type Award,
  type Bidder,
  type BidLot,
  type ChangeBatch,
  type Entry,
  type Footprint,
  type Keys,
  type MoveRequest,
  type Override,
  type Pass,
  type ReplicaKey,
  type Round,
} from "@keelson/kernel";

/** A stored value, its revision, and when it was written, in true time. */
export interface Written<T> {
  readonly value: T;
  readonly revision: number;
  readonly atMs: number;
}

/** An answer to a round, as it stands in the store. */
export interface StoredAnswer {
  readonly node: string;
  readonly atMs: number;
  readonly revision: number;
  readonly maxBids: number;
  readonly session: string;
  /** Of a bid; undefined for a pass. */
  readonly freeBytes: number | undefined;
  /** The bid's other lots: it may have won any of them. */
  readonly others: readonly BidLot[];
}

/**
 * What the store says of the auctions of one service, for checkers: like a ledger, but fed by the checker itself, so that it can look at what was true before a change.
 */
export class AuctionBook {
  readonly bidders = new Map<string, Written<Bidder>>();
  readonly passes = new Map<ReplicaKey, Map<string, Written<Pass>>>();
  readonly rounds = new Map<ReplicaKey, Written<Round>>();
  readonly awards = new Map<ReplicaKey, Written<Award>>();
  readonly moves = new Map<ReplicaKey, Written<MoveRequest>>();
  readonly footprints = new Map<string, Written<Footprint>>();
  readonly overrides = new Map<string, Written<Override>>();
  /** Revisions of tenures. */
  readonly tenures = new Map<ReplicaKey, number>();
  config: Written<AuctionConfig> | undefined;
  evaluator: Written<{ readonly node: string }> | undefined;
  readonly #keys: Keys;
  readonly #service: string;

  constructor(keys: Keys, service: string) {
    this.#keys = keys;
    this.#service = service;
  }

  apply(batch: ChangeBatch, atMs: number): void {
    for (const change of batch.changes)
      if (change.kind === "put") this.#set(change.entry.key, change.entry, atMs);
      else this.#set(change.key, undefined, atMs);
  }

  /** What was there before, at the same revision, was written when it was. */
  reload(entries: Iterable<Entry>, atMs: number): void {
    const before = this.#writtenAt();
    for (const map of [
      this.bidders,
      this.passes,
      this.rounds,
      this.awards,
      this.moves,
      this.footprints,
      this.overrides,
      this.tenures,
    ])
      map.clear();
    this.config = undefined;
    this.evaluator = undefined;
    for (const entry of entries)
      this.#set(entry.key, entry, before.get(`${entry.key} ${entry.revision}`) ?? atMs);
  }

  /** The round in which answers count now. */
  roundOf(replica: ReplicaKey): number {
    return (this.rounds.get(replica)?.value.n ?? 0) + 1;
  }

  /** Does it count, as far as round and tenure go? */
  isCurrent({ replica, round, tenure }: Pick<BidLot, "replica" | "round" | "tenure">): boolean {
    return round === this.roundOf(replica) && tenure === (this.tenures.get(replica) ?? 0);
  }

  /** The answers that count now. */
  answers(replica: ReplicaKey): StoredAnswer[] {
    const found = new Map<string, StoredAnswer>();
    for (const [node, { value, revision, atMs }] of this.passes.get(replica) ?? [])
      if (this.isCurrent({ ...value, replica }))
        found.set(node, {
          node,
          revision,
          atMs,
          maxBids: value.maxBids,
          session: value.session,
          freeBytes: undefined,
          others: [],
        });
    for (const [node, { value, revision, atMs }] of this.bidders) {
      const { bid, session } = value;
      const on = bid?.lots.find((lot) => lot.replica === replica);
      if (!bid || !on || !this.isCurrent(on)) continue;
      const { freeBytes, lots } = bid;
      const others = lots.filter((lot) => lot !== on);
      found.set(node, { node, revision, atMs, maxBids: on.maxBids, session, freeBytes, others });
    }
    return [...found.values()];
  }

  /** When each answer was written, by key and revision. */
  #writtenAt(): Map<string, number> {
    const found = new Map<string, number>();
    const note = (part: "bidder" | "pass", about: string, { revision, atMs }: Written<unknown>): void =>
      void found.set(`${this.#keys.auction(this.#service, part, about)} ${revision}`, atMs);
    for (const [node, bidder] of this.bidders) note("bidder", node, bidder);
    for (const [replica, passes] of this.passes)
      for (const [node, pass] of passes) note("pass", `${replica}/${node}`, pass);
    return found;
  }

  #set(key: string, entry: Entry | undefined, atMs: number): void {
    const parsed = this.#keys.parse(key);
    if (parsed?.kind === "tenure") {
      if (entry) this.tenures.set(parsed.rest, entry.revision);
      else this.tenures.delete(parsed.rest);
    }
    if (parsed?.kind !== "auction") return;
    const { service, part, about } = parseAuctionKey(parsed.rest);
    if (service !== this.#service) return;
    const name = `${service}/${about}`;
    switch (part) {
      case "bidder":
        return put(this.bidders, about, entry, atMs);
      case "pass": {
        const slash = name.lastIndexOf("/");
        const replica = name.slice(0, slash);
        let passes = this.passes.get(replica);
        if (!passes) this.passes.set(replica, (passes = new Map<string, Written<Pass>>()));
        return put(passes, name.slice(slash + 1), entry, atMs);
      }
      case "round":
        return put(this.rounds, name, entry, atMs);
      case "award":
        return put(this.awards, name, entry, atMs);
      case "footprint":
        return put(this.footprints, name, entry, atMs);
      case "override":
        return put(this.overrides, name, entry, atMs);
      case "config":
        this.config = entry && written(entry, atMs);
        return;
      case "evaluator":
        this.evaluator = entry && written(entry, atMs);
        return;
      case "move":
        return put(this.moves, name, entry, atMs);
      case "demand":
    }
  }
}

function put<T>(map: Map<string, Written<T>>, name: string, entry: Entry | undefined, atMs: number): void {
  if (entry) map.set(name, written(entry, atMs));
  else map.delete(name);
}

function written<T>(entry: Entry, atMs: number): Written<T> {
  return { value: JSON.parse(entry.value) as T, revision: entry.revision, atMs };
}
