/**
 * The fleet as the feed tells it: numbers for nodes, services and replicas, and what is known of each. `note` is told which keys changed, `collect` works
 * out what that means for a reader, `everything` tells a new one all of it. What is said is always read from the copy anew, so that nothing drifts. No
 * timers: the feed decides when.
 */
import {
  serviceOf,
  type ImageChange,
  type Keys,
  type Plan,
  type ReplicaKey,
  type StoreImage,
} from "@keelson/kernel";
import type { Plans } from "../plans.ts";
import type { StatusTerms } from "../status.ts";
import { findAlerts } from "./alerts.ts";
import type { FeedAdded, FeedAlert, FeedChanges, FeedContender, FeedLot, FeedStatus } from "./frames.ts";
import { ImageReader } from "./image-reader.ts";
import { NodeBook } from "./node-book.ts";
import { ReplicaTable } from "./replica-table.ts";
import { rowsOf, weightsOf } from "./rows.ts";
import { ServiceBook } from "./service-book.ts";
import { Touched } from "./touched.ts";

export interface FeedModelPorts {
  readonly keys: Keys;
  readonly image: StoreImage;
  readonly plans: Plans;
  readonly terms: StatusTerms;
  /** Whether the copy is being kept up to date. */
  readonly live: () => boolean;
}

/** What a frame is made of, before it has its time and its cursor. */
export type Collected = Omit<FeedChanges, "kind" | "at" | "cursor">;
type Draft = { -readonly [Part in keyof Collected]: Collected[Part] };

/** Rows of one frame of a snapshot: about 60 KiB, which a page reads in a millisecond or two. */
const rowsMax = 2_000;
/** Rows that are worked out in one go, so that a gateway with other things to do is not kept from them. */
const collectMax = 4_000;
/** Lots that one frame tells of. Of more, a new reader is only told that they are unheld. */
const lotsMax = 1_000;
/** Rows that are gone, before a model is worth beginning anew. */
const goneMin = 10_000;

export class FeedModel {
  readonly #ports: FeedModelPorts;
  readonly #reader: ImageReader;
  readonly #touched: Touched;
  readonly #table = new ReplicaTable();
  readonly #nodes: NodeBook;
  readonly #services: ServiceBook;
  readonly #lots = new Map<number, FeedLot>();
  /** Replicas of which readers were told that somebody gets ready for them: they must be told when nobody does any more. */
  readonly #contended = new Set<number>();
  readonly #plans = new Map<string, Plan | undefined>();
  /** Nodes that have a number which no reader has been told yet. */
  readonly #untold = new Set<number>();
  #status: FeedStatus | undefined;
  #alerts: readonly FeedAlert[] = [];

  constructor(ports: FeedModelPorts) {
    const { keys, image, terms } = ports;
    this.#ports = ports;
    this.#reader = new ImageReader(keys, image, terms);
    this.#touched = new Touched(keys);
    this.#nodes = new NodeBook(keys, image);
    this.#services = new ServiceBook(keys, image, this.#table);
  }

  /** More rows are gone than there are: it should be begun anew. */
  get worn(): boolean {
    return this.#table.gone > goneMin && this.#table.gone * 2 > this.#table.size;
  }

  addressOf(node: string): string | undefined {
    return this.#nodes.has(node) ? this.#nodes.get(this.#nodes.number(node))?.address : undefined;
  }

  note(changes: readonly ImageChange[]): void {
    for (const change of changes) this.#touched.note(change);
  }

