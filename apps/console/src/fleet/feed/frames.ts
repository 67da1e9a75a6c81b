/**
 * What the gateway's feed says (GET /v1/fleet/feed), frame by frame. The same shapes as in packages/runtime/src/admin/feed/frames.ts, which explains them;
 * a browser test keeps the two together by reading real frames.
 */

export type ReplicaState = "held" | "moving" | "unheld" | "quarantined";

export interface FleetEvent {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly node?: string;
  /** `service/shard/replica`, or a part of it. */
  readonly about?: string;
  readonly text: string;
}

export interface DrainStatus {
  readonly node: string;
  readonly by: string;
  readonly reason: string;
  readonly since: number;
}

export interface PinStatus {
  readonly service: string;
  readonly shard: string;
  readonly replica?: number;
  readonly node: string;
  /** It is a move: it ends on arrival. */
  readonly once: boolean;
  readonly by: string;
  readonly reason: string;
  readonly since: number;
  readonly kept: boolean;
}

export interface NodeReport {
  readonly node: string;
  readonly pid: number;
  readonly uptimeMs: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly inflight: number;
  readonly requests: number;
  readonly refused: number;
  readonly phases: Readonly<Record<string, number>>;
  readonly at: number;
}

export type FeedFrame =
  /** Forget everything: all of it follows. */
  | { readonly kind: "reset"; readonly fleet: string; readonly at: number }
  | FeedChanges
  /** Everything has been told. With the cursor, a reader that lost the connection can go on from here. */
  | { readonly kind: "live"; readonly cursor: string }
  /** How the node is that was asked for; a text says why it did not answer. */
  | { readonly kind: "report"; readonly node: string; readonly report: NodeReport | string };

/** What changed. Parts that did not are left out. */
export interface FeedChanges {
  readonly kind: "changes";
  readonly at: number;
  /** Only after the snapshot. */
  readonly cursor?: string;
  readonly status?: FeedStatus;
  readonly nodes?: readonly FeedNode[];
  /** Node, replicas it holds, replicas it gets ready for, their bytes: what changes most, apart from the rest. */
  readonly counts?: readonly (readonly [node: number, held: number, contending: number, bytes: number])[];
  readonly services?: readonly FeedService[];
  readonly added?: readonly FeedAdded[];
  /** Replicas that there are no more. */
  readonly removed?: readonly number[];
  readonly rows?: FeedRows;
  /** Who gets ready for a replica, all of them; an empty list when nobody does any more. */
  readonly contenders?: readonly (readonly [replica: number, nodes: readonly FeedContender[]])[];
  readonly weights?: FeedWeights;
  readonly lots?: readonly FeedLot[];
  /** All of them, as are the alerts. */
  readonly wishes?: { readonly drains: readonly DrainStatus[]; readonly pins: readonly PinStatus[] };
  readonly alerts?: readonly FeedAlert[];
  /** The oldest first. */
  readonly events?: readonly FleetEvent[];
  /** Events between those of the frame before and these that were left out, because there were too many. */
  readonly eventsLeftOut?: number;
}

export interface FeedStatus {
  readonly storeLive: boolean;
  readonly era?: { readonly era: number; readonly phase: "closed" | "open" };
  readonly protocol?: number;
  readonly manager?: { readonly node: string; readonly since: number };
}

export interface FeedNode {
  readonly i: number;
  readonly node: string;
  readonly address: string;
  readonly zone: string;
  readonly version: string;
  readonly capacity: number;
  readonly startedAt: number;
  /** One that is none still holds something: it is leaving, or was lost. */
  readonly member: boolean;
  readonly drained: boolean;
  readonly manager: boolean;
  /** What its shards say that they carry, where they say it. */
  readonly load?: number;
  readonly bytes?: number;
  readonly budgetBytes?: number;
}

export interface FeedService {
  readonly i: number;
  readonly service: string;
  readonly placement: string;
  readonly view: number;
  readonly members: number;
  readonly shards: number;
  readonly replicas: number;
  /** Replicas by state. */
  readonly states: Readonly<Record<ReplicaState, number>>;
}

/** Replicas that there are from now on, in order: of the first shard all replicas, then of the next. */
interface FeedAdded {
  readonly service: number;
  /** The number of the first. */
  readonly from: number;
  readonly replicas: number;
  /** Ids, or that they are the numbers from `from` on. */
  readonly shards: readonly string[] | { readonly from: number; readonly count: number };
}

export interface FeedRows {
  readonly i: readonly number[];
  /** The number of the node, −1 for nobody. */
  readonly holder: readonly number[];
  /** Where the plan wants it, −1 for nowhere in particular. */
  readonly target: readonly number[];
  /** One letter each. */
  readonly state: string;
  readonly era: readonly number[];
  readonly revision: readonly number[];
  /** Seconds since 1970; 0 when unheld. */
  readonly since: readonly number[];
  readonly strikes: readonly number[];
}

export type FeedContender = readonly [node: number, phase: "preparing" | "ready", progress: number];

/** What replicas carry, where it is known; −1 where not. */
interface FeedWeights {
  readonly i: readonly number[];
  readonly load: readonly number[];
  readonly bytes: readonly number[];
}

/** A replica's auction. */
export interface FeedLot {
  readonly replica: number;
  /** The lot is closed: nothing is to be decided any more. */
  readonly closed?: true;
  readonly round: number;
  readonly bids: readonly { readonly node: string; readonly freeBytes: number }[];
  readonly passes: readonly { readonly node: string; readonly reason: string }[];
  readonly empties: number;
  readonly last?: string;
  readonly award?: { readonly node: string; readonly reason: string };
  readonly move?: { readonly by: string; readonly reason: string };
}

export interface FeedAlert {
  /** Tells one from another for as long as both last. */
  readonly id: string;
  readonly level: "warning" | "error";
  readonly text: string;
  /** What to do about it. */
  readonly advice: string;
  readonly since: number;
}
