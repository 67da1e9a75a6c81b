/**
 * The fleet as this page knows it: what the feed's frames add up to, in columns of numbers, so that 100,000 replicas are a few megabytes and no work for the
 * garbage collector. It only applies frames and answers questions; who asks when is the page's affair.
 */
import type {
  DrainStatus,
  FeedAlert,
  FeedChanges,
  FeedContender,
  FeedLot,
  FeedNode,
  FeedRows,
  FeedService,
  FeedStatus,
  FleetEvent,
  PinStatus,
  ReplicaState,
} from "./frames.ts";
import { Seats } from "./seats.ts";

export interface NodeFacts extends FeedNode {
  readonly held: number;
  readonly contending: number;
  /** Of the shards it holds, as far as they are known. */
  readonly heldBytes: number;
}

export const STATES: readonly ReplicaState[] = ["held", "moving", "unheld", "quarantined"];
const GONE = 4;
/** The holder of a replica of which only the name has been told. */
const UNTOLD = -2;
const LETTERS = "hmuq";
const eventsMax = 500;
const FIRST_ROWS = 1_024;

/** A replica changed hands: both are numbers of nodes, −1 for nobody. */
export interface Move {
  readonly replica: number;
  readonly from: number;
  readonly to: number;
}

export class FleetModel {
  readonly fleet: string;
  status: FeedStatus | undefined;
  readonly nodes: NodeFacts[] = [];
  readonly services: FeedService[] = [];
  drains: readonly DrainStatus[] = [];
  pins: readonly PinStatus[] = [];
  alerts: readonly FeedAlert[] = [];
  /** The latest last. */
  events: FleetEvent[] = [];
  readonly contenders = new Map<number, readonly FeedContender[]>();
  readonly lots = new Map<number, FeedLot>();
  /** Where each replica sits on its node. */
  readonly seats = new Seats();
  /** Since the last `takeMoves`. */
  #moves: Move[] = [];
  /** Whether the feed was asked to tell of replicas. */
  knowsReplicas = false;

  size = 0;
  readonly shards: string[] = [];
  service = new Uint16Array(FIRST_ROWS);
  replica = new Uint8Array(FIRST_ROWS);
  state = new Uint8Array(FIRST_ROWS).fill(GONE);
  holder = new Int32Array(FIRST_ROWS);
  target = new Int32Array(FIRST_ROWS);
  strikes = new Uint16Array(FIRST_ROWS);
  era = new Float64Array(FIRST_ROWS);
  revision = new Float64Array(FIRST_ROWS);
  since = new Float64Array(FIRST_ROWS);
  load = new Float32Array(FIRST_ROWS);
  bytes = new Float64Array(FIRST_ROWS);

  constructor(fleet: string) {
    this.fleet = fleet;
  }

  apply(frame: FeedChanges): void {
    for (const node of frame.nodes ?? []) {
      const { held = 0, contending = 0, heldBytes = 0 } = this.nodes[node.i] ?? {};
      this.nodes[node.i] = { ...node, held, contending, heldBytes };
    }
    for (const [i, held, contending, heldBytes] of frame.counts ?? []) {
      const node = this.nodes[i];
      if (node) this.nodes[i] = { ...node, held, contending, heldBytes };
    }
    for (const service of frame.services ?? []) this.services[service.i] = service;
    for (const added of frame.added ?? []) this.#add(added);
    for (const i of frame.removed ?? []) this.#remove(i);
    if (frame.rows) this.#rows(frame.rows);
    for (const [i, list] of frame.contenders ?? [])
      if (list.length > 0) this.contenders.set(i, list);
      else this.contenders.delete(i);
    const { weights } = frame;
    for (const [at, i] of (weights?.i ?? []).entries()) {
      this.load[i] = weights!.load[at]!;
      this.bytes[i] = weights!.bytes[at]!;
    }
    for (const lot of frame.lots ?? [])
      if (lot.closed === true) this.lots.delete(lot.replica);
      else this.lots.set(lot.replica, lot);
    if (frame.status) this.status = frame.status;
    if (frame.wishes) ({ drains: this.drains, pins: this.pins } = frame.wishes);
    if (frame.alerts) this.alerts = frame.alerts;
    if (frame.events) this.events = [...this.events, ...frame.events].slice(-eventsMax);
  }

  /** What changed hands since this was last asked. */
  takeMoves(): readonly Move[] {
    const moves = this.#moves;
    this.#moves = [];
    return moves;
  }

