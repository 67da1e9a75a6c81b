import { NO_EPOCH, type Epoch } from "../identity/epoch.ts";
import { parseReplicaKey, type ReplicaId, type ReplicaKey } from "../identity/keys.ts";
import type { Plan, PlanLine } from "../placement/plan.ts";
import type { Fence } from "../tenure/fence.ts";

/** How far a tenure of ours has come. The table is in docs/design/protocol.md, section 7. Only `live` admits. */
export type HoldPhase =
  | "waiting"
  | "activating"
  | "live"
  | "draining"
  | "moving"
  | "unsure"
  | "restamping"
  | "releasing";

/** On its way to another node. */
export function isMoving(phase: HoldPhase): boolean {
  return phase === "draining" || phase === "moving" || phase === "unsure";
}

/** A tenure that this node adopted and has not yet lost, handed over or released. */
export interface Hold {
  readonly epoch: Epoch;
  readonly fence: Fence;
  readonly adoptedAt: number;
  phase: HoldPhase;
  /** Since when it has been in this phase. */
  since: number;
  /** To whom it is being handed over. */
  to: Successor | undefined;
  /** Commits sent in this phase, for back-off. */
  tries: number;
  /** A commit is out, or a hook of the service is running: do nothing until its outcome is known. */
  busy: boolean;
  retryAt: number;
  /** The release that ends this hold adds a strike with this message. */
  strike: string | undefined;
  primary: HeldPrimary | undefined;
}

export interface Successor {
  readonly node: string;
  readonly session: string;
  readonly boot: string;
  readonly address: string;
  /** Revision of its contender key. */
  readonly revision: number;
}

export interface HeldPrimary {
  readonly epoch: Epoch;
  phase: "promoting" | "primary" | "giving-up";
}

/** One replica on this node: what is built, what is open, what is held. */
export interface Local {
  readonly key: ReplicaKey;
  readonly id: ReplicaId;
  readonly shardKey: string;
  /** The plan it was last looked up in, and its line there. */
  plan: Plan | undefined;
  planned: PlanLine | undefined;
  data: "none" | "preparing" | "cancelling" | "prepared";
  shard: "none" | "open" | "closing";
  progress: number;
  hold: Hold | undefined;
  lastAdopted: Epoch;
  lastPrimary: Epoch;
  /** Failures in a row here, and until when this node keeps its hands off. */
  failures: number;
  retryAt: number;
  /** Not before this is another grant, contender write or clean-up sent, after so many that did not succeed. */
  commitRetryAt: number;
  commitFailures: number;
  /** A grant, a contender write or a clean-up is out. */
  granting: boolean;
  /** A grant that was sent and not refused, with the session it is for and the round it is guarded by: it may yet land. */
  sentGrant: { readonly session: string; readonly round: number } | undefined;
  contending: boolean;
  cleaning: boolean;
  promoting: boolean;
  promoteRetryAt: number;
  /** The quarantine that was last told of, by when its record was seen. */
  quarantinedAt: number | undefined;
  /** Set only with the adoption rule broken: does not notice grants that landed late. */
  deaf: boolean;
}

export function newLocal(key: ReplicaKey): Local {
  const id = parseReplicaKey(key);
  return {
    key,
    id,
    shardKey: key.slice(0, key.lastIndexOf("/")),
    plan: undefined,
    planned: undefined,
    data: "none",
    shard: "none",
    progress: 0,
    hold: undefined,
    lastAdopted: NO_EPOCH,
    lastPrimary: NO_EPOCH,
    failures: 0,
    retryAt: -Infinity,
    commitRetryAt: -Infinity,
    commitFailures: 0,
    granting: false,
    sentGrant: undefined,
    contending: false,
    cleaning: false,
    promoting: false,
    promoteRetryAt: -Infinity,
    quarantinedAt: undefined,
    deaf: false,
  };
}
