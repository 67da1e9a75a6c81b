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
import { Closes, type SentClose } from "./closes.ts";
import { FirstTenures } from "./first-tenures.ts";
import { Health } from "./health.ts";
import { LotAges } from "./lot-ages.ts";
import { Silence } from "./silence.ts";
import { Spending } from "./spending.ts";

/**
 * The rules of auctions, looked at in the store as it changes:
 * - a first tenure comes from a round, or goes to a node that had the replica ready when it sent for it;
 * - a round has one winner, or none when no bid can take the lot. It is won by a bid that counts; by the highest, less what it was given of its other lots before, of those that its evaluator must have seen, or says
 *   by its guards that it has; by the earlier of equal ones; and by none that has less left than the footprint;
 * - a round closes before its window is over only with enough answers, and not long after it;
 * - no node has two bids outstanding, nor one on more lots than fit together; rounds are numbered without gaps.
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
  readonly #closes: Closes;
  readonly #spending: Spending;
  readonly #first: FirstTenures;
  readonly #ages = new LotAges();
  /** Replicas that somebody has answered for, in the present round. */
  readonly #openLots = new Set<ReplicaKey>();
  readonly #reported = new Set<string>();

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#book = new AuctionBook(scene.ledger.keys, scene.service.name);
    this.#health = new Health(scene);
    this.#terms = scene.auction ? auctionTerms(scene.service.parameters.placement) : AUCTION_DEFAULTS;
    this.#silence = new Silence(
      (replica) => this.#answers(replica),
      this.#terms.silentMs * (1 - scene.driftMax) - slackMs,
    );
    this.#closes = new Closes(scene.ledger.keys, scene.service.name);
    this.#spending = new Spending(scene, this.#book, this.#closes);
    this.#first = new FirstTenures(scene, (replica) => this.#book.roundOf(replica));
    this.hears =
      scene.auction && scene.service.placement.kind === "auction"
        ? [...Health.hears, "commit-sent", "store-changed", "memory", "second"]
        : [];
  }

  on(event: SimEvent): void {
    this.#health.on(event);
    this.#first.on(event);
    switch (event.kind) {
      case "commit-sent":
        return this.#closes.sent(event.node, event.commit, this.#scene.now());
      case "store-recovered":
        this.#book.reload(this.#scene.entries(), this.#scene.now());
        return this.#age(this.#scene.service.replicas);
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
    const touched = new Set<ReplicaKey>();
    for (const replica of this.#openLots) this.#silence.look(replica, this.#others(replica), now);
    for (const change of batch.changes) {
      const key = change.kind === "put" ? change.entry.key : change.key;
      const parsed = keys.parse(key);
      if (parsed?.kind === "tenure" || parsed?.kind === "contender") {
        const replica = parsed.rest.split("/").slice(0, 3).join("/");
        if (parsed.kind === "tenure" && change.kind === "put")
          this.#tenure(replica, change.entry.value, puts);
        this.#changedAt.set(replica, now);
        touched.add(replica);
      } else if (key === keys.view(this.#scene.service.name)) {
        this.#viewed(now);
        for (const replica of this.#scene.service.replicas) touched.add(replica);
      } else if (parsed?.kind === "auction") {
        const { service, part, about } = parseAuctionKey(parsed.rest);
        if (part === "award" || part === "move") touched.add(`${service}/${about}`);
        if (change.kind === "put") this.#auction(parsed.rest, change.entry.value, puts);
      }
    }
    this.#book.apply(batch, now);
    this.#age(touched);
    this.#reopen(batch);
  }

  #age(replicas: Iterable<ReplicaKey>): void {
    for (const replica of replicas) {
      const tenure = this.#isLot(replica) ? (this.#book.tenures.get(replica) ?? 0) : undefined;
      this.#ages.look(replica, tenure, this.#scene.now());
    }
  }

  /** The answers that count now, each as old as it can be: none is older than the lot. */
  #answers(replica: ReplicaKey): StoredAnswer[] {
    const upAt = this.#ages.of(replica);
    return this.#book
      .answers(replica)
      .map((answer) => (answer.atMs < upAt ? { ...answer, atMs: upAt } : answer));
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
    const wanted = after?.lots.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
    if (after && after.lots.length > 1 && wanted > after.freeBytes)
      this.#report(after.lots[0]!.replica, `${node} bids ${after.freeBytes} for lots that take ${wanted}`);
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
    const tenure = JSON.parse(text) as Tenure;
    const { keys } = this.#scene.ledger;
    if (tenure.how !== "grant" || puts.has(keys.auction(this.#scene.service.name, "round", replica))) return;
    const problem = this.#first.problem(replica, tenure);
    if (problem !== undefined) this.#report(replica, problem);
  }

  /** Requires that the book does not have the change yet. */
  #closed(replica: ReplicaKey, round: Round, puts: ReadonlyMap<string, string>): void {
    const { keys } = this.#scene.ledger;
    if (round.n !== this.#book.roundOf(replica))
      this.#report(replica, `round ${round.n} closes after round ${this.#book.roundOf(replica) - 1}`);
    const tenure = puts.get(keys.tenure(replica));
    const award = puts.get(keys.auction(this.#scene.service.name, "award", replica));
    if (tenure !== undefined && award !== undefined)
      this.#report(replica, `round ${round.n} gives it both a tenure and an award`);
    const won = tenure ?? award;
    const answers = this.#answers(replica);
    this.#openLots.delete(replica);
    if (won === undefined) return this.#empty(replica, answers);
    const { node, session } = JSON.parse(won) as { readonly node: string; readonly session: string };
    const winner = answers.find((answer) => answer.node === node && answer.session === session);
    if (!winner || !isBid(winner)) return this.#report(replica, `${node} won without a bid`);
    this.#best(replica, winner, answers, this.#closes.last(replica, round.n, session));
    this.#inTime(replica, winner, answers);
  }

  /** Only what the evaluator must have seen is held against it. */
  #best(
    replica: ReplicaKey,
    winner: StoredBid,
    answers: readonly StoredAnswer[],
    close: SentClose | undefined,
  ): void {
    const seenBefore = this.#scene.now() - this.#evaluatorLagMs();
    // One that does not hear of what its own commits did may go by less.
    const free =
      this.#evaluatorLagMs() === Infinity ? winner.freeBytes : this.#spending.mostLeft(winner, close);
    const opened = Math.min(...answers.filter(isBid).map(({ atMs }) => atMs));
    // A bid from after the window does not win, however late the round is closed.
    const { windowMs } = this.#terms;
    const until = opened + windowMs * (1 - this.#scene.driftMax) - slackMs;
    for (const other of answers) {
      if (!isBid(other) || other.atMs > until || !this.#isMember(other.node)) continue;
      const seen = other.atMs <= seenBefore || this.#considered(other, close);
      if (!seen && !this.#counted(replica, other, answers)) continue;
      const left = this.#spending.leastLeft(other, close);
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

  /** Does the close itself say so, by a guard on that very bid? Where it shares its guards with others, it says so only of a bid that was there before any of them was judged. */
  #considered({ node, revision, atMs }: StoredAnswer, close: SentClose | undefined): boolean {
    if (close?.bids.get(node) !== revision) return false;
    return !close.shared || atMs <= close.atMs - 2 * this.#scene.terms.commitTimeoutMs;
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
    for (const answer of answers) {
      if (!isBid(answer) || answer.atMs > seenBefore || !this.#isMember(answer.node)) continue;
      const left = this.#spending.leastLeft(answer, undefined);
      if (left >= footprint)
        this.#report(replica, `closed as empty, and ${answer.node} had bid ${answer.freeBytes}`);
    }
  }

  /** A round that is still open long after its window, with nothing wrong. */
  #overdue(): void {
    const now = this.#scene.now();
    const { terms, driftMax } = this.#scene;
    for (const replica of this.#openLots) {
      this.#silence.look(replica, this.#others(replica), now);
      const bids = this.#answers(replica).filter(isBid);
      if (bids.length === 0 || !this.#isLot(replica)) continue;
      const opened = Math.min(...bids.map(({ atMs }) => atMs));
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

  /** One broken rule of one replica is one violation. */
  #report(replica: ReplicaKey, text: string): void {
    const once = `${replica} ${text}`;
    if (this.#reported.has(once)) return;
    this.#reported.add(once);
    this.#scene.report(this.name, replica, text);
  }
}

type StoredBid = StoredAnswer & { readonly freeBytes: number };

function isBid(answer: StoredAnswer): answer is StoredBid {
  return answer.freeBytes !== undefined;
}

/** A healthy process hears of a change within this, spikes of the network included. */
const lagMs = 1_000;
/** Timers and the way to the store. */
const slackMs = 50;
