import type { ChangeBatch, Commit, Decision, Epoch, ReplicaKey } from "@keelson/kernel";
import type { FaultRecord } from "./faults/fault.ts";
import type { Recovery } from "./store-server.ts";

/**
 * What happens in a run, told to checkers and trace at the instant it happens. Nobody inside the simulated fleet hears of these.
 */
export type SimEvent =
  /** A node recorded a decision. */
  | { readonly kind: "decision"; readonly node: string; readonly decision: Decision }
  /** The service's `activate` was called. */
  | Activation<"activated">
  /** The service's `promote` was called; the replica's shard may now be written under this epoch. */
  | Activation<"promoted">
  /** A request passed the admission check and reached the service. */
  | {
      readonly kind: "admitted";
      readonly node: string;
      readonly replica: ReplicaKey;
      readonly shard: string;
      readonly epoch: Epoch;
      readonly mode: "read" | "write";
    }
  /** The service ended its work on a request, well or not. */
  | { readonly kind: "finished"; readonly node: string; readonly replica: ReplicaKey }
  /** A node may admit more than a moment ago, by something other than becoming live: it was resumed, or a renewal came. */
  | { readonly kind: "regained"; readonly node: string }
  | { readonly kind: "raised"; readonly resource: string; readonly epoch: Epoch }
  /** A resource accepted a write. */
  | {
      readonly kind: "wrote";
      readonly resource: string;
      readonly epoch: Epoch;
      readonly value: number;
      readonly previous: number;
    }
  /** A client accepted an answer. `floor` is the highest value acknowledged to anyone before the request was sent. */
  | {
      readonly kind: "answered";
      readonly client: string;
      readonly shard: string;
      readonly replica: ReplicaKey;
      readonly mode: "read" | "write";
      readonly epoch: Epoch;
      readonly value: number;
      readonly floor: number;
      readonly sentAtMs: number;
    }
  | {
      readonly kind: "request-failed";
      readonly client: string;
      readonly shard: string;
      readonly mode: "read" | "write";
      readonly reason: string;
    }
  /** A node has a commit sent to the store, where it may come late, twice or never. */
  | { readonly kind: "commit-sent"; readonly node: string; readonly commit: Commit }
  | { readonly kind: "store-changed"; readonly batch: ChangeBatch }
  /** The store carried out a commit that was made for another incarnation of it. */
  | {
      readonly kind: "foreign-commit";
      readonly sender: string;
      readonly madeFor: string;
      readonly carriedOutBy: string;
    }
  /** A renewal reached the store long after it was sent, or after its sender's end: the session lives on without its owner. */
  | { readonly kind: "late-renewal"; readonly node: string }
  | { readonly kind: "store-down" }
  | { readonly kind: "store-recovered"; readonly recovery: Recovery }
  | { readonly kind: "fault"; readonly edge: "begin" | "end"; readonly fault: FaultRecord }
  /** A process of a node began or ended; `how` says whether anybody meant it to. */
  | {
      readonly kind: "node";
      readonly node: string;
      readonly how: "start" | "crash" | "left" | "refused-to-start";
    }
  /** A repository is being indexed, has been, or is gone from a node's memory; with what the node then uses. */
  | {
      readonly kind: "memory";
      readonly node: string;
      readonly replica: ReplicaKey;
      readonly what: "building" | "built" | "freed";
      readonly bytes: number;
      readonly usedBytes: number;
      readonly budgetBytes: number;
    }
  /** Nothing has been wrong for long enough that the fleet must have settled. */
  | { readonly kind: "settled" }
  /** A second of virtual time has passed. */
  | { readonly kind: "second" };

interface Activation<Kind extends string> {
  readonly kind: Kind;
  readonly node: string;
  /** Which life of the node's process. */
  readonly life: number;
  readonly replica: ReplicaKey;
  readonly shard: string;
  readonly epoch: Epoch;
}

export type Emit = (event: SimEvent) => void;
