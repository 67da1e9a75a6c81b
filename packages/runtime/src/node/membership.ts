import {
  firstActive,
  mayJoin,
  type Clock,
  type Entry,
  type HeldSession,
  type Keys,
  type Member,
  type OpenEra,
  type ProtocolRecord,
  type Terms,
} from "@keelson/kernel";
import { formatWall } from "../clock/system.ts";
import type { Committer } from "../commits/committer.ts";
import { KeelsonError } from "../errors.ts";
import type { Mirror } from "../mirror/mirror.ts";

export interface MembershipPorts {
  readonly clock: Clock;
  readonly keys: Keys;
  readonly mirror: Mirror;
  readonly committer: Committer;
  readonly terms: Terms;
  readonly changed: () => void;
  /** This node can never join as it is. */
  readonly fatal: (error: KeelsonError) => void;
}

/** What a member says of itself, less what changes with its sessions. */
export type Profile = Omit<Member, "liveness" | "membership">;

/** How long beyond a TTL another process's member key may outlive our start before it must be a living twin. */
const TWIN_GRACE_MS = 1_000;

/**
 * Keeps `member/<node>` written while this node is a member. The key is created only where none is, or over our own: two processes with one
 * id cannot both be members, and the second is told so.
 */
export class Membership {
  readonly #ports: MembershipPorts;
  readonly #key: string;
  /** What the node was told to be; what its key says differs from it while an operator wants it drained. */
  #declared: Profile;
  #profile: Profile;
  #drained = false;
  #busy = false;
  #retryAt = -Infinity;
  #twinSince: number | undefined;
  #agreed: { entry: Entry; profile: Profile; liveness: string; membership: string } | undefined;

  constructor(profile: Profile, ports: MembershipPorts) {
    this.#declared = profile;
    this.#profile = profile;
    this.#ports = ports;
    this.#key = ports.keys.member(profile.node);
  }

  get profile(): Profile {
    return this.#profile;
  }

  /** Changes what the member key says, e.g. the capacity, at run time. */
  update(change: Partial<Pick<Profile, "capacity" | "labels" | "zone">>): void {
    this.#declared = { ...this.#declared, ...change };
    this.#say();
  }

  /** Whether an operator wants this node to hold nothing: then it says that it has no capacity, and plans give what it holds to others. */
  setDrained(drained: boolean): void {
    if (this.#drained === drained) return;
    this.#drained = drained;
    this.#say();
  }

  /** Our member key as the copy shows it. */
  joined(membership: HeldSession | undefined): boolean {
    const member = this.#read();
    return (
      membership !== undefined && member?.boot === this.#profile.boot && member.membership === membership.id
    );
  }

  tick(
    liveness: HeldSession | undefined,
    membership: HeldSession | undefined,
    era: OpenEra | undefined,
  ): void {
    const { clock, keys, mirror, committer } = this.#ports;
    const now = clock.now();
    if (!liveness || !membership || !era || this.#busy || now < this.#retryAt) return;
    const key = this.#key;
    const entry = mirror.image.get(key);
    if (entry !== undefined && this.#agrees(entry, liveness, membership)) return;
    const known = this.#read();
    if (known && known.boot !== this.#profile.boot) {
      this.#meetTwin(known, now);
      return;
    }
    this.#twinSince = undefined;
    const value = JSON.stringify({
      ...this.#profile,
      liveness: liveness.id,
      membership: membership.id,
    } satisfies Member);
    if (entry?.value === value && entry.session === membership.id) {
      this.#agreed = { entry, profile: this.#profile, liveness: liveness.id, membership: membership.id };
      return;
    }
    const protocol = mirror.image.get(keys.protocol);
    if (!this.#speaks(protocol?.value)) return;
    const first: ProtocolRecord = { v: 1, active: firstActive(this.#profile.protocol) };
    this.#busy = true;
    committer.alone(
      {
        guards: [
          { key, revision: entry?.revision ?? 0 },
          { key: keys.protocol, revision: protocol?.revision ?? 0 },
        ],
        writes: [
          { kind: "put", key, value, session: membership.id },
          ...(protocol ? [] : [{ kind: "put" as const, key: keys.protocol, value: JSON.stringify(first) }]),
        ],
      },
      (report) => {
        this.#busy = false;
        if (report !== "committed") this.#retryAt = clock.now() + this.#ports.terms.renewRetryMs / 4;
        this.#ports.changed();
      },
    );
  }

  wakeAt(): number {
    if (this.#twinSince !== undefined) return this.#twinSince + this.#ports.terms.ttlMsMax + TWIN_GRACE_MS;
    return this.#busy ? Infinity : this.#retryAt;
  }

  /** Whether that very entry was already found to say what it should: the loop asks every time it runs. */
  #agrees(entry: Entry, liveness: HeldSession, membership: HeldSession): boolean {
    const agreed = this.#agreed;
    return (
      agreed?.entry === entry &&
      agreed.profile === this.#profile &&
      agreed.liveness === liveness.id &&
      agreed.membership === membership.id
    );
  }

  #say(): void {
    this.#profile = this.#drained ? { ...this.#declared, capacity: 0 } : this.#declared;
    this.#ports.changed();
  }

  #meetTwin(twin: Member, now: number): void {
    this.#twinSince ??= now;
    if (now < this.wakeAt()) return;
    this.#ports.fatal(
      new KeelsonError(
        "NODE_ID_IN_USE",
        `node id ${twin.node} is in use by a running process at ${twin.address} (since ${formatWall(twin.startedAt)}): stop it, or start this one with another id`,
      ),
    );
  }

  #speaks(text: string | undefined): boolean {
    if (text === undefined) return true;
    const { active, next } = JSON.parse(text) as ProtocolRecord;
    for (const version of next === undefined ? [active] : [active, next]) {
      const verdict = mayJoin(version, this.#profile.protocol);
      if (verdict.kind === "welcome") continue;
      this.#ports.fatal(new KeelsonError("PROTOCOL_MISMATCH", verdict.problem));
      return false;
    }
    return true;
  }

  #read(): Member | undefined {
    const entry = this.#ports.mirror.image.get(this.#key);
    return entry && (JSON.parse(entry.value) as Member);
  }
}
