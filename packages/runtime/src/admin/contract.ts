/**
 * What an operator can see of a fleet and ask of it, as plain data that travels as JSON. A process with a copy of the store answers it itself
 * (LocalAdmin); the gateway serves the same over HTTP, and the command line asks either. Times are wall clocks in milliseconds.
 */
import type { Contender, Epoch, ReplicaExplanation } from "@keelson/kernel";
import type { FeedFrame, FeedQuery } from "./feed/frames.ts";
import type { NodeReport } from "./node-report.ts";

export interface FleetAdmin {
  status(): Promise<FleetStatus>;
  /** In the order of their ids. `reports`: ask each node how it is, too. */
  nodes(options?: { readonly reports?: boolean }): Promise<readonly NodeStatus[]>;
  shards(filter: ShardFilter): Promise<ShardPage>;
  explain(service: string, shard: string): Promise<ShardExplanation>;
  /** What would move, if the fleet were as the query says; with an empty one, what is about to move now. */
  forecast(query: ForecastQuery): Promise<readonly ServiceForecast[]>;
  /** What happened since the cursor. With `waitMs`, waits that long for something to happen. */
  events(query: EventQuery): Promise<EventPage>;
  /** The fleet, live: everything, then what changes, until the signal is aborted. Only where the admin has a copy of the store itself. */
  feed?(query: FeedQuery, signal: AbortSignal): AsyncIterable<FeedFrame>;
  doctor(): Promise<readonly Finding[]>;
  drain(node: string, wish: Wisher): Promise<ActionDone>;
  undrain(node: string): Promise<ActionDone>;
  pin(pin: PinRequest, wish: Wisher): Promise<ActionDone>;
  unpin(pin: Omit<PinRequest, "node">): Promise<ActionDone>;
  /** Moves a replica once. Without a node, where the placement chooses: only auctions can. */
  move(move: MoveOrder, wish: Wisher): Promise<ActionDone>;
  /** Ends a quarantine: what is held against the shard is forgotten. */
  retry(service: string, shard: string): Promise<ActionDone>;
}

export interface FleetStatus {
  readonly fleet: string;
  readonly at: number;
  readonly store: {
    /** The copy is being kept up to date. While it is not, all else is what was last known. */
    readonly live: boolean;
    readonly revision: number;
    readonly incarnation: string | undefined;
    readonly keys: number;
  };
  readonly era: { readonly era: number; readonly phase: "closed" | "open" } | undefined;
  readonly protocol: number | undefined;
  readonly manager: { readonly node: string; readonly since: number } | undefined;
  readonly members: number;
  readonly services: readonly ServiceStatus[];
  readonly drains: readonly DrainStatus[];
  readonly pins: readonly PinStatus[];
}

export interface ServiceStatus {
  readonly service: string;
  readonly placement: string;
  readonly view: number;
  readonly members: number;
  readonly shards: number;
  readonly replicas: number;
  /** Replicas in all, and how many of them are held. */
  readonly wanted: number;
  readonly held: number;
  /** Replicas whose holder is not the one that the plan names first. */
  readonly misplaced: number;
  /** Nodes getting ready for a replica. */
  readonly contenders: number;
  /** Shards with strikes against them, and those that are left alone for it. */
  readonly troubled: number;
  readonly quarantined: number;
}

export interface DrainStatus {
  readonly node: string;
  readonly by: string;
  readonly reason: string;
  readonly since: number;
  /** Replicas that it still holds. */
  readonly held: number;
}

export interface PinStatus {
  readonly service: string;
  readonly shard: string;
  readonly replica: number | undefined;
  readonly node: string;
  /** It is a move: it ends on arrival. */
  readonly once: boolean;
  readonly by: string;
  readonly reason: string;
  readonly since: number;
  /** Whether the node has it. */
  readonly kept: boolean;
}

export interface NodeStatus {
  readonly node: string;
  readonly address: string;
  readonly zone: string;
  readonly version: string;
  readonly protocol: { readonly min: number; readonly max: number };
  readonly capacity: number;
  readonly startedAt: number;
  readonly manager: boolean;
  /** An operator wants it to hold nothing. */
  readonly drained: boolean;
  /** It is a member. One that still holds something and is none is leaving, or was lost. */
  readonly member: boolean;
  readonly held: number;
  readonly contending: number;
  readonly services: Readonly<Record<string, number>>;
  /** What it says of itself; a text says why it could not be asked. Only when reports were asked for. */
  readonly report?: NodeReport | string;
}

