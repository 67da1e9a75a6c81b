/** What the gateway answers to "who holds this shard, since when, and why" (GET /v1/fleet/shards/{service}/{shard}). */
import type { PinStatus } from "./feed/frames.ts";

interface Epoch {
  readonly era: number;
  readonly revision: number;
}

interface Decision {
  readonly at: number;
  readonly node: string;
  readonly kind: string;
  readonly reason: string;
  readonly epoch?: Epoch;
}

export interface ReplicaExplanation {
  readonly replica: number;
  readonly holder?: {
    readonly node: string;
    readonly address: string;
    readonly epoch: Epoch;
    readonly since: number;
    readonly how: "grant" | "hand-over" | "re-stamp";
    readonly reason: string;
    readonly from?: string;
  };
  readonly contenders: readonly {
    readonly node: string;
    readonly phase: string;
    readonly progress: number;
  }[];
  readonly candidates: readonly string[];
  readonly planReason: string;
  readonly auction?: {
    readonly round: number;
    readonly bids: readonly { readonly node: string; readonly freeBytes: number }[];
    readonly passes: readonly { readonly node: string; readonly reason: string }[];
    readonly empties: number;
    readonly last?: string;
    readonly award?: { readonly node: string; readonly reason: string };
    readonly move?: { readonly by: string; readonly reason: string };
  };
  readonly decisions: readonly Decision[];
  readonly pin?: PinStatus;
}

export interface ShardExplanation {
  readonly service: string;
  readonly shard: string;
  readonly placement: string;
  readonly view: number;
  readonly replicas: readonly ReplicaExplanation[];
  readonly primary?: { readonly node: string; readonly replica: number; readonly epoch: Epoch };
  readonly trouble?: { readonly strikes: number; readonly quarantined: boolean; readonly text: string };
}
