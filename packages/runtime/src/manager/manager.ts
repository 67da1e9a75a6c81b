import type { Clock, Controller, Election, HeldSession, KeyKind, Keys, OpenEra } from "@keelson/kernel";
import type { Committer } from "../commits/committer.ts";
import type { Mirror } from "../mirror/mirror.ts";

export interface ManagerPorts {
  readonly clock: Clock;
  readonly keys: Keys;
  readonly mirror: Mirror;
  readonly committer: Committer;
  readonly election: Election;
  readonly controllers: readonly Controller[];
  readonly decided: (reason: string) => void;
  readonly changed: () => void;
}

/** Runs the fleet's controllers while this node is elected, one after another, each write guarded so that a deposed manager changes nothing. */
export class Manager {
  readonly #ports: ManagerPorts;
  readonly #dueAt = new Map<string, number>();
  #session: HeldSession | undefined;
  #era: OpenEra | undefined;
  #stopped = false;

  constructor(ports: ManagerPorts) {
    this.#ports = ports;
  }

  /** Keys of this kind changed. */
  noticed(kind: KeyKind): void {
    const now = this.#ports.clock.now();
    for (const controller of this.#ports.controllers) {
      if (!controller.kinds.includes(kind)) continue;
      const due = this.#dueAt.get(controller.name) ?? Infinity;
      this.#dueAt.set(controller.name, Math.min(due, now + controller.debounceMs));
    }
  }

  /** Stands for election when there is no manager, and runs what is due when this node is it. */
  tick(session: HeldSession | undefined, era: OpenEra | undefined, leaving: boolean): void {
    if (this.#stopped) return;
    this.#session = session;
    this.#era = era;
    const { clock, election, committer, decided } = this.#ports;
    const now = clock.now();
    const candidacy = leaving ? undefined : election.tick(session, era, clock.wall(), now);
    if (candidacy) {
      committer.alone(candidacy, (report) => {
        election.sent(clock.now());
        if (report === "committed") decided("elected");
        this.#ports.changed();
      });
    }
    this.#run(now);
  }

  resign(session: HeldSession | undefined): void {
    const commit = this.#ports.election.resign(session);
    if (commit) this.#ports.committer.alone(commit, (report) => this.#ports.decided(`resigned (${report})`));
  }

  stop(): void {
    this.#stopped = true;
  }

  wakeAt(): number {
    const { election, clock } = this.#ports;
    let at = election.wakeAt();
    if (election.elected(this.#session, clock.now()))
      for (const due of this.#dueAt.values()) at = Math.min(at, due);
    return at;
  }

  #run(now: number): void {
    const { election, controllers, mirror, keys, committer, decided } = this.#ports;
    const guard = election.elected(this.#session, now);
    if (!guard || !this.#era) return;
    const eraGuard = { key: keys.era, revision: this.#era.revision };
    const { image } = mirror;
    for (const controller of controllers) {
      if ((this.#dueAt.get(controller.name) ?? -Infinity) > now) continue;
      this.#dueAt.set(controller.name, now + controller.periodMs);
      const input = { keys, now, get: (key: string) => image.get(key), entries: () => image.entries() };
      for (const { commit, reason } of controller.reconcile(input)) {
        committer.alone({ guards: [...commit.guards, guard, eraGuard], writes: commit.writes }, (report) =>
          decided(`${controller.name}: ${reason} (${report})`),
        );
      }
    }
  }
}