export interface ShardFilter {
  readonly service?: string | undefined;
  readonly node?: string | undefined;
  readonly state?: ReplicaState | undefined;
  /** From here on, as the page before said. */
  readonly after?: string | undefined;
  readonly limit?: number | undefined;
}

export const REPLICA_STATES = ["held", "moving", "unheld", "quarantined"] as const;
/** `moving`: held, and another node is getting ready for it or shall have it. */
export type ReplicaState = (typeof REPLICA_STATES)[number];

export interface ReplicaStatus {
  readonly service: string;
  readonly shard: string;
  readonly replica: number;
  readonly state: ReplicaState;
  readonly node: string | undefined;
  readonly epoch: Epoch | undefined;
  readonly since: number | undefined;
  /** Where the plan wants it. */
  readonly target: string | undefined;
  readonly contenders: readonly { readonly node: string; readonly phase: Contender["phase"] }[];
  readonly strikes: number;
}

export interface ShardPage {
  readonly replicas: readonly ReplicaStatus[];
  /** Ask again with this as `after`; undefined at the end. */
  readonly next: string | undefined;
}

/** Everything that is known of one shard. */
export interface ShardExplanation {
  readonly service: string;
  readonly shard: string;
  readonly placement: string;
  readonly view: number;
  /** Decisions as far as nodes could be asked. */
  readonly replicas: readonly (ReplicaExplanation & { readonly pin?: PinStatus })[];
  readonly primary?: { readonly node: string; readonly replica: number; readonly epoch: Epoch };
  readonly trouble?: { readonly strikes: number; readonly quarantined: boolean; readonly text: string };
}

export interface ForecastQuery {
  readonly service?: string | undefined;
  /** Nodes that leave. */
  readonly without?: readonly string[] | undefined;
  /** Nodes that join, with the zone and the weight of an ordinary node. */
  readonly joining?: readonly string[] | undefined;
}

export interface ServiceForecast {
  readonly service: string;
  readonly placement: string;
  readonly view: number;
  readonly replicas: number;
  readonly moves: readonly {
    readonly replica: string;
    readonly from: string | undefined;
    readonly to: string | undefined;
    readonly reason: string;
  }[];
  /** All of them; the list is cut. */
  readonly movesTotal: number;
  readonly nodes: readonly { readonly node: string; readonly before: number; readonly after: number }[];
  /** Why there is no forecast, or what it cannot know. */
  readonly note?: string;
}

export interface EventQuery {
  /** Where the page before ended. Without it: from the last few events. */
  readonly after?: string | undefined;
  readonly waitMs?: number | undefined;
  readonly limit?: number | undefined;
}

export interface EventPage {
  readonly events: readonly FleetEvent[];
  readonly cursor: string;
  /** Events between the cursor and the first of these are gone. */
  readonly missed: boolean;
}

export interface FleetEvent {
  readonly seq: number;
  /** When it was seen here. */
  readonly at: number;
  readonly kind: FleetEventKind;
  readonly node?: string;
  /** `service/shard/replica`, or a part of it. */
  readonly about?: string;
  readonly text: string;
}

export type FleetEventKind =
  | "joined"
  | "left"
  | "lost"
  | "changed"
  | "view"
  | "plan"
  | "granted"
  | "handed-over"
  | "re-stamped"
  | "released"
  | "ready"
  | "trouble"
  | "cleared"
  | "manager"
  | "era"
  | "operator";

export interface Finding {
  readonly level: "ok" | "warning" | "error";
  readonly check: "store" | "clock" | "era" | "versions" | "manager" | "nodes" | "shards" | "wishes";
  readonly says: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** Who wants something, and why; kept with the wish for others to read. */
export interface Wisher {
  readonly by: string;
  readonly reason: string;
}

export interface PinRequest {
  readonly service: string;
  readonly shard: string;
  /** Left out: any one replica of the shard. */
  readonly replica?: number | undefined;
  readonly node: string;
}

export interface MoveOrder {
  readonly service: string;
  readonly shard: string;
  readonly replica?: number | undefined;
  readonly node?: string | undefined;
}

export interface ActionDone {
  /** What was done, in one sentence. */
  readonly done: string;
  /** It was so already: nothing was written. */
  readonly already: boolean;
  /** The wish as it was and as it is, for audits; null where there is none. Left out when nothing was written. */
  readonly change?: { readonly before: unknown; readonly after: unknown };
}
