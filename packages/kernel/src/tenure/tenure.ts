/** Records that say who holds what. The shape of `tenure/…`, `primary/…`, `contender/…` and `fleet/era`. */

/** One node's ownership of one replica. Its epoch is (era, revision of the key's last write). */
export interface Tenure {
  readonly v: 1;
  readonly node: string;
  readonly boot: string;
  /** The liveness session it is bound to. */
  readonly session: string;
  readonly era: number;
  readonly address: string;
  /** How it came to be. */
  readonly how: "grant" | "hand-over" | "re-stamp";
  /** Why this node, for `explain`. */
  readonly reason: string;
  /** Who held it before, when it was handed over. */
  readonly from?: string;
  /** Wall clock of the writer, for people. */
  readonly since: number;
}

/** The replica that may write what its shard shares. Its write epoch is (era, revision of this key). */
export interface Primary {
  readonly v: 1;
  readonly node: string;
  readonly replica: number;
  readonly session: string;
  readonly era: number;
  readonly address: string;
}

/** A node that is getting ready to hold a replica. */
export interface Contender {
  readonly v: 1;
  readonly phase: "preparing" | "ready";
  /** 0 to 1. */
  readonly progress: number;
  readonly boot: string;
  readonly session: string;
  readonly address: string;
}

/** `fleet/era`: which incarnation of the store the current epochs belong to. Nothing is granted while it is closed. */
export interface EraRecord {
  readonly v: 1;
  readonly era: number;
  readonly incarnation: string;
  readonly phase: "closed" | "open";
  readonly by: string;
  /** The longest TTL of any session in the fleet: how long a closed era waits. */
  readonly ttlMsMax: number;
}
