import type { Keys, ReplicaKey } from "../identity/keys.ts";
import type { Successor } from "../lifecycle/local.ts";
import type { Known } from "../lifecycle/facts.ts";
import type { Trouble } from "../lifecycle/trouble.ts";
import type { Commit, Guard, Write } from "../store/contract.ts";
import type { OpenEra } from "../tenure/era-machine.ts";
import type { Rules } from "../tenure/rules.ts";
import type { Contender, Primary, Tenure } from "../tenure/tenure.ts";

/**
 * The protocol's commits, each spelled once. A tenure key is written only here: by grant, hand-over, re-stamp and release. Every commit that
 * replaces or deletes a tenure also guards the primary key as it is known, so that no primary is ever left without its tenure.
 */
export class Intents {
  readonly #keys: Keys;
  readonly #rules: Rules;

  constructor(keys: Keys, rules: Rules) {
    this.#keys = keys;
    this.#rules = rules;
  }

  /** Create if absent, never overwrite: the only way from no holder. A strike against the shard rides along. */
  grant(
    replica: ReplicaKey,
    tenure: Tenure,
    era: OpenEra,
    trouble: { key: string; revision: number; value: Trouble } | undefined,
    also: readonly Guard[] = [],
  ): Commit {
    const guards: Guard[] = [...this.#era(era), ...also];
    if (this.#rules.createIfAbsent) guards.push({ key: this.#keys.tenure(replica), revision: 0 });
    const writes: Write[] = [this.#put(this.#keys.tenure(replica), tenure, tenure.session)];
    if (trouble) {
      guards.push({ key: trouble.key, revision: trouble.revision });
      writes.push(this.#put(trouble.key, trouble.value, undefined));
    }
    return { guards, writes };
  }

  /** The holder alone replaces its own tenure with the successor's, in one commit that fails if the successor is gone or has withdrawn. */
  handOver(
    replica: ReplicaKey,
    revision: number,
    tenure: Tenure,
    to: Successor,
    era: OpenEra,
    primary: PrimaryPart | undefined,
  ): Commit {
    const contender = this.#keys.contender(replica, to.node);
    const guards = [...this.#era(era), ...this.#held(replica, revision), ...this.#primaryGuard(primary)];
    if (this.#rules.successorSession) guards.push({ key: contender, revision: to.revision });
    const session = this.#rules.successorSession ? to.session : undefined;
    const writes = [this.#put(this.#keys.tenure(replica), tenure, session), this.#delete(contender)];
    if (primary?.ours) {
      const moved: Primary = { ...primary.ours, node: to.node, session: to.session, address: to.address };
      writes.push(this.#put(primary.key, moved, session));
    }
    return { guards, writes };
  }

  /** Replaces a tenure with itself: a new epoch, and the end of any hand-over still under way. */
  reStamp(
    replica: ReplicaKey,
    revision: number,
    tenure: Tenure,
    era: OpenEra,
    primary: PrimaryPart | undefined,
  ): Commit {
    const writes = [this.#put(this.#keys.tenure(replica), tenure, tenure.session)];
    if (primary?.ours) writes.push(this.#put(primary.key, primary.ours, tenure.session));
    return {
      guards: [...this.#era(era), ...this.#held(replica, revision), ...this.#primaryGuard(primary)],
      writes,
    };
  }

  release(
    replica: ReplicaKey,
    revision: number,
    primary: PrimaryPart | undefined,
    strike: { key: string; revision: number; value: Trouble } | undefined,
  ): Commit {
    const guards = [...this.#held(replica, revision), ...this.#primaryGuard(primary)];
    const writes = [this.#delete(this.#keys.tenure(replica))];
    if (primary?.ours) writes.push(this.#delete(primary.key));
    if (strike) {
      guards.push({ key: strike.key, revision: strike.revision });
      writes.push(this.#put(strike.key, strike.value, undefined));
    }
    return { guards, writes };
  }

  /** Guarded on its own last write and on the tenure it contends for, so that a late one cannot bring a contender back. */
  contend(
    replica: ReplicaKey,
    node: string,
    contender: Contender,
    known: number,
    tenureRevision: number,
  ): Commit {
    const key = this.#keys.contender(replica, node);
    return {
      guards: [
        { key, revision: known },
        { key: this.#keys.tenure(replica), revision: tenureRevision },
      ],
      writes: [this.#put(key, contender, contender.session)],
    };
  }

  withdraw(replica: ReplicaKey, node: string, known: number): Commit {
    const key = this.#keys.contender(replica, node);
    return { guards: [{ key, revision: known }], writes: [this.#delete(key)] };
  }

  promote(
    shard: string,
    primary: Primary,
    replica: ReplicaKey,
    tenureRevision: number,
    era: OpenEra,
  ): Commit {
    const key = this.#keys.primary(shard);
    const guards: Guard[] = [...this.#era(era), { key, revision: 0 }];
    if (this.#rules.primaryGuard) guards.push({ key: this.#keys.tenure(replica), revision: tenureRevision });
    return { guards, writes: [this.#put(key, primary, primary.session)] };
  }

  demote(shard: string, revision: number): Commit {
    const key = this.#keys.primary(shard);
    return { guards: [{ key, revision }], writes: [this.#delete(key)] };
  }

  forgive(shard: string, revision: number): Commit {
    const key = this.#keys.trouble(shard);
    return { guards: [{ key, revision }], writes: [this.#delete(key)] };
  }

  #held(replica: ReplicaKey, revision: number): Guard[] {
    return this.#rules.revisionGuard ? [{ key: this.#keys.tenure(replica), revision }] : [];
  }

  #primaryGuard(primary: PrimaryPart | undefined): Guard[] {
    return primary && this.#rules.primaryGuard ? [{ key: primary.key, revision: primary.revision }] : [];
  }

  #era(era: OpenEra): Guard[] {
    return this.#rules.eraGuard ? [{ key: this.#keys.era, revision: era.revision }] : [];
  }

  #put(key: string, value: object, session: string | undefined): Write {
    return session === undefined
      ? { kind: "put", key, value: JSON.stringify(value) }
      : { kind: "put", key, value: JSON.stringify(value), session };
  }

  #delete(key: string): Write {
    return { kind: "delete", key };
  }
}

/** The primary key of a shard as a commit about one of its replicas sees it. `ours` when that replica is the primary. */
export interface PrimaryPart {
  readonly key: string;
  readonly revision: number;
  readonly ours: Primary | undefined;
}

/** Builds the part for a replica, or undefined for services without primaries. */
export function primaryPart(
  key: string,
  known: Known<Primary> | undefined,
  replica: number,
  session: string,
): PrimaryPart {
  const ours =
    known && known.value.replica === replica && known.value.session === session ? known.value : undefined;
  return { key, revision: known?.revision ?? 0, ours };
}
