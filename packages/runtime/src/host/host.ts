import {
  type Clock,
  type CommitReport,
  type Epoch,
  type HostAction,
  type HostMachine,
  type Local,
  type PrepareContext,
  type Prepared,
  type ReplicaKey,
  type Shard,
  type ShardStats,
} from "@keelson/kernel";
import type { Committer } from "../commits/committer.ts";
import type { ServiceDefinition } from "../service/service.ts";
import { Ending, Slot } from "./slot.ts";

export interface HostPorts {
  readonly clock: Clock;
  readonly committer: Committer;
  /** Something was reported to the machine: step it soon. */
  readonly soon: () => void;
  readonly decided: (action: HostAction & { kind: "decided" }) => void;
  readonly revoke: (session: string) => void;
}

/** Why signals are aborted. Made once: an abort without a reason makes an exception with a stack each time. */
const ENDED = new Error("the tenure has ended, or the replica is no longer wanted here");

/** Commits that may share a batch with others: they are many at once, and a failing one is simply taken out. */
const SHARED: ReadonlySet<string> = new Set([
  "grant",
  "contend",
  "withdraw",
  "hand-over",
  "release",
  "clean",
  "forgive",
  "promote",
]);

/** Carries out what the host machine decides: opens, drains and closes shards, sends commits, and reports what came of it. */
export class Host {
  readonly machine: HostMachine;
  readonly #ports: HostPorts;
  readonly #services: ReadonlyMap<string, ServiceDefinition>;
  readonly #slots = new Map<ReplicaKey, Slot>();
  #abandoned = false;

  constructor(machine: HostMachine, services: ReadonlyMap<string, ServiceDefinition>, ports: HostPorts) {
    this.machine = machine;
    this.#services = services;
    this.#ports = ports;
  }

  slot(key: ReplicaKey): Slot {
    let slot = this.#slots.get(key);
    if (!slot) {
      slot = new Slot();
      this.#slots.set(key, slot);
    }
    return slot;
  }

