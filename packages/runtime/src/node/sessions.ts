import type { SessionMachine } from "@keelson/kernel";
import {
  type Clock,
  type HeldSession,
  type SessionAction,
  type SessionRole,
  type Store,
  type Terms,
} from "@keelson/kernel";
import type { Mirror } from "../mirror/mirror.ts";

export interface SessionPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly mirror: Mirror;
  readonly terms: Terms;
  /** A session came or went. */
  readonly changed: (lost: readonly HeldSession[]) => void;
}

/** Opens, renews and revokes a node's sessions as the session machine decides. */
export class Sessions {
  readonly machine: SessionMachine;
  readonly #ports: SessionPorts;
  #stopped = false;

  constructor(machine: SessionMachine, ports: SessionPorts) {
    this.machine = machine;
    this.#ports = ports;
  }

  /** The liveness session, unless it is being replaced. */
  get liveness(): HeldSession | undefined {
    const session = this.machine.liveness;
    return session?.id === "" ? undefined : session;
  }

  tick(): void {
    if (!this.#stopped) this.act(this.machine.tick(this.#ports.clock.now()));
  }

  act(actions: readonly SessionAction[]): void {
    for (const action of actions) {
      if (action.kind === "open") void this.#open(action.role, action.era);
      else if (action.kind === "renew") void this.#renew(action.sessions);
      else void this.revoke(action.session);
    }
  }

  abandon(): void {
    this.#stopped = true;
  }

  /** Tries to end a session; if that fails it ends by itself within its TTL. */
  async revoke(session: string): Promise<void> {
    const { store, terms } = this.#ports;
    try {
      await store.revoke(session, { timeoutMs: terms.commitTimeoutMs });
    } catch {
      // Expiry does the same a little later; nothing depends on this call.
    }
  }

  async #open(role: SessionRole, era: number): Promise<void> {
    const { store, clock, mirror, terms } = this.#ports;
    const sentAt = clock.now();
    try {
      const opened = await store.openSession(terms.ttlMs, { timeoutMs: terms.commitTimeoutMs });
      if (this.#stopped) return;
      if (opened.incarnation !== mirror.image.incarnation) {
        this.machine.openFailed(role, clock.now());
        mirror.distrust();
        void this.revoke(opened.session);
      } else this.act(this.machine.opened(role, opened.session, era, opened.ttlMs, sentAt, clock.now()));
    } catch {
      if (this.#stopped) return;
      this.machine.openFailed(role, clock.now());
    }
    this.#ports.changed([]);
  }

  async #renew(sessions: readonly string[]): Promise<void> {
    const { store, clock, mirror, terms } = this.#ports;
    const sentAt = clock.now();
    const knownBefore = mirror.image.revision;
    try {
      const renewal = await store.renew(sessions, { timeoutMs: terms.renewTimeoutMs });
      if (this.#stopped) return;
      const known = renewal.incarnation === mirror.image.incarnation;
      const counts = known && mirror.live;
      const lost = this.machine.renewed(renewal.alive, renewal.gone, sentAt, clock.now(), counts);
      if (!known) mirror.distrust();
      else mirror.notice(renewal.revision, knownBefore);
      this.#ports.changed(lost);
    } catch {
      if (this.#stopped) return;
      this.machine.renewFailed(clock.now());
      this.#ports.changed([]);
    }
  }
}
