/** Reads from the copy of the store what the feed says of one replica, one lot or the fleet. It keeps nothing. */
import {
  explainAuction,
  readRecordText,
  readWishes,
  replicaKey,
  serviceOf,
  type Contender,
  type Entry,
  type EraRecord,
  type Keys,
  type LoadReport,
  type ManagerRecord,
  type Plan,
  type ProtocolRecord,
  type ReplicaKey,
  type StoreImage,
  type Tenure,
  type Trouble,
} from "@keelson/kernel";
import type { DrainStatus, PinStatus, ReplicaState } from "../contract.ts";
import type { StatusTerms } from "../status.ts";
import type { FeedLot, FeedStatus } from "./frames.ts";
import type { ReplicaRow } from "./replica-table.ts";

export class ImageReader {
  readonly #keys: Keys;
  readonly #image: StoreImage;
  readonly #terms: StatusTerms;

  constructor(keys: Keys, image: StoreImage, terms: StatusTerms) {
    this.#keys = keys;
    this.#image = image;
    this.#terms = terms;
  }

  /** `number` gives the number of a node. */
  row(
    replica: ReplicaKey,
    plan: Plan | undefined,
    contended: boolean,
    number: (node: string, address?: string) => number,
  ): ReplicaRow {
    const entry = this.#image.get(this.#keys.tenure(replica));
    const tenure = entry && (JSON.parse(entry.value) as Tenure);
    const strikes = this.#strikes(replica.slice(0, replica.lastIndexOf("/")));
    const wanted = plan?.lines.get(replica)?.candidates[0];
    const state: ReplicaState = tenure
      ? contended || (wanted !== undefined && wanted !== tenure.node)
        ? "moving"
        : "held"
      : strikes >= this.#terms.quarantineStrikes
        ? "quarantined"
        : "unheld";
    return {
      holder: tenure ? number(tenure.node, tenure.address) : -1,
      target: wanted === undefined ? -1 : number(wanted),
      state,
      era: tenure?.era ?? 0,
      revision: entry?.revision ?? 0,
      sinceSeconds: Math.round((tenure?.since ?? 0) / 1_000),
      strikes,
    };
  }

  contender(replica: ReplicaKey, node: string): Contender | undefined {
    return this.#read<Contender>(this.#keys.contender(replica, node));
  }

  footprintBytes(shard: string): number {
    const entry = this.#image.get(this.#keys.auction(serviceOf(shard), "footprint", shard));
    return (entry && readRecordText("footprint", entry.value).value?.bytes) ?? -1;
  }

  load(service: string, node: string): LoadReport | undefined {
    return this.#read<LoadReport>(this.#keys.load(service, node));
  }

  /** `bidders` and `passers`: nodes that have a key about it. Undefined when it was never auctioned. */
  lot(
    replica: ReplicaKey,
    index: number,
    bidders: Iterable<string>,
    passers: Iterable<string>,
  ): FeedLot | undefined {
    const keys = this.#keys;
    const service = serviceOf(replica);
    const about = [
      ...Array.from(bidders, (node) => keys.auction(service, "bidder", node)),
      ...Array.from(passers, (node) => `${keys.auction(service, "pass", replica)}/${node}`),
    ].flatMap((key) => this.#image.get(key) ?? []);
    const tenure = this.#image.get(keys.tenure(replica));
    const sources = { keys, get: (key: string) => this.#image.get(key), entries: () => about };
    const { auction } = explainAuction(sources, service, replica, tenure);
    if (!auction) return undefined;
    const { bids, passes, award, move } = auction;
    const open = !tenure || bids.length > 0 || passes.length > 0 || award !== undefined || move !== undefined;
    return { replica: index, ...auction, ...(open ? {} : { closed: true }) };
  }

  status(storeLive: boolean): FeedStatus {
    const era = this.#read<EraRecord>(this.#keys.era);
    const protocol = this.#read<ProtocolRecord>(this.#keys.protocol);
    const manager = this.#read<ManagerRecord>(this.#keys.manager);
    return {
      storeLive,
      ...(era ? { era: { era: era.era, phase: era.phase } } : {}),
      ...(protocol ? { protocol: protocol.active } : {}),
      ...(manager ? { manager: { node: manager.node, since: manager.since } } : {}),
    };
  }

  wishes(
    entries: Iterable<Entry>,
    replicasOf: (service: string) => number,
    heldBy: (node: string) => number,
  ): { drains: DrainStatus[]; pins: PinStatus[] } {
    const { drains, pins } = readWishes(this.#keys, entries);
    return {
      drains: drains.map(({ node, wish: { by, reason, since } }) => ({
        node,
        by,
        reason,
        since,
        held: heldBy(node),
      })),
      pins: pins.map(({ service, shard, replica, node, wish }) => {
        const { once = false, by, reason, since } = wish;
        const any = Array.from({ length: replicasOf(service) }, (_, n) => replicaKey(service, shard, n));
        const kept = (replica === undefined ? any : [replicaKey(service, shard, replica)]).some(
          (key) => this.#read<Tenure>(this.#keys.tenure(key))?.node === node,
        );
        return { service, shard, replica, node, once, by, reason, since, kept };
      }),
    };
  }

  #strikes(shard: string): number {
    return this.#read<Trouble>(this.#keys.trouble(shard))?.strikes ?? 0;
  }

  #read<T>(key: string): T | undefined {
    const entry = this.#image.get(key);
    return entry && (JSON.parse(entry.value) as T);
  }
}
