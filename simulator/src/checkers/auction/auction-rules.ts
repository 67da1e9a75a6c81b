import {
  AUCTION_DEFAULTS,
  auctionTerms,
  parseAuctionKey,
  parseReplicaKey,
  shardKey,
  type AuctionTerms,
  type Bidder,
  type ChangeBatch,
  type ReplicaKey,
  type Round,
  type Tenure,
} from "@keelson/kernel";
import type { SimEvent } from "../../events.ts";
import type { Checker, Scene } from "../checker.ts";
import { AuctionBook, type StoredAnswer } from "./auction-book.ts";
import { Health } from "./health.ts";
import { Silence } from "./silence.ts";

/**
 * The rules of auctions, looked at in the store as it changes:
 * - a first tenure comes from a round, or goes to a node that has the replica ready;
 * - a round is won by a bid that counts, by the highest of those that its evaluator must have seen (beside all its other lots, which it may have won before), by the earlier of equal ones, and by none below the footprint;
 * - a round closes before its window is over only with enough answers, and not long after it;
 * - no node has two bids outstanding; rounds are numbered without gaps.
 */
export class AuctionRulesChecker implements Checker {
  readonly name = "auctions";
  readonly hears: readonly SimEvent["kind"][];
  readonly #scene: Scene;
  readonly #book: AuctionBook;
  readonly #health: Health;
  readonly #silence: Silence;
  readonly #terms: AuctionTerms;
  /** When anything that decides whether a replica is a lot last changed. */
  readonly #changedAt = new Map<ReplicaKey, number>();
  readonly #joinedAt = new Map<string, number>();
  /** What each node has built, and until when that counts: it may take it with no auction. Of what it let go of, and of a process that ended, as long as a grant may be under way. */
  readonly #built = new Map<string, Map<ReplicaKey, number>>();
  /** Replicas that somebody has answered for, in the present round. */
  readonly #openLots = new Set<ReplicaKey>();
  readonly #reported = new Set<string>();

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#book = new AuctionBook(scene.ledger.keys, scene.service.name);
    this.#health = new Health(scene);
    this.#terms = scene.auction ? auctionTerms(scene.service.parameters.placement) : AUCTION_DEFAULTS;
    this.#silence = new Silence(this.#book, this.#terms.silentMs * (1 - scene.driftMax) - slackMs);
    this.hears =
      scene.auction && scene.service.placement.kind === "auction"
        ? [...Health.hears, "store-changed", "memory", "second"]
        : [];
  }

  on(event: SimEvent): void {
    this.#health.on(event);
    switch (event.kind) {
      case "memory":
        this.#builtBy(event.node).set(event.replica, event.what === "freed" ? this.#grantsUntil() : Infinity);
        return;
      case "node":
        for (const replica of this.#builtBy(event.node).keys())
          this.#builtBy(event.node).set(replica, this.#grantsUntil());
        return;
      case "store-recovered":
        this.#book.reload(this.#scene.entries(), this.#scene.now());
        return;
      case "store-changed":
        return this.#changed(event.batch);
      case "second":
        return this.#overdue();
      default:
    }
  }

  #changed(batch: ChangeBatch): void {
    const { keys } = this.#scene.ledger;
    const now = this.#scene.now();
    const puts = new Map<string, string>();
    for (const change of batch.changes)
      if (change.kind === "put") puts.set(change.entry.key, change.entry.value);
    for (const replica of this.#openLots) this.#silence.look(replica, this.#others(replica), now);
    for (const change of batch.changes) {
      const key = change.kind === "put" ? change.entry.key : change.key;
      const parsed = keys.parse(key);
      if (parsed?.kind === "tenure" || parsed?.kind === "contender") {
        const replica = parsed.rest.split("/").slice(0, 3).join("/");
        if (parsed.kind === "tenure" && change.kind === "put")
          this.#tenure(replica, change.entry.value, puts);
        this.#changedAt.set(replica, now);
      } else if (key === keys.view(this.#scene.service.name)) this.#viewed(now);
      else if (parsed?.kind === "auction" && change.kind === "put")
        this.#auction(parsed.rest, change.entry.value, puts);
    }
    this.#book.apply(batch, now);
    this.#reopen(batch);
  }

  /** What is written below `auction/`, against what stood there before. */
  #auction(rest: string, text: string, puts: ReadonlyMap<string, string>): void {
    const [service, part, ...about] = rest.split("/");
    if (service !== this.#scene.service.name) return;
    const name = about.join("/");
    if (part === "round") this.#closed(`${service}/${name}`, JSON.parse(text) as Round, puts);
    else if (part === "bidder") this.#bid(name, JSON.parse(text) as Bidder);
    else if (part === "pass") this.#silence.answered(about.at(-1) ?? "", this.#scene.now());
    if (part === "award" || part === "move" || part === "round") {
      const replica = `${service}/${name}`;
      this.#changedAt.set(replica, this.#scene.now());
    }
  }

  /** Requires that the book does not have the change yet. */
  #bid(node: string, { bid: after }: Bidder): void {
    const now = this.#scene.now();
    const before = this.#book.bidders.get(node)?.value.bid;
    this.#silence.answered(node, now);
    if (!after || this.#health.wellForMs(node) < lagMs) return;
    for (const { replica, round, tenure } of before?.lots ?? []) {
      if (!this.#book.isCurrent({ replica, round, tenure }) || !this.#isLot(replica)) continue;
      if (after.lots.some((lot) => lot.replica === replica && lot.round === round)) continue;
      // The node may know of a change that made it no lot for a while.
      if (now - (this.#changedAt.get(replica) ?? 0) < lagMs) continue;
      this.#report(
        replica,
        `${node} bids on ${after.lots[0]?.replica} while its bid on ${replica} is outstanding`,
      );
    }
  }

  #tenure(replica: ReplicaKey, text: string, puts: ReadonlyMap<string, string>): void {
    const { how, node } = JSON.parse(text) as Tenure;
    if (how !== "grant") return;
    const { keys } = this.#scene.ledger;
    if (puts.has(keys.auction(this.#scene.service.name, "round", replica))) return;
    const ready = this.#scene.ledger.contenders.get(`${replica}/${node}`)?.value.phase === "ready";
    if (ready || (this.#builtBy(node).get(replica) ?? 0) > this.#scene.now()) return;
    this.#report(replica, `${node} has a first tenure that no auction gave it`);
  }

  /** Requires that the book does not have the change yet. */
  #closed(replica: ReplicaKey, round: Round, puts: ReadonlyMap<string, string>): void {
    const { keys } = this.#scene.ledger;
    if (round.n !== this.#book.roundOf(replica))
      this.#report(replica, `round ${round.n} closes after round ${this.#book.roundOf(replica) - 1}`);
    const won =
      puts.get(keys.tenure(replica)) ?? puts.get(keys.auction(this.#scene.service.name, "award", replica));
    const answers = this.#book.answers(replica);
    this.#openLots.delete(replica);
    if (won === undefined) return this.#empty(replica, answers);
    const { node, session } = JSON.parse(won) as { readonly node: string; readonly session: string };
    const winner = answers.find((answer) => answer.node === node && answer.session === session);
    if (winner?.freeBytes === undefined) return this.#report(replica, `${node} won without a bid`);
    this.#best(replica, winner, answers);
    this.#inTime(replica, winner, answers);
  }

  /** Only what the evaluator must have seen is held against it. */
  #best(replica: ReplicaKey, winner: StoredAnswer, answers: readonly StoredAnswer[]): void {
    const seenBefore = this.#scene.now() - this.#evaluatorLagMs();
    const free = winner.freeBytes ?? 0;
    const opened = Math.min(...answers.filter(isBid).map(({ atMs }) => atMs));
    // A bid from after the window does not win, however late the round is closed.
    const { windowMs } = this.#terms;
    const until = opened + windowMs * (1 - this.#scene.driftMax) - slackMs;
    for (const other of answers) {
      if (!isBid(other) || other.atMs > until || !this.#isMember(other.node)) continue;
      if (other.atMs > seenBefore && !this.#counted(replica, other, answers)) continue;
      const left = other.freeBytes - other.othersBytes;
      if (left > free)
        this.#report(
          replica,
          `${winner.node} won with ${free} bytes free, and ${other.node} had bid ${left}`,
        );
      else if (left === free && other.revision < winner.revision)
        this.#report(replica, `${winner.node} won, and ${other.node} had bid as much before it`);
    }
    const { service, shard } = parseReplicaKey(replica);
    const footprint = this.#book.footprints.get(shardKey(service, shard));
    if (footprint && footprint.atMs <= seenBefore && free < footprint.value.bytes)
      this.#report(
        replica,
        `${winner.node} won with ${free} bytes free, and it last took ${footprint.value.bytes}`,
      );
  }

  /** Was it needed for the close? Before the end of the window everyone's answer is, and this is the only one that its node gave. */
  #counted(replica: ReplicaKey, other: StoredAnswer, answers: readonly StoredAnswer[]): boolean {
    const now = this.#scene.now();
    const opened = Math.min(...answers.filter(isBid).map(({ atMs }) => atMs));
    const early = now - opened < this.#terms.windowMs * (1 - this.#scene.driftMax) - slackMs;
    const passed =
      this.#book.passes.get(replica)?.get(other.node)?.value.round === this.#book.roundOf(replica);
    const configured = other.maxBids > 0 || this.#configured(replica) !== undefined;
    if (!early || passed || configured || this.#silence.hadSince(other.node, now - lagMs)) return false;
    return [...this.#expected(replica)].includes(other.node);
  }

  #inTime(replica: ReplicaKey, winner: StoredAnswer, answers: readonly StoredAnswer[]): void {
    const now = this.#scene.now();
    const { windowMs } = this.#terms;
    const { driftMax } = this.#scene;
    const opened = Math.min(...answers.filter(isBid).map(({ atMs }) => atMs));
    const lateMs = windowMs * (1 + driftMax) + this.#evaluatorLagMs();
    if (winner.atMs - opened > lateMs)
      this.#report(replica, `${winner.node} won with a bid from after the window`);
    if (now - opened >= windowMs * (1 - driftMax) - slackMs) return;
    const bids = answers.filter(isBid);
    const opener = bids.reduce((first, bid) => (bid.revision < first.revision ? bid : first));
    const configured = this.#configured(replica);
    if (opener.maxBids > 0 || configured !== undefined) {
      const needed = Math.max(opener.maxBids, configured ?? 0);
      if (answers.length < needed)
        this.#report(replica, `closed with ${answers.length} answers, and ${needed} were called for`);
      if (opener.maxBids > 0) return;
    }
    for (const node of this.#expected(replica))
      // That a silent one has spoken elsewhere just now the evaluator may not have heard.
      if (!answers.some((answer) => answer.node === node) && !this.#silence.hadSince(node, now - lagMs))
        this.#report(replica, `closed before ${node} had answered, and before the window was over`);
  }

  #empty(replica: ReplicaKey, answers: readonly StoredAnswer[]): void {
    const seenBefore = this.#scene.now() - this.#evaluatorLagMs();
    const footprint = this.#book.footprints.get(replica.slice(0, replica.lastIndexOf("/")))?.value.bytes ?? 0;
    for (const { node, freeBytes, atMs } of answers)
      if (freeBytes !== undefined && freeBytes >= footprint && atMs <= seenBefore && this.#isMember(node))
        this.#report(replica, `closed as empty, and ${node} had bid ${freeBytes}`);
  }

  /** A round that is still open long after its window, with nothing wrong. */
  #overdue(): void {
    const now = this.#scene.now();
    const { terms, driftMax } = this.#scene;
    for (const replica of this.#openLots) {
      this.#silence.look(replica, this.#others(replica), now);
      const opened = this.#book.openedAt(replica);
      if (opened === undefined || !this.#isLot(replica)) continue;
      const evaluator = this.#book.evaluator;
      const wellMs = evaluator
        ? Math.min(this.#health.wellForMs(evaluator.value.node), now - evaluator.atMs)
        : 0;
      const overMs = now - opened - this.#terms.windowMs * (1 + driftMax);
      if (overMs < terms.ttlMs || wellMs < terms.ttlMs) continue;
      this.#report(
        replica,
        `round ${this.#book.roundOf(replica)} is open more than a TTL after the end of its window`,
      );
    }
  }

  /** Bidders that the evaluator must wait for unless they are silent: those that have been in the view for a while, without the holder. */
  *#expected(replica: ReplicaKey): Iterable<string> {
    const latestMs = this.#scene.now() - this.#evaluatorLagMs();
    for (const node of this.#others(replica))
      if ((this.#joinedAt.get(node) ?? Infinity) < latestMs && this.#scene.ledger.members.has(node))
        yield node;
  }

  *#others(replica: ReplicaKey): Iterable<string> {
    const holder = this.#scene.ledger.tenures.get(replica)?.value.node;
    for (const node of this.#joinedAt.keys()) if (node !== holder) yield node;
  }

  #configured(replica: ReplicaKey): number | undefined {
    const { service, shard } = parseReplicaKey(replica);
    return (
      this.#book.overrides.get(shardKey(service, shard))?.value.maxBids ?? this.#book.config?.value.maxBids
    );
  }

  #isMember(node: string): boolean {
    return this.#joinedAt.has(node);
  }

  /** Is it up for auction, as the store stands? */
  #isLot(replica: ReplicaKey): boolean {
    const { ledger } = this.#scene;
    for (const name of ledger.contenders.keys()) if (name.startsWith(`${replica}/`)) return false;
    const tenure = ledger.tenures.get(replica)?.value;
    if (!tenure) return true;
    if (this.#book.awards.get(replica)?.value.fromSession === tenure.session) return false;
    const asked = this.#book.moves.get(replica)?.value.fromSession === tenure.session;
    return asked || !this.#isMember(tenure.node);
  }

  /** How long ago something may have happened without the evaluator having heard of it. */
  #evaluatorLagMs(): number {
    const node = this.#book.evaluator?.value.node;
    // What was on its way when a fault ended, as the call for its watch, it gives up only when its time is over.
    const heardMs = this.#scene.terms.commitTimeoutMs + lagMs;
    return node !== undefined && this.#health.wellForMs(node) > heardMs ? lagMs : Infinity;
  }

  #viewed(now: number): void {
    const members = this.#scene.ledger.views.get(this.#scene.service.name)?.value.members ?? [];
    const present = new Set(members.filter(({ weight }) => weight > 0).map(({ node }) => node));
    for (const node of this.#joinedAt.keys()) if (!present.has(node)) this.#joinedAt.delete(node);
    for (const node of present) if (!this.#joinedAt.has(node)) this.#joinedAt.set(node, now);
  }

  #reopen(batch: ChangeBatch): void {
    const { keys } = this.#scene.ledger;
    for (const change of batch.changes) {
      const parsed = change.kind === "put" ? keys.parse(change.entry.key) : undefined;
      if (parsed?.kind !== "auction") continue;
      const { service, part, about } = parseAuctionKey(parsed.rest);
      if (part === "pass") this.#openLots.add(`${service}/${about.slice(0, about.lastIndexOf("/"))}`);
      const bid = part === "bidder" ? this.#book.bidders.get(about)?.value.bid : undefined;
      for (const lot of bid?.lots ?? []) if (this.#book.isCurrent(lot)) this.#openLots.add(lot.replica);
    }
  }

  /** How long a grant may still land that was sent before now. */
  #grantsUntil(): number {
    return this.#scene.now() + 2 * this.#scene.terms.ttlMs;
  }

  #builtBy(node: string): Map<ReplicaKey, number> {
    let built = this.#built.get(node);
    if (!built) this.#built.set(node, (built = new Map<ReplicaKey, number>()));
    return built;
  }

  /** One broken rule of one replica is one violation. */
  #report(replica: ReplicaKey, text: string): void {
    const once = `${replica} ${text}`;
    if (this.#reported.has(once)) return;
    this.#reported.add(once);
    this.#scene.report(this.name, replica, text);
  }
}

function isBid(answer: StoredAnswer): answer is StoredAnswer & { readonly freeBytes: number } {
  return answer.freeBytes !== undefined;
}

/** A healthy process hears of a change within this, spikes of the network included. */
const lagMs = 1_000;
/** Timers and the way to the store. */
const slackMs = 50;
