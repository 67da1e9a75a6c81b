import { AUCTION_DEFAULTS, parseReplicaKey, type ReplicaKey } from "@keelson/kernel";
import type { SimEvent } from "../../events.ts";
import type { Checker, Scene } from "../checker.ts";
import { Health } from "./health.ts";

/**
 * A repository that fits on a healthy node does not stay without a holder: not longer than an auction may take, however many others wait; and when the fleet has settled, every one that
 * fits is served. What fits nowhere may wait, and so may one with strikes against it, as long as these impose.
 */
export class StarvationChecker implements Checker {
  readonly name = "starvation";
  readonly hears: readonly SimEvent["kind"][];
  readonly #scene: Scene;
  readonly #health: Health;
  /** Since when each has been without a holder although it fits. */
  readonly #since = new Map<ReplicaKey, number>();
  readonly #reported = new Set<ReplicaKey>();

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#health = new Health(scene);
    this.hears = scene.auction ? [...Health.hears, "second", "settled"] : [];
  }

  on(event: SimEvent): void {
    this.#health.on(event);
    if (event.kind === "second") this.#look();
    else if (event.kind === "settled") this.#settled();
  }

  #look(): void {
    const { ledger, service, terms, driftMax } = this.#scene;
    const now = this.#scene.now();
    const quiet = ledger.era?.value.phase === "open" && this.#health.storeWellForMs() > terms.ttlMs;
    const room = this.#room(wellMs);
    const windowMs = Number(service.parameters.placement["windowMs"] ?? AUCTION_DEFAULTS.windowMs);
    const limitMs = (windowMs + 2 * terms.ttlMs) * (1 + driftMax);
    for (const replica of service.replicas) {
      const waits = !ledger.tenures.has(replica) && quiet && this.#strikesMs(replica) === 0;
      if (!waits || !this.#fits(replica, room)) {
        this.#since.delete(replica);
        this.#reported.delete(replica);
        continue;
      }
      const since = this.#since.get(replica) ?? now;
      this.#since.set(replica, since);
      if (now - since <= limitMs || this.#reported.has(replica)) continue;
      this.#reported.add(replica);
      this.#scene.report(
        this.name,
        replica,
        `it fits, and nobody has held it for ${Math.round(now - since)} ms`,
      );
    }
  }

  #settled(): void {
    const { service, nodes, ledger } = this.#scene;
    const room = this.#room(0);
    for (const replica of service.replicas) {
      if (nodes.some((node) => node.up && node.check(replica)) || this.#strikesMs(replica) > 0) continue;
      const holder = ledger.tenures.get(replica)?.value.node;
      if (holder === undefined && !this.#fits(replica, room)) continue;
      this.#scene.report(
        this.name,
        replica,
        `the fleet has settled, and ${holder === undefined ? "nobody holds it although it fits" : `${holder} holds it and does not serve it`}`,
      );
    }
  }

  /** What is left on each node that has been well for so long, with everything it was given taken off. */
  #room(wellMsMin: number): number[] {
    const { auction, ledger, service, nodes } = this.#scene;
    if (!auction) return [];
    const given = new Map<string, number>();
    for (const [replica, { value }] of ledger.tenures)
      add(given, value.node, auction.catalogue.bytesOf(replica));
    for (const name of ledger.contenders.keys()) {
      const slash = name.lastIndexOf("/");
      add(given, name.slice(slash + 1), auction.catalogue.bytesOf(name.slice(0, slash)));
    }
    const members = ledger.views.get(service.name)?.value.members ?? [];
    const known = new Set(nodes.map(({ name }) => name));
    return members
      .filter(
        ({ node, weight }) => weight > 0 && known.has(node) && this.#health.wellForMs(node) >= wellMsMin,
      )
      .map(({ node }) => auction.budgetBytes(node) - Math.max(given.get(node) ?? 0, auction.usedBytes(node)));
  }

  #fits(replica: ReplicaKey, room: readonly number[]): boolean {
    const { auction } = this.#scene;
    // Before it was ever indexed nobody knows better than the estimate.
    const bytes = auction?.catalogue.estimatedBytes(parseReplicaKey(replica).shard) ?? 0;
    return room.some((free) => free >= bytes + slackBytes);
  }

  #strikesMs(replica: ReplicaKey): number {
    const { ledger, terms } = this.#scene;
    const strikes = ledger.troubles.get(replica.slice(0, replica.lastIndexOf("/")))?.value.strikes ?? 0;
    if (strikes < 2) return 0;
    return strikes >= terms.quarantineStrikes ? terms.quarantineMs : terms.strikeBackoffMs * 2 ** strikes;
  }
}

function add(map: Map<string, number>, name: string, bytes: number): void {
  map.set(name, (map.get(name) ?? 0) + bytes);
}

/** A node counts as healthy after so long. */
const wellMs = 15_000;
/** What is promised for estimates is a little more than what is used in the end. */
const slackBytes = 64 * 2 ** 20;