  /** Lets the machine decide, and acts. */
  step(): void {
    if (this.#abandoned) return;
    for (const action of this.machine.step(this.#ports.clock.now())) this.#act(action);
  }

  /** What the live shards of a service say of themselves. */
  *stats(service: string): Iterable<readonly [ReplicaKey, ShardStats]> {
    for (const { key, id, hold } of this.machine.locals()) {
      if (id.service !== service || hold?.phase !== "live") continue;
      const { shard } = this.slot(key);
      if (!shard) continue;
      try {
        yield [key, shard.stats?.() ?? {}];
      } catch (error) {
        this.#complain(key, "asking for its stats", error);
      }
    }
  }

  /** The process is gone, as far as the fleet is concerned: nothing is reported any more. */
  abandon(): void {
    this.#abandoned = true;
    for (const slot of this.#slots.values()) slot.running.abort();
  }

  #act(action: HostAction): void {
    switch (action.kind) {
      case "commit":
        this.#commit(action);
        return;
      case "prepare":
        this.#prepare(action.replica, action.delayMs);
        return;
      case "cancel":
        this.slot(action.replica).preparing?.abort(ENDED);
        return;
      case "discard":
        this.#discard(action.replica);
        return;
      case "activate":
        this.#activate(action.replica, action.epoch);
        return;
      case "live":
        this.slot(action.replica).parking.wakeAll();
        return;
      case "drain":
        this.#drain(action.replica);
        return;
      case "close":
        this.#close(action.replica);
        return;
      case "promote":
        this.#promote(action.replica, action.epoch);
        return;
      case "demote":
        this.#demote(action.replica);
        return;
      case "revoke":
        this.#ports.revoke(action.session);
        return;
      case "decided":
        this.#ports.decided(action);
        return;
    }
  }

  #commit(action: HostAction & { kind: "commit" }): void {
    const report = (outcome: CommitReport) =>
      this.#report(() =>
        this.machine.committed(
          action.purpose,
          action.replica,
          action.epoch,
          outcome,
          this.#ports.clock.now(),
        ),
      );
    if (SHARED.has(action.purpose)) this.#ports.committer.together(action.commit, report);
    else this.#ports.committer.alone(action.commit, report);
  }

  #prepare(key: ReplicaKey, delayMs: number): void {
    const slot = this.slot(key);
    const abort = new AbortController();
    slot.preparing = abort;
    const { shard, replica } = this.#local(key).id;
    const context: PrepareContext = {
      shard,
      replica,
      signal: abort.signal,
      progress: (fraction) => this.machine.progress(key, fraction),
    };
    this.#ports.clock.after(delayMs, () => {
      const service = this.#service(key);
      const work =
        abort.signal.aborted || !service.prepare
          ? Promise.reject(new Error("cancelled"))
          : attempt(() => service.prepare!(context));
      work.then(
        (prepared) =>
          this.#report(() => {
            slot.prepared = prepared;
            this.machine.prepared(key);
          }),
        (error: unknown) =>
          this.#report(() => this.machine.prepareFailed(key, message(error), this.#ports.clock.now())),
      );
    });
  }

  #discard(key: ReplicaKey): void {
    const slot = this.slot(key);
    const prepared = slot.prepared;
    slot.prepared = undefined;
    slot.parking.wakeAll();
    if (prepared?.close)
      this.#bounded(
        attempt(() => prepared.close!()),
        key,
        "closing what was prepared",
        () => undefined,
      );
  }

  #activate(key: ReplicaKey, epoch: Epoch): void {
    const slot = this.slot(key);
    slot.running = new Ending();
    const running = slot.running;
    let over = false;
    const timer = this.#ports.clock.after(this.machine.terms.activateMs, () => {
      over = true;
      running.abort();
      this.#report(() =>
        this.machine.activateFailed(
          key,
          epoch,
          `did not open within ${this.machine.terms.activateMs} ms`,
          this.#ports.clock.now(),
        ),
      );
    });
    attempt(() => this.#open(key, epoch, running, slot.prepared)).then(
      (shard) => {
        timer.cancel();
        // Too late: the tenure was given up meanwhile.
        if (over)
          this.#bounded(
            attempt(async () => shard.close?.()),
            key,
            "closing a late shard",
            () => undefined,
          );
        else
          this.#report(() => {
            slot.shard = shard;
            this.machine.activated(key, epoch, this.#ports.clock.now());
          });
      },
      (error: unknown) => {
        timer.cancel();
        if (!over)
          this.#report(() =>
            this.machine.activateFailed(key, epoch, message(error), this.#ports.clock.now()),
          );
      },
    );
  }

  #open(key: ReplicaKey, epoch: Epoch, running: Ending, prepared: Prepared | undefined): Promise<Shard> {
    if (prepared) return prepared.activate(epoch);
    const service = this.#service(key);
    if (!service.open) throw new Error("the service has neither open nor prepare");
    const { shard, replica } = this.#local(key).id;
    return service.open({
      shard,
      replica,
      epoch,
      signal: running,
      progress: (fraction) => this.machine.progress(key, fraction),
    });
  }

  #drain(key: ReplicaKey): void {
    const slot = this.slot(key);
    const drainMs = this.machine.terms.drainMs;
    const quiet = new Promise<void>((resolve) => {
      if (slot.inflight === 0) resolve();
      else slot.idle = resolve;
    });
    const flushed = attempt(async () => slot.shard?.drain?.(drainMs));
    const report = once(() => {
      timer.cancel();
      slot.idle = undefined;
      this.#report(() => this.machine.drained(key));
    });
    const timer = this.#ports.clock.after(drainMs, report);
    Promise.all([quiet, flushed]).then(report, (error: unknown) => {
      this.#complain(key, "draining", error);
      report();
    });
  }

  #close(key: ReplicaKey): void {
    const slot = this.slot(key);
    const shard = slot.shard;
    slot.shard = undefined;
    slot.running.abort();
    slot.parking.wakeAll();
    this.#bounded(
      attempt(async () => shard?.close?.()),
      key,
      "closing",
      () => this.#report(() => this.machine.closed(key)),
    );
  }

  #promote(key: ReplicaKey, epoch: Epoch): void {
    const slot = this.slot(key);
    attempt(async () => slot.shard?.promote?.(epoch)).then(
      () =>
        this.#report(() => {
          this.machine.promoted(key, epoch, undefined);
          slot.parking.wakeAll();
        }),
      (error: unknown) => this.#report(() => this.machine.promoted(key, epoch, message(error))),
    );
  }

  #demote(key: ReplicaKey): void {
    const shard = this.slot(key).shard;
    attempt(async () => shard?.demote?.()).catch((error: unknown) => this.#complain(key, "demoting", error));
  }

  /** Waits for a hook of the service, but not for ever. */
  #bounded(work: Promise<unknown>, key: ReplicaKey, what: string, done: () => void): void {
    const finish = once(done);
    const timer = this.#ports.clock.after(this.machine.terms.closeMs, () => {
      this.#complain(
        key,
        what,
        new Error(`took longer than ${this.machine.terms.closeMs} ms; going on without it`),
      );
      finish();
    });
    work
      .catch((error: unknown) => this.#complain(key, what, error))
      .finally(() => {
        timer.cancel();
        finish();
      });
  }

  #complain(key: ReplicaKey, what: string, error: unknown): void {
    this.#ports.decided({
      kind: "decided",
      decision: "failed",
      replica: key,
      epoch: undefined,
      reason: `${what}: ${message(error)}`,
    });
  }

  #report(tell: () => void): void {
    if (this.#abandoned) return;
    tell();
    this.#ports.soon();
  }

  #service(key: ReplicaKey): ServiceDefinition {
    const service = this.#services.get(this.#local(key).id.service);
    if (!service) throw new Error(`no service for ${key}`);
    return service;
  }

  #local(key: ReplicaKey): Local {
    const local = this.machine.local(key);
    if (!local) throw new Error(`unknown replica ${key}`);
    return local;
  }
}

/** Calls a hook of the service so that throwing and rejecting are the same thing. */
function attempt<T>(hook: () => Promise<T>): Promise<T> {
  try {
    return hook();
  } catch (error) {
    return Promise.reject(error instanceof Error ? error : new Error(String(error)));
  }
}

function once(run: () => void): () => void {
  let ran = false;
  return () => {
    if (ran) return;
    ran = true;
    run();
  };
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
