import type { Keys } from "../identity/keys.ts";
import type { Known } from "../lifecycle/facts.ts";
import type { HeldSession } from "../membership/session-machine.ts";
import type { Commit } from "../store/contract.ts";
import type { OpenEra } from "../tenure/era-machine.ts";
import type { Random } from "../time/clock.ts";

/** `fleet/manager`: who runs the controllers. Bound to that node's liveness session. */
export interface ManagerRecord {
  readonly v: 1;
  readonly node: string;
  readonly session: string;
  readonly era: number;
  readonly since: number;
}

/** How long a candidate waits, at most, before it tries: spreads a thousand nodes over half a second. */
const JITTER_MS = 500;
const RETRY_MS = 1_000;

/**
 * Elects the manager: whoever creates the key first. It manages while the key bears its session and the session's deadline lies ahead; and
 * because every write of a controller guards on the key's revision, one that was deposed without knowing can change nothing.
 */
export class Election {
  readonly #keys: Keys;
  readonly #node: string;
  readonly #random: Random;
  readonly #office: string;
  #known: Known<ManagerRecord> | undefined;
  #tryAt: number | undefined;
  #busy = false;

  /** `office` is the key that is stood for: the fleet's manager, unless another is named. */
  constructor(keys: Keys, node: string, random: Random, office = keys.manager) {
    this.#keys = keys;
    this.#node = node;
    this.#random = random;
    this.#office = office;
  }

  get manager(): Known<ManagerRecord> | undefined {
    return this.#known;
  }

  observe(known: Known<ManagerRecord> | undefined): void {
    this.#known = known;
    if (known) this.#tryAt = undefined;
  }

  /** The guard for a controller's writes, while this node is the manager. */
  elected(session: HeldSession | undefined, now: number): { key: string; revision: number } | undefined {
    if (!this.#known || !session || this.#known.value.session !== session.id || !session.fence.passes(now))
      return undefined;
    return { key: this.#office, revision: this.#known.revision };
  }

  /** A commit to send, if it is time to stand for election. */
  tick(
    session: HeldSession | undefined,
    era: OpenEra | undefined,
    wall: number,
    now: number,
  ): Commit | undefined {
    if (this.#known || this.#busy || !session || !era || !session.fence.passes(now)) return undefined;
    this.#tryAt ??= now + JITTER_MS * this.#random();
    if (now < this.#tryAt) return undefined;
    this.#busy = true;
    const value: ManagerRecord = { v: 1, node: this.#node, session: session.id, era: era.era, since: wall };
    return {
      guards: [
        { key: this.#office, revision: 0 },
        { key: this.#keys.era, revision: era.revision },
      ],
      writes: [{ kind: "put", key: this.#office, value: JSON.stringify(value), session: session.id }],
    };
  }

  sent(now: number): void {
    this.#busy = false;
    this.#tryAt = now + RETRY_MS * (0.5 + 0.5 * this.#random());
  }

  /** Gives the office up before leaving. */
  resign(session: HeldSession | undefined): Commit | undefined {
    if (!this.#known || !session || this.#known.value.session !== session.id) return undefined;
    return {
      guards: [{ key: this.#office, revision: this.#known.revision }],
      writes: [{ kind: "delete", key: this.#office }],
    };
  }

  wakeAt(): number {
    return this.#known || this.#busy ? Infinity : (this.#tryAt ?? -Infinity);
  }
}
