import type {
  Clock,
  Controller,
  ControllerInput,
  Election,
  Guard,
  HeldSession,
  KeyKind,
  Keys,
  OpenEra,
  Proposal,
} from "@keelson/kernel";
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

/** After a run that took long a controller rests for this many times as long: managing is not to take more than a tenth of a node. */
const RESTS = 9;

/**
 * Runs the fleet's controllers while this node is elected, one after another, each write guarded so that a deposed manager changes nothing. On other nodes
 * they only watch.
 */
export class Manager {
  readonly #ports: ManagerPorts;
  readonly #dueAt = new Map<string, number>();
  readonly #restsUntil = new Map<string, number>();
  /** Commits under way, by controller: what it proposed last is not looked at again before it is known what became of it. */
  readonly #out = new Map<string, number>();
  #session: HeldSession | undefined;
  #era: OpenEra | undefined;
  #elected = false;
  #stopped = false;

  constructor(ports: ManagerPorts) {
    this.#ports = ports;
  }

  /** Keys of this kind changed. Returns whether a controller that runs here has become due earlier than it was. */
  noticed(kind: KeyKind): boolean {
    const { controllers, clock } = this.#ports;
    let sooner = false;
    for (const controller of controllers) {
      // Who is elected looks at everything at once, whatever was noticed before.
      if (!(this.#elected || controller.observe) || !controller.kinds.includes(kind)) continue;
      const due = this.#dueAt.get(controller.name) ?? Infinity;
      const at = clock.now() + controller.debounceMs;
      if (at >= due) continue;
      this.#dueAt.set(controller.name, at);
      sooner = true;
    }
    return sooner;
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
    const { election, clock, controllers } = this.#ports;
    let at = election.wakeAt();
    const elected = election.elected(this.#session, clock.now()) !== undefined;
    for (const controller of controllers)
      if (elected || controller.observe) at = Math.min(at, this.#due(controller));
    return at;
  }

  /** What controllers see. */
  input(): ControllerInput {
    const { mirror, keys, clock } = this.#ports;
    const { image } = mirror;
    return { keys, now: clock.now(), get: (key) => image.get(key), entries: () => image.entries() };
  }

  #due(controller: Controller): number {
    if ((this.#out.get(controller.name) ?? 0) > 0) return Infinity;
    const due = this.#dueAt.get(controller.name) ?? -Infinity;
    return Math.max(
      Math.min(due, controller.wakeAt?.() ?? Infinity),
      this.#restsUntil.get(controller.name) ?? -Infinity,
    );
  }

  #run(now: number): void {
    const { election, controllers, keys } = this.#ports;
    const guard = election.elected(this.#session, now);
    const guards = guard && this.#era && [guard, { key: keys.era, revision: this.#era.revision }];
    // Who has just been elected looks at everything at once: nobody may have for a while.
    if (guards && !this.#elected) this.#dueAt.clear();
    this.#elected = guards !== undefined;
    for (const controller of controllers) {
      if ((!guards && !controller.observe) || this.#due(controller) > now) continue;
      this.#dueAt.set(controller.name, now + controller.periodMs);
      if (guards) this.#reconcile(controller, guards);
      else controller.observe!(this.input());
    }
  }

  #reconcile(controller: Controller, guards: readonly Guard[]): void {
    const { clock, committer, decided, changed } = this.#ports;
    const { name } = controller;
    const began = clock.now();
    let proposals: readonly Proposal[] = [];
    try {
      proposals = controller.reconcile(this.input());
    } catch (error) {
      // The fleet goes on with what is stored; whoever manages next may do better.
      decided(`${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#restsUntil.set(name, clock.now() + RESTS * (clock.now() - began));
    for (const { commit, reason } of proposals) {
      this.#out.set(name, (this.#out.get(name) ?? 0) + 1);
      committer.alone({ guards: [...commit.guards, ...guards], writes: commit.writes }, (report) => {
        this.#out.set(name, this.#out.get(name)! - 1);
        decided(`${name}: ${reason} (${report})`);
        if (report !== "committed") controller.refused?.();
        this.#dueAt.set(name, Math.min(this.#dueAt.get(name)!, clock.now() + controller.debounceMs));
        changed();
      });
    }
  }
}
