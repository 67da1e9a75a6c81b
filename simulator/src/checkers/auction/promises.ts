import {
  parseAuctionKey,
  type Award,
  type Bidder,
  type ChangeBatch,
  type ReplicaKey,
  type Tenure,
} from "@keelson/kernel";
import type { SimEvent } from "../../events.ts";
import type { Checker, Scene } from "../checker.ts";

/**
 * No node's memory is promised twice, looked at in the store at the instant of each promise: whatever a session was given, and has not built yet, fits beside what its node has in memory; and a bid offers
 * only what is left beside both. Sizes are the true ones, which are never above what was expected.
 */
export class PromisesChecker implements Checker {
  readonly name = "promises";
  readonly hears: readonly SimEvent["kind"][];
  readonly #scene: Scene;
  /** What each node's process has in memory, or is building. */
  readonly #has = new Map<string, Map<ReplicaKey, number>>();
  readonly #awards = new Map<ReplicaKey, Award>();

  constructor(scene: Scene) {
    this.#scene = scene;
    this.hears =
      scene.auction && scene.service.placement.kind === "auction"
        ? ["store-changed", "store-recovered", "memory", "node"]
        : [];
  }

  on(event: SimEvent): void {
    switch (event.kind) {
      case "memory":
        if (event.what === "freed") this.#of(event.node).delete(event.replica);
        else this.#of(event.node).set(event.replica, event.bytes);
        return;
      case "node":
        this.#has.delete(event.node);
        return;
      case "store-recovered":
        this.#awards.clear();
        for (const { key, value } of this.#scene.entries()) this.#noteAward(key, value);
        return;
      case "store-changed":
        return this.#changed(event.batch);
      default:
    }
  }

  #changed({ changes }: ChangeBatch): void {
    for (const change of changes)
      if (change.kind === "put") this.#noteAward(change.entry.key, change.entry.value);
      else this.#noteAward(change.key, undefined);
    const { keys } = this.#scene.ledger;
    for (const change of changes) {
      const parsed = change.kind === "put" ? keys.parse(change.entry.key) : undefined;
      if (change.kind !== "put" || !parsed) continue;
      const { kind, rest } = parsed;
      if (kind === "tenure") {
        const { how, node, session } = JSON.parse(change.entry.value) as Tenure;
        if (how === "grant") this.#given(rest, node, session);
      } else if (kind === "auction") {
        const { service, part, about } = parseAuctionKey(rest);
        if (service !== this.#scene.service.name) continue;
        if (part === "bidder") this.#bid(JSON.parse(change.entry.value) as Bidder);
        if (part !== "award") continue;
        const { node, session } = JSON.parse(change.entry.value) as Award;
        this.#given(`${service}/${about}`, node, session);
      }
    }
  }

  #given(replica: ReplicaKey, node: string, session: string): void {
    const left = this.#leftOn(node, session);
    if (left < 0)
      this.#scene.report(
        this.name,
        node,
        `is given ${replica}, and ${-left} bytes more than it has room for`,
      );
  }

  #bid({ node, session, bid }: Bidder): void {
    if (!bid) return;
    const left = this.#leftOn(node, session);
    if (bid.freeBytes > Math.max(0, left))
      this.#scene.report(
        this.name,
        node,
        `bids ${bid.freeBytes} bytes, and has ${left} beside what it was given`,
      );
  }

  /** What is left on the node beside what is in its memory and what its session was given. Of a process that ended nothing is known. */
  #leftOn(node: string, session: string): number {
    const { auction, ledger, nodes } = this.#scene;
    if (!auction || nodes.find((each) => each.name === node)?.up !== true) return Infinity;
    const has = this.#of(node);
    let left = auction.budgetBytes(node);
    for (const bytes of has.values()) left -= bytes;
    const given = new Set<ReplicaKey>();
    for (const [replica, { value }] of ledger.tenures) if (value.session === session) given.add(replica);
    for (const [replica, award] of this.#awards)
      if (award.session === session && ledger.tenures.get(replica)?.value.session === award.fromSession)
        given.add(replica);
    for (const replica of given) if (!has.has(replica)) left -= auction.catalogue.bytesOf(replica);
    return left;
  }

  #noteAward(key: string, value: string | undefined): void {
    const parsed = this.#scene.ledger.keys.parse(key);
    if (parsed?.kind !== "auction") return;
    const { service, part, about } = parseAuctionKey(parsed.rest);
    if (part !== "award" || service !== this.#scene.service.name) return;
    if (value === undefined) this.#awards.delete(`${service}/${about}`);
    else this.#awards.set(`${service}/${about}`, JSON.parse(value) as Award);
  }

  #of(node: string): Map<ReplicaKey, number> {
    let has = this.#has.get(node);
    if (!has) this.#has.set(node, (has = new Map<ReplicaKey, number>()));
    return has;
  }
}
