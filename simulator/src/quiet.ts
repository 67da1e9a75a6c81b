import type { Emit } from "./events.ts";
import type { FaultInjector } from "./faults/injector.ts";
import type { PlannedOperations } from "./operations.ts";
import type { Supervisor } from "./supervisor.ts";
import type { Scheduler } from "./time/scheduler.ts";

export interface QuietTerms {
  /** How long things go wrong between two quiet times. */
  readonly everyMs: number;
  /** How long everything must have been well before the fleet counts as settled. */
  readonly forMs: number;
}

export interface QuietPorts {
  readonly scheduler: Scheduler;
  readonly injector: FaultInjector;
  readonly operations: PlannedOperations;
  readonly supervisor: Supervisor;
  readonly emit: Emit;
  readonly report: (subject: string, text: string) => void;
}

/** Leaves the fleet in peace now and then, so that checkers can see whether it settles; and notices when it does not even get that far. */
export class Quiet {
  readonly #terms: QuietTerms;
  readonly #ports: QuietPorts;
  #calmSince: number | undefined;
  #began = 0;

  constructor(terms: QuietTerms, ports: QuietPorts) {
    this.#terms = terms;
    this.#ports = ports;
  }

  /** The first trouble comes after `warmUpMs`. */
  start(warmUpMs: number): void {
    this.#ports.scheduler.after(warmUpMs, () => this.#trouble());
  }

  #trouble(): void {
    const { scheduler, injector, operations } = this.#ports;
    injector.resume();
    operations.resume();
    scheduler.after(this.#terms.everyMs, () => this.#peace());
  }

  #peace(): void {
    const { injector, operations, supervisor, scheduler } = this.#ports;
    operations.stop();
    injector.stop();
    supervisor.startAll();
    this.#calmSince = undefined;
    this.#began = scheduler.now;
    this.#wait();
  }

  #wait(): void {
    const { scheduler, injector, supervisor, emit, report } = this.#ports;
    const { now } = scheduler;
    const calm = injector.active === 0 && supervisor.complete;
    if (!calm) this.#calmSince = undefined;
    else this.#calmSince ??= now;
    if (this.#calmSince !== undefined && now - this.#calmSince >= this.#terms.forMs) {
      emit({ kind: "settled" });
      return this.#trouble();
    }
    if (now - this.#began > patienceTimes * this.#terms.forMs) {
      report("fleet", `it does not come to rest: ${supervisor.describeIncomplete()}`);
      return this.#trouble();
    }
    scheduler.after(250, () => this.#wait());
  }
}

/** A drain may take its whole time before a node is started again and the fleet can begin to settle. */
const patienceTimes = 4;
