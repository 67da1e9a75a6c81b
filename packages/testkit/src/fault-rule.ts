/**
 * One thing that goes wrong with calls of a port: which calls it strikes, how often, and what it does to them. A rule knows nothing of what the
 * call is; it is given the call as a function and decides when, whether and how often that runs.
 */
import type { Clock } from "@keelson/kernel";

export type Fault =
  /** Waits for `release`: before the call reaches the store, or with the answer on its way back. */
  | { readonly kind: "hold"; readonly side: FaultSide }
  | { readonly kind: "delay"; readonly side: FaultSide; readonly ms: number }
  /** Fails without reaching the store, or after the store has carried it out. */
  | { readonly kind: "fail"; readonly side: FaultSide; readonly error?: Error }
  /** Carries it out more than once, as a network does that sends again; the answer is the last one. */
  | { readonly kind: "repeat"; readonly times: number };

export type FaultSide = "before" | "after";

export interface FaultRuleOptions<Call extends string, Subject> {
  readonly calls: readonly Call[];
  readonly fault: Fault;
  /** How many calls it strikes; all, unless told. */
  readonly times?: number;
  /** Which of those calls; all, unless told. */
  readonly when?: (subject: Subject) => boolean;
}

export class FaultRule<Call extends string, Subject> {
  readonly #options: FaultRuleOptions<Call, Subject>;
  readonly #clock: Clock;
  #gate = newGate();
  #removed = false;
  /** Calls it has struck. */
  hits = 0;
  /** Calls that wait for `release` now. */
  held = 0;

  constructor(options: FaultRuleOptions<Call, Subject>, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Whether it strikes this call; if so the call counts as struck, and must be carried out here. */
  claims(call: Call, subject: Subject): boolean {
    const { calls, times = Infinity, when = () => true } = this.#options;
    if (this.#removed || this.hits >= times || !calls.includes(call) || !when(subject)) return false;
    this.hits += 1;
    return true;
  }

  /** Lets go what is held. Calls that come later are held again. */
  release(): void {
    const gate = this.#gate;
    this.#gate = newGate();
    gate.open();
  }

  /** Strikes no more, and lets go what is held. */
  remove(): void {
    this.#removed = true;
    this.release();
  }

  /** Runs the call as the fault says. `lost` is the failure to use where the fault names none. */
  async carryOut<T>(apply: () => Promise<T>, lost: (side: FaultSide) => Error): Promise<T> {
    const { fault } = this.#options;
    if (fault.kind === "repeat") {
      for (let n = 1; n < fault.times; n += 1) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other, as they arrive.
        await apply();
      }
      return apply();
    }
    if (fault.side === "before") await this.#strike(fault, lost);
    const answer = await apply();
    if (fault.side === "after") await this.#strike(fault, lost);
    return answer;
  }

  async #strike(fault: Exclude<Fault, { kind: "repeat" }>, lost: (side: FaultSide) => Error): Promise<void> {
    switch (fault.kind) {
      case "fail":
        throw fault.error ?? lost(fault.side);
      case "delay":
        return new Promise((resolve) => {
          this.#clock.after(fault.ms, resolve);
        });
      case "hold":
        this.held += 1;
        await this.#gate.opened;
        this.held -= 1;
    }
  }
}

interface Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function newGate(): Gate {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