  /** What is different since the last time; `more` says that there is more to work out. */
  collect(at: number): { readonly changes: Collected; readonly more: boolean } {
    const draft: Draft = {};
    const services = new Set<string>();
    /** Nodes whose counts may be others now. */
    const counted = new Set<number>();
    this.#collectServices(draft, services);
    this.#collectRows(draft, services, counted);
    this.#collectWeights(draft, counted);
    this.#collectLots(draft);
    this.#collectNodes(draft, counted);
    if (services.size > 0) draft.services = [...services].flatMap((name) => this.#services.say(name) ?? []);
    if (this.#touched.wishes) draft.wishes = this.#wishes();
    this.#touched.wishes = false;
    const status = this.#reader.status(this.#ports.live());
    if (differ(status, this.#status)) draft.status = this.#status = status;
    const alerts = this.#findAlerts(status, at);
    if (differ(alerts, this.#alerts)) draft.alerts = this.#alerts = alerts;
    return { changes: draft, more: this.#touched.replicas.size + this.#touched.lots.size > 0 };
  }

  /** Everything that is known, in pieces. Each piece is true when it is made; what changes meanwhile is told after it. */
  *everything(): Iterable<Collected> {
    const { all } = this.#nodes;
    yield {
      ...(this.#status ? { status: this.#status } : {}),
      services: [...this.#services.names()].flatMap((name) => this.#services.say(name) ?? []),
      wishes: this.#wishes(),
      alerts: this.#alerts,
    };
    const contending = this.#contending();
    for (let from = 0; from < all.length; from += rowsMax) {
      const nodes = all.slice(from, from + rowsMax);
      yield { nodes, counts: nodes.map(({ i }) => this.#count(i, contending)) };
    }
    for (const added of this.#services.everything()) yield { added: [added] };
    for (let from = 0; from < this.#table.size; from += rowsMax) {
      const indices = Array.from({ length: Math.min(rowsMax, this.#table.size - from) }, (_, n) => from + n);
      const weights = weightsOf(this.#table, indices);
      const contenders = indices.flatMap((index) => {
        const list = this.#table.row(index) ? this.#contenders(this.#table.keyOf(index)) : [];
        if (list.length === 0) return [];
        this.#contended.add(index);
        return [[index, list] as const];
      });
      yield {
        rows: rowsOf(this.#table, indices),
        ...(weights.i.length > 0 ? { weights } : {}),
        ...(contenders.length > 0 ? { contenders } : {}),
      };
    }
    if (this.#lots.size > 0) yield { lots: [...this.#lots.values()].slice(0, lotsMax) };
  }

  #collectServices(draft: Draft, services: Set<string>): void {
    const { views, plans, replicas } = this.#touched;
    const added: FeedAdded[] = [];
    const removed: number[] = [];
    for (const service of views) {
      const relisted = this.#services.look(service);
      added.push(...relisted.added);
      removed.push(...relisted.removed);
      services.add(service);
    }
    if (added.length > 0) draft.added = added;
    if (removed.length > 0) draft.removed = removed;
    // Another view or plan can want every replica elsewhere.
    for (const service of new Set([...views, ...plans])) {
      this.#plans.delete(service);
      for (const row of this.#services.rows(service)) replicas.add(this.#table.keyOf(row));
    }
    views.clear();
    plans.clear();
  }

  #collectRows(draft: Draft, services: Set<string>, counted: Set<number>): void {
    const { replicas, shards } = this.#touched;
    for (const shard of shards) for (const replica of this.#replicasOf(shard)) replicas.add(replica);
    shards.clear();
    const changed: number[] = [];
    const contended: (readonly [number, readonly FeedContender[]])[] = [];
    let looked = 0;
    for (const key of replicas) {
      if (looked++ >= collectMax) break;
      replicas.delete(key);
      const index = this.#table.find(key);
      const before = index === undefined ? undefined : this.#table.row(index);
      if (index === undefined || !before) continue;
      const contenders = this.#contenders(key);
      const row = this.#reader.row(key, this.#planOf(serviceOf(key)), contenders.length > 0, this.#number);
      if (contenders.length > 0 || this.#contended.delete(index)) contended.push([index, contenders]);
      if (contenders.length > 0) this.#contended.add(index);
      counted.add(before.holder).add(row.holder);
      for (const [node] of contenders) counted.add(node);
      if (!this.#table.set(index, row)) continue;
      changed.push(index);
      services.add(serviceOf(key));
    }
    if (changed.length > 0) draft.rows = rowsOf(this.#table, changed);
    if (contended.length > 0) draft.contenders = contended;
  }

  #collectWeights(draft: Draft, counted: Set<number>): void {
    const { footprints, loads, nodes } = this.#touched;
    const changed: number[] = [];
    const weigh = (replica: ReplicaKey, load: number, bytes: number): void => {
      const index = this.#table.find(replica);
      if (index === undefined || !this.#table.setWeight(index, { load, bytes })) return;
      changed.push(index);
      counted.add(this.#table.row(index)?.holder ?? -1);
    };
    for (const shard of footprints) {
      const bytes = this.#reader.footprintBytes(shard);
      for (const replica of this.#replicasOf(shard)) weigh(replica, -1, bytes);
    }
    for (const about of loads) {
      const [service = "", node = ""] = about.split("/");
      const report = this.#reader.load(service, node);
      this.#nodes.carries(node, service, report);
      nodes.add(node);
      for (const [name, [load, bytes]] of Object.entries(report?.heaviest ?? {}))
        weigh(`${service}/${name}`, load ?? -1, bytes ?? -1);
    }
    footprints.clear();
    loads.clear();
    if (changed.length > 0) draft.weights = weightsOf(this.#table, changed);
  }

  #collectLots(draft: Draft): void {
    const { lots, bidders, passes } = this.#touched;
    const changed: FeedLot[] = [];
    // What is too much for one frame waits for the next: a closing that is never told would be shown as open for ever.
    for (const key of lots) {
      if (changed.length >= lotsMax) break;
      lots.delete(key);
      const index = this.#table.find(key);
      if (index === undefined) continue;
      const lot = this.#reader.lot(key, index, bidders.get(key) ?? [], passes.get(key) ?? []);
      if (!lot) continue;
      if (lot.closed !== true) this.#lots.set(index, lot);
      else if (!this.#lots.delete(index)) continue;
      changed.push(lot);
    }
    if (changed.length > 0) draft.lots = changed;
  }

  #collectNodes(draft: Draft, counted: Set<number>): void {
    const { nodes } = this.#touched;
    for (const name of nodes) {
      const node = this.#nodes.look(name);
      if (node) this.#untold.add(node.i);
    }
    nodes.clear();
    const contending = this.#contending();
    if (this.#untold.size > 0) draft.nodes = [...this.#untold].map((i) => this.#nodes.get(i)!);
    for (const i of this.#untold) counted.add(i);
    this.#untold.clear();
    counted.delete(-1);
    if (counted.size > 0) draft.counts = [...counted].map((i) => this.#count(i, contending));
  }

  readonly #number = (node: string, address?: string): number => {
    if (!this.#nodes.has(node)) this.#untold.add(this.#nodes.all.length);
    return this.#nodes.number(node, address);
  };

  #count(i: number, contending: ReadonlyMap<number, number>): readonly [number, number, number, number] {
    const { count, bytes } = this.#table.heldBy(i);
    return [i, count, contending.get(i) ?? 0, Math.round(bytes)];
  }

  /** How many replicas each node gets ready for. */
  #contending(): Map<number, number> {
    const counts = new Map<number, number>();
    for (const nodes of this.#touched.contenders.values())
      for (const node of nodes) {
        const i = this.#number(node);
        counts.set(i, (counts.get(i) ?? 0) + 1);
      }
    return counts;
  }

  #contenders(replica: ReplicaKey): FeedContender[] {
    return [...(this.#touched.contenders.get(replica) ?? [])].flatMap((node) => {
      const contender = this.#reader.contender(replica, node);
      if (!contender) return [];
      const { phase, progress, address } = contender;
      return [[this.#number(node, address), phase, progress] as const];
    });
  }

  #replicasOf(shard: string): ReplicaKey[] {
    const count = this.#services.replicas(serviceOf(shard));
    return Array.from({ length: count }, (_, n) => `${shard}/${n}`);
  }

  /** Worked out once for each view and plan. */
  #planOf(service: string): Plan | undefined {
    if (this.#plans.has(service)) return this.#plans.get(service);
    const view = this.#services.view(service);
    const entries = [...(this.#touched.planEntries.get(service)?.values() ?? [])];
    const plan =
      view &&
      this.#ports.plans.of(
        { views: new Map([[service, { value: view, revision: 0 }]]), plans: new Map([[service, entries]]) },
        service,
      );
    this.#plans.set(service, plan);
    return plan;
  }

  #wishes(): NonNullable<FeedChanges["wishes"]> {
    return this.#reader.wishes(
      this.#touched.wishEntries.values(),
      (service) => this.#services.replicas(service),
      (node) => (this.#nodes.has(node) ? this.#table.heldBy(this.#nodes.number(node)).count : 0),
    );
  }

  #findAlerts(status: FeedStatus, at: number): FeedAlert[] {
    const found = findAlerts({
      status,
      members: this.#nodes.members,
      nodes: this.#nodes.all,
      services: [...this.#services.names()].flatMap((name) => this.#services.say(name) ?? []),
      heldBy: (node) => this.#table.heldBy(node).count,
    });
    return found.map((alert) => ({
      ...alert,
      since: this.#alerts.find(({ id }) => id === alert.id)?.since ?? at,
    }));
  }
}

function differ(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) !== JSON.stringify(b);
}
