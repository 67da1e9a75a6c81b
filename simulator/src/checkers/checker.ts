import type { Entry, Placement, Plan, ReplicaKey, ServiceParameters, Terms, View } from "@keelson/kernel";
import type { AuctionWorld } from "../auction/world.ts";
import type { ShardLoads } from "../balance/loads.ts";
import type { SimEvent } from "../events.ts";
import type { Ledger } from "../ledger.ts";
import type { Resources } from "../resource.ts";

/** A promise that was broken. */
export interface Violation {
  readonly checker: string;
  /** True time, in milliseconds from the beginning of the run. */
  readonly atMs: number;
  /** The replica, shard, resource or node it is about. */
  readonly subject: string;
  readonly text: string;
}

/** A node as a checker sees it: from outside, at any instant, with no effect on it. */
export interface NodeProbe {
  readonly name: string;
  /** Its process exists; it may be paused. */
  readonly up: boolean;
  readonly paused: boolean;
  /** Would the admission check pass right now? */
  check(replica: ReplicaKey): boolean;
  checkWrite(shard: string): boolean;
  held(): Iterable<{ readonly replica: ReplicaKey; readonly phase: string }>;
}

/** What checkers may look at. */
export interface Scene {
  now(): number;
  readonly nodes: readonly NodeProbe[];
  readonly ledger: Ledger;
  readonly resources: Resources;
  readonly terms: Terms;
  readonly service: {
    readonly name: string;
    readonly parameters: ServiceParameters;
    readonly placement: Placement;
    /** What the placement says for a view, and what is stored of its plans at this instant. */
    plan(view: View): Plan;
    /** Every replica of the service, in order. */
    readonly replicas: readonly ReplicaKey[];
    /** The longest a prepare and an activation take together, when nothing is wrong. */
    readonly openMsMax: number;
  };
  /** The repositories and what nodes' memory really holds, where these are auctioned or claimed. */
  readonly auction?: AuctionWorld;
  /** What each shard really carries, where placement goes by load. */
  readonly loads?: ShardLoads;
  /** Everything the store has, at this instant. */
  entries(): Iterable<Entry>;
  /** How many sessions were opened at the store so far; the id of session number 7 is `s7`. */
  sessionsOpened(): number;
  /** The greatest relative difference between two clock rates. */
  readonly driftMax: number;
  /** Runs at this instant, after everything that is under way at it. */
  soon(run: () => void): void;
  report(checker: string, subject: string, text: string): void;
}

/** Watches a run for one kind of broken promise. A checker changes nothing, and a run without it goes the same way. */
export interface Checker {
  readonly name: string;
  /** The kinds of event it is told of. */
  readonly hears: readonly SimEvent["kind"][];
  on(event: SimEvent): void;
}
