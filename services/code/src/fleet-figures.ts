/**
 * What a node's copy of the store tells about the whole fleet of the service: who has how much memory, what is held, what nobody holds and what fits nowhere. Kept up with every
 * change, because counting anew takes time in proportion to the fleet, and the event loop has none to spare. Only reads.
 */
import type { Bidder, Clock, Demand, ImageChange, Tenure, Timer } from "@keelson/kernel";
import { readRecordText, type KeelsonNode } from "@keelson/runtime";
import type { RepositoryCatalogue } from "./catalogue.ts";
import type { Repository } from "./repository.ts";

/** Of many, together. */
export interface Durations {
  readonly sumMs: number;
  readonly count: number;
}

interface Room {
  readonly budgetBytes: number;
  readonly takenBytes: number;
}

/** What others ask of it. */
export interface Figures {
  /** Who can hold something. */
  readonly nodes: readonly string[];
  /** Replicas of active repositories that nobody holds, with since when, on the clock. */
  readonly unclaimed: ReadonlyMap<string, number>;
  /** Active ones are not in it. */
  readonly resting: ReadonlySet<number>;
  /** How often somebody began to hold something, since this node looks. */
  readonly claims: number;
  /** How long repositories were held by nobody before that, for those of which it is known. */
  readonly claimLatency: Durations;
  readonly demand: Demand | undefined;
  /** Of the fleet's memory, the share that is taken. */
  readonly saturation: number;
  /** The most that as many nodes as a repository has replicas have free, each of them. */
  readonly freeBytesMax: number;
}

type Source = Pick<KeelsonNode, "mirror" | "keys">;

/** Changes that are taken in at once: a few milliseconds' worth. A node that has just started is told of all there is. */
const changesPerTurn = 2_000;

export class FleetFigures implements Figures {
  readonly #node: Source;
  readonly #self: string;
  readonly #service: string;
  readonly #catalogue: Pick<RepositoryCatalogue, "get">;
  readonly #replicas: number;
  readonly #clock: Clock;
  readonly #prefixes: { readonly tenure: string; readonly bidder: string; readonly footprint: string };
  /** By the key that a node says it with. */
  readonly #bidders = new Map<string, Bidder>();
  readonly #taken = new Map<string, number>();
  /** By `<shard>/<replica>`: who holds it. */
  readonly #holders = new Map<string, string>();
  /** By shard. */
  readonly #footprints = new Map<string, number>();
  readonly #ends: readonly (() => void)[];
  #told: ImageChange[] = [];
  #next: Timer | undefined;
  readonly unclaimed = new Map<string, number>();
  /** By `<shard>/<replica>`, what this node holds, ready or not, with since when, on the clock. */
  readonly ours = new Map<string, number>();
  readonly resting = new Set<number>();
  claims = 0;
  claimLatency: Durations = { sumMs: 0, count: 0 };

