import { parseReplicaKey, shardKey, type ReplicaKey } from "../identity/keys.ts";
import type { Award } from "../auction/records.ts";
import type { Contender, Primary, Tenure } from "../tenure/tenure.ts";
import type { Trouble } from "./trouble.ts";

/** A stored value with the revision to guard on. */
export interface Known<T> {
  readonly value: T;
  readonly revision: number;
}

/** What the store says about one replica, as far as this node knows. */
export interface ReplicaFacts {
  tenure: Known<Tenure> | undefined;
  /** When the present tenure, or its absence, was first seen here. */
  since: number;
  contenders: ReadonlyMap<string, Known<Contender>>;
  /** Under auctions and claims: who shall take it over while it is held. */
  award: Known<Award> | undefined;
  /** Under auctions and claims: revision of the record that every first tenure rewrites; 0 while there is none. */
  round: number;
  /** The last holder was lost, not released, this soon after its grant was seen. */
  lostAfterMs: number | undefined;
  lostBy: string;
}

/** What the store says about a shard as a whole. */
export interface ShardFacts {
  primary: Known<Primary> | undefined;
  primarySince: number;
  trouble: Known<Trouble> | undefined;
  troubleSince: number;
}

/** The node's copy of the store, for hosts that need not keep what it has. */
export interface TenureSource {
  /** What it says of a tenure now. */
  tenure(key: ReplicaKey): Known<Tenure> | undefined;
  /** Who contends for it now; undefined when nobody does. Without this every contender that is told is kept. */
  contenders?(key: ReplicaKey): ReadonlyMap<string, Known<Contender>> | undefined;
  /** From now on the host keeps facts about this replica: it has to be told of every change of its tenure and its contenders. Of others only of those that name its own node. */
  follow?(key: ReplicaKey): void;
}

/** Most replicas have none at most times. */
const NO_CONTENDERS: ReadonlyMap<string, Known<Contender>> = new Map();

/** Everything a host needs to know of the store, by replica and by shard. Fed by the node from its copy of the store. */
export class Facts {
  readonly #source: TenureSource | undefined;
  readonly #replicas = new Map<ReplicaKey, ReplicaFacts>();
  readonly #shards = new Map<string, ShardFacts>();
  readonly #grantedAt = new Map<string, number>();

  /** With a source, only what somebody has asked about is kept: of the rest the copy of the store tells when it is asked for. */
  constructor(source?: TenureSource) {
    this.#source = source;
  }

  /** When a grant to this node was last seen. */
  grantedAt(node: string): number {
    return this.#grantedAt.get(node) ?? -Infinity;
  }

  /** What is known of it, if anything ever was. */
  known(key: ReplicaKey): ReplicaFacts | undefined {
    return this.#replicas.get(key);
  }

  replica(key: ReplicaKey, now: number): ReplicaFacts {
    let facts = this.#replicas.get(key);
    if (!facts) {
      facts = {
        tenure: this.#source?.tenure(key),
        since: now,
        contenders: this.#source?.contenders?.(key) ?? NO_CONTENDERS,
        award: undefined,
        round: 0,
        lostAfterMs: undefined,
        lostBy: "",
      };
      this.#replicas.set(key, facts);
      this.#source?.follow?.(key);
    }
    return facts;
  }

  shard(key: string, now: number): ShardFacts {
    let facts = this.#shards.get(key);
    if (!facts) {
      facts = { primary: undefined, primarySince: now, trouble: undefined, troubleSince: now };
      this.#shards.set(key, facts);
    }
    return facts;
  }

  shardOf(key: ReplicaKey, now: number): ShardFacts {
    const { service, shard } = parseReplicaKey(key);
    return this.shard(shardKey(service, shard), now);
  }

  setGranted(node: string, now: number): void {
    this.#grantedAt.set(node, now);
  }

  /** Returns whether it is kept: with a source, what nobody asked about is not. */
  setTenure(key: ReplicaKey, tenure: Known<Tenure> | undefined, lost: boolean, now: number): boolean {
    if (tenure?.value.how === "grant") this.setGranted(tenure.value.node, now);
    const facts = this.#source ? this.#replicas.get(key) : this.replica(key, now);
    if (!facts) return false;
    if (tenure === undefined && facts.tenure !== undefined) {
      facts.lostAfterMs = lost ? now - facts.since : undefined;
      facts.lostBy = facts.tenure.value.node;
    }
    if (tenure !== undefined) facts.lostAfterMs = undefined;
    facts.tenure = tenure;
    facts.since = now;
    return true;
  }

  /** Returns whether it is kept: where the source knows contenders, what nobody asked about is not. */
  setContender(key: ReplicaKey, node: string, contender: Known<Contender> | undefined, now: number): boolean {
    const facts = this.#source?.contenders ? this.#replicas.get(key) : this.replica(key, now);
    if (!facts) return false;
    const contenders = new Map(facts.contenders);
    if (contender) contenders.set(node, contender);
    else contenders.delete(node);
    facts.contenders = contenders.size > 0 ? contenders : NO_CONTENDERS;
    return true;
  }

  setAward(key: ReplicaKey, award: Known<Award> | undefined, now: number): void {
    this.replica(key, now).award = award;
  }

  setRound(key: ReplicaKey, revision: number, now: number): void {
    this.replica(key, now).round = revision;
  }

  setPrimary(shard: string, primary: Known<Primary> | undefined, now: number): void {
    const facts = this.shard(shard, now);
    facts.primary = primary;
    facts.primarySince = now;
  }

  setTrouble(shard: string, trouble: Known<Trouble> | undefined, now: number): void {
    const facts = this.shard(shard, now);
    facts.trouble = trouble;
    facts.troubleSince = now;
  }
}
