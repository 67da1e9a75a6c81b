import type { Epoch } from "../identity/epoch.ts";
import type { ReplicaKey } from "../identity/keys.ts";

/** What a node decided about a replica, a view, an era or itself, and why. `explain` reads these back; metrics, events and checkers are fed from them. */
export interface Decision {
  /** Wall clock, for people. */
  readonly at: number;
  readonly node: string;
  readonly kind: DecisionKind;
  readonly replica?: ReplicaKey;
  readonly epoch?: Epoch;
  readonly reason: string;
}

export type DecisionKind =
  | "contending"
  | "ready"
  | "granted"
  | "adopted"
  | "live"
  | "draining"
  | "handed-over"
  | "re-stamped"
  | "unsure"
  | "released"
  | "lost"
  | "promoted"
  | "demoted"
  | "failed"
  | "refused"
  | "quarantined"
  | "view"
  | "era"
  | "session"
  | "manager"
  /** A round of an auction was won. */
  | "awarded"
  /** An auctioned replica is asked to be moved. */
  | "move"
  /** Replicas found no room anywhere, or do again: the autoscale signal. */
  | "demand"
  | "leaving";

/** The last decisions per replica and of the node itself, bounded on both sides. */
export class DecisionLog {
  readonly #perReplica = new Map<ReplicaKey, Decision[]>();
  readonly #own: Decision[] = [];

  static readonly perReplicaMax = 16;
  static readonly replicasMax = 20_000;
  static readonly ownMax = 256;

  add(decision: Decision): void {
    if (decision.replica === undefined) {
      push(this.#own, decision, DecisionLog.ownMax);
      return;
    }
    let list = this.#perReplica.get(decision.replica);
    if (!list) {
      if (this.#perReplica.size >= DecisionLog.replicasMax) {
        const oldest = this.#perReplica.keys().next();
        if (!oldest.done) this.#perReplica.delete(oldest.value);
      }
      list = [];
      this.#perReplica.set(decision.replica, list);
    }
    push(list, decision, DecisionLog.perReplicaMax);
  }

  of(replica: ReplicaKey): readonly Decision[] {
    return this.#perReplica.get(replica) ?? [];
  }

  own(): readonly Decision[] {
    return this.#own;
  }
}

function push(list: Decision[], decision: Decision, max: number): void {
  if (list.length >= max) list.shift();
  list.push(decision);
}