  constructor(options: {
    readonly node: Source;
    /** The name of this node. */
    readonly self: string;
    readonly service: string;
    readonly catalogue: Pick<RepositoryCatalogue, "all" | "get" | "onChange">;
    readonly replicas: number;
    readonly clock: Clock;
  }) {
    const { node, self, service, catalogue, replicas, clock } = options;
    const { keys } = node;
    this.#node = node;
    this.#self = self;
    this.#service = service;
    this.#catalogue = catalogue;
    this.#replicas = replicas;
    this.#clock = clock;
    this.#prefixes = {
      tenure: keys.tenure(`${service}/`),
      bidder: `${keys.auction(service, "bidder")}/`,
      footprint: `${keys.auction(service, "footprint")}/`,
    };
    for (const row of catalogue.all()) this.#repository(row.id, row);
    this.#ends = [
      catalogue.onChange((about) => this.#listChanged(about)),
      node.mirror.subscribe({
        changed: (changes) => this.#storeChanged(changes),
        // What a listing changed is told as changes.
        listed: () => undefined,
      }),
    ];
  }

  stop(): void {
    this.#next?.cancel();
    for (const end of this.#ends) end();
  }

  get nodes(): readonly string[] {
    return Array.from(this.#bidders.values(), ({ node }) => node);
  }

  get demand(): Demand | undefined {
    return demandOf(this.#node, this.#service);
  }

  get saturation(): number {
    let taken = 0;
    let budget = 0;
    for (const each of this.#rooms()) {
      taken += each.takenBytes;
      budget += each.budgetBytes;
    }
    return budget === 0 ? 0 : taken / budget;
  }

  get freeBytesMax(): number {
    const free = Array.from(this.#rooms(), ({ budgetBytes, takenBytes }) => budgetBytes - takenBytes);
    free.sort((a, b) => b - a);
    return Math.max(0, free[this.#replicas - 1] ?? 0);
  }

  *#rooms(): Iterable<Room> {
    for (const { node, budgetBytes } of this.#bidders.values())
      yield { budgetBytes, takenBytes: this.#taken.get(node) ?? 0 };
  }

  #listChanged(about: string): void {
    const [part, id] = about.split("/");
    if (part === "repo") this.#repository(Number(id), this.#catalogue.get(Number(id)));
  }

  #repository(id: number, row: Pick<Repository, "state"> | undefined): void {
    if (row?.state === "resting") this.resting.add(id);
    else this.resting.delete(id);
    for (let replica = 0; replica < this.#replicas; replica++)
      this.#claim(`${id}/${replica}`, row?.state === "active");
  }

  #claim(replica: string, wanted: boolean): void {
    if (!wanted || this.#holders.has(replica)) this.unclaimed.delete(replica);
    else if (!this.unclaimed.has(replica)) this.unclaimed.set(replica, this.#clock.now());
  }

  #storeChanged(changes: readonly ImageChange[]): void {
    for (const change of changes) if (this.#concerns(change.key)) this.#told.push(change);
    if (this.#next === undefined) this.#takeIn();
  }

  #concerns(key: string): boolean {
    const { tenure, bidder, footprint } = this.#prefixes;
    return key.startsWith(tenure) || key.startsWith(footprint) || key.startsWith(bidder);
  }

  #takeIn(): void {
    this.#next = undefined;
    for (const change of this.#told.splice(0, changesPerTurn)) this.#change(change);
    if (this.#told.length > 0) this.#next = this.#clock.after(1, () => this.#takeIn());
  }

  #change({ key, entry }: ImageChange): void {
    const { tenure, footprint } = this.#prefixes;
    if (key.startsWith(tenure)) {
      const replica = key.slice(tenure.length);
      this.#held(replica, entry && (JSON.parse(entry.value) as Tenure).node);
    } else if (key.startsWith(footprint)) {
      const bytes = entry && readRecordText("footprint", entry.value).value?.bytes;
      this.#measured(key.slice(footprint.length), bytes ?? 0);
    } else {
      const bidder = entry && readRecordText("bidder", entry.value).value;
      if (bidder) this.#bidders.set(key, bidder);
      else this.#bidders.delete(key);
    }
  }

  #held(replica: string, node: string | undefined): void {
    const before = this.#holders.get(replica);
    if (before === node) return;
    if (node === this.#self) this.ours.set(replica, this.#clock.now());
    else this.ours.delete(replica);
    const shard = replica.slice(0, replica.lastIndexOf("/"));
    const bytes = this.#footprints.get(shard) ?? 0;
    if (before !== undefined) this.#take(before, -bytes);
    if (node === undefined) this.#holders.delete(replica);
    else {
      this.#take(node, bytes);
      this.#holders.set(replica, node);
      if (before === undefined) this.#claimed(replica);
    }
    this.#claim(replica, this.#catalogue.get(Number(shard))?.state === "active");
  }

  #claimed(replica: string): void {
    this.claims++;
    const since = this.unclaimed.get(replica);
    if (since === undefined) return;
    const { sumMs, count } = this.claimLatency;
    this.claimLatency = { sumMs: sumMs + this.#clock.now() - since, count: count + 1 };
  }

  #measured(shard: string, bytes: number): void {
    const more = bytes - (this.#footprints.get(shard) ?? 0);
    if (bytes === 0) this.#footprints.delete(shard);
    else this.#footprints.set(shard, bytes);
    for (let replica = 0; replica < this.#replicas; replica++) {
      const holder = this.#holders.get(`${shard}/${replica}`);
      if (holder !== undefined) this.#take(holder, more);
    }
  }

  #take(node: string, bytes: number): void {
    const taken = (this.#taken.get(node) ?? 0) + bytes;
    if (taken === 0) this.#taken.delete(node);
    else this.#taken.set(node, taken);
  }
}

/** What fits on no node, as the auctions say; undefined when everything does. */
export function demandOf(node: Source, service: string): Demand | undefined {
  const entry = node.mirror.image.get(node.keys.auction(service, "demand"));
  return entry && readRecordText("demand", entry.value).value;
}

export function tenureOf(node: Source, replica: string): Tenure | undefined {
  const entry = node.mirror.image.get(node.keys.tenure(replica));
  return entry && (JSON.parse(entry.value) as Tenure);
}