  stateOf(i: number): ReplicaState {
    return STATES[this.state[i]!] ?? "unheld";
  }

  exists(i: number): boolean {
    return i >= 0 && i < this.size && this.state[i] !== GONE;
  }

  nodeName(i: number): string | undefined {
    return i < 0 ? undefined : this.nodes[i]?.node;
  }

  nodeNumber(node: string): number {
    return this.nodes.findIndex((one) => one?.node === node);
  }

  serviceName(i: number): string {
    return this.services[this.service[i]!]?.service ?? "";
  }

  /** `service/shard`, and the replica where a shard has several. */
  nameOf(i: number): string {
    const several = (this.services[this.service[i]!]?.replicas ?? 1) > 1;
    return `${this.serviceName(i)}/${this.shards[i] ?? ""}${several ? `/${this.replica[i]}` : ""}`;
  }

  /** Numbers of a shard's replicas. */
  replicasOf(service: string, shard: string): number[] {
    const found: number[] = [];
    for (let i = 0; i < this.size; i++)
      if (this.shards[i] === shard && this.exists(i) && this.serviceName(i) === service) found.push(i);
    return found;
  }

  /** In each state, over all services. */
  get totals(): Readonly<Record<ReplicaState, number>> {
    const sum = { held: 0, moving: 0, unheld: 0, quarantined: 0 };
    for (const service of this.services) for (const state of STATES) sum[state] += service.states[state];
    return sum;
  }

  get members(): number {
    return this.nodes.reduce((count, { member }) => count + Number(member), 0);
  }

  #add({ service, from, replicas, shards }: NonNullable<FeedChanges["added"]>[number]): void {
    const count = "count" in shards ? shards.count : shards.length;
    this.#grow(from + count * replicas);
    for (let at = 0; at < count; at++) {
      const id = "count" in shards ? String(shards.from + at) : shards[at]!;
      for (let replica = 0; replica < replicas; replica++) {
        const i = from + at * replicas + replica;
        this.shards[i] = id;
        this.service[i] = service;
        this.replica[i] = replica;
        this.state[i] = 2;
        this.holder[i] = UNTOLD;
        this.target[i] = -1;
        this.load[i] = -1;
        this.bytes[i] = -1;
      }
    }
  }

  #remove(i: number): void {
    this.state[i] = GONE;
    this.seats.leave(i);
    this.contenders.delete(i);
    this.lots.delete(i);
  }

  #rows({ i: indices, holder, target, state, era, revision, since, strikes }: FeedRows): void {
    for (let at = 0; at < indices.length; at++) {
      const i = indices[at]!;
      const from = this.holder[i]!;
      const to = holder[at]!;
      if (from !== to) {
        this.seats.sit(i, to);
        if (from !== UNTOLD) this.#moves.push({ replica: i, from, to });
      }
      this.holder[i] = to;
      this.target[i] = target[at]!;
      this.state[i] = LETTERS.indexOf(state[at]!);
      this.era[i] = era[at]!;
      this.revision[i] = revision[at]!;
      this.since[i] = since[at]!;
      this.strikes[i] = strikes[at]!;
    }
    if (this.#moves.length > MOVES_MAX) this.#moves.splice(0, this.#moves.length - MOVES_MAX);
  }

  #grow(size: number): void {
    this.size = Math.max(this.size, size);
    if (size <= this.state.length) return;
    const room = Math.max(size, this.state.length * 2);
    const larger = <T extends { set(from: T): void }>(made: T, from: T): T => {
      made.set(from);
      return made;
    };
    this.service = larger(new Uint16Array(room), this.service);
    this.replica = larger(new Uint8Array(room), this.replica);
    // Rows that are never told of are gaps of rows that were gone before.
    this.state = larger(new Uint8Array(room).fill(GONE), this.state);
    this.holder = larger(new Int32Array(room), this.holder);
    this.target = larger(new Int32Array(room), this.target);
    this.strikes = larger(new Uint16Array(room), this.strikes);
    this.era = larger(new Float64Array(room), this.era);
    this.revision = larger(new Float64Array(room), this.revision);
    this.since = larger(new Float64Array(room), this.since);
    this.load = larger(new Float32Array(room), this.load);
    this.bytes = larger(new Float64Array(room), this.bytes);
  }
}

/** More moves than anybody can watch. */
const MOVES_MAX = 5_000;
